import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const LazyPalette = lazy(() => import('./palette.tsx'))
export const LazyShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'))

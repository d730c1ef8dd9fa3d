import { lazy } from 'react'
import { preloadable } from '../ui/index.ts'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const FolderPage = preloadable(() => import('./folder-page.tsx'))
export const VisitedFolderPage = preloadable(() => import('./visited-folder.tsx'))
export const SmartLinkPage = lazy(() => import('./smart-link-page.tsx'))
export const LazyFolderPicker = lazy(() =>
  import('./folder-picker.tsx').then(({ FolderPicker }) => ({ default: FolderPicker })),
)
export const LazyDetails = lazy(() => import('./details.tsx').then(({ Details }) => ({ default: Details })))
export const LazyOpenedDialog = lazy(() =>
  import('./dialogs.tsx').then(({ OpenedDialog }) => ({ default: OpenedDialog })),
)

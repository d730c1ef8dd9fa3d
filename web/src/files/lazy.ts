import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const FolderPage = lazy(() => import('./folder-page.tsx'))
export const SmartLinkPage = lazy(() => import('./smart-link-page.tsx'))
export const LazyFolderPicker = lazy(() =>
  import('./folder-picker.tsx').then(({ FolderPicker }) => ({ default: FolderPicker })),
)

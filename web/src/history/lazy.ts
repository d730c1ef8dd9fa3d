import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const HistoryPage = lazy(() => import('./history-page.tsx'))
export const MergedTrashPage = lazy(() => import('./merged-trash-page.tsx'))
export const TrashPage = lazy(() => import('./trash-page.tsx'))

import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const SharePage = lazy(() => import('./share-page.tsx'))
export const OfflineSection = lazy(() => import('./offline-section.tsx'))

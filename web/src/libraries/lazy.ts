import { lazy } from 'react'
import { preloadable } from '../ui/index.ts'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const HomePage = lazy(() => import('./home-page.tsx'))
export const LibrariesPage = preloadable(() => import('./libraries-page.tsx'))
export const StarredPage = lazy(() => import('./starred-page.tsx'))
export const DeletedPage = lazy(() => import('./deleted-page.tsx'))
export const LazyLibraryDialogs = lazy(() => import('./library-dialogs.tsx'))
export const LazyNewLibraryDialog = lazy(() => import('./new-library-dialog.tsx'))
export const RecentPage = lazy(() => import('./recent-page.tsx'))
export const StoragePage = lazy(() => import('./storage-page.tsx'))
export const SharedPage = lazy(() => import('./shared-page.tsx'))

import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const LinksPage = lazy(() => import('./links-page.tsx'))
export const WhoHasAccess = lazy(() => import('./who-has-access.tsx'))
export const GroupsPage = lazy(() => import('./groups-page.tsx'))

import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const AccountPage = lazy(() => import('./account-page.tsx'))
export const DevicePage = lazy(() => import('./device-page.tsx'))

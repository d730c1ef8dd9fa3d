import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const SecondStep = lazy(() => import('./second-step.tsx'))
export const ForgotPassword = lazy(() => import('./forgot-password.tsx'))
export const SetPassword = lazy(() => import('./set-password.tsx'))
export const ClientLogin = lazy(() => import('./client-login.tsx'))
export const ConfirmAddress = lazy(() => import('./confirm-address.tsx'))

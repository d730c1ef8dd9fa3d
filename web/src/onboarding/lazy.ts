import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const Onboarding = lazy(() => import('./onboarding.tsx'))
export const TestMail = lazy(() => import('./test-mail.tsx'))
export const SetupSection = lazy(() => import('./setup-section.tsx'))

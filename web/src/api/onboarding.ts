import { useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { api } from './http.ts'

/** What a user can dismiss: the card of a new user, the setup checklist, and single steps of the checklist. */
export type OnboardingItem =
  | 'welcome'
  | 'setup'
  | `setup-${'address' | 'backup' | 'mail' | 'users' | 'password'}`

const path = 'api/v2.1/onboarding/'

export function useOnboarding() {
  return useQuery({
    queryKey: ['account', 'onboarding'],
    queryFn: ({ signal }) => api.get(path, undefined, signal),
  })
}

export const dismissOnboarding = (item: OnboardingItem, dismissed: boolean) =>
  api.put(path, { form: { item, dismissed } })

/** The first steps of an administrator, as the server sees them. */
export type Setup = Records['ServerSetup']

export function useSetup() {
  return useQuery({
    queryKey: ['admin', 'setup'],
    queryFn: ({ signal }) => api.get('api/v2.1/admin/setup/', undefined, signal),
  })
}

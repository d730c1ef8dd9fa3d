import { flag, oneOf } from '../../http/index.ts'
import { type Account, onboardingItems } from '../../identity/index.ts'
import { type ApiServices, route } from '../services.ts'

const path = '/api/v2.1/onboarding/'

export const onboardingRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary:
      'Returns what the caller dismissed of the introduction in the web app, and whether the password was assigned by somebody else.',
    handle: ({ user }, services) => onboardingToWire(user, services),
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Dismisses an item of the introduction, or shows it again.',
    body: { item: oneOf(onboardingItems, 'item invalid.'), dismissed: flag({ default: true }) },
    async handle({ user, body }, services) {
      await services.onboarding.setDismissed(user, body.item, body.dismissed)
      return onboardingToWire(user, services)
    },
  }),
]

async function onboardingToWire(user: Account, { onboarding }: ApiServices) {
  const { dismissed, passwordAssigned } = await onboarding.state(user)
  return { dismissed, password_assigned: passwordAssigned }
}

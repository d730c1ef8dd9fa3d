import { json } from '../../../base/schemas/index.ts'
import { type Account, Onboarding } from '../../../people/accounts/index.ts'
import { flag, oneOf } from '../../../platform/input/index.ts'
import { onboarding as onboardingSchema } from './accounts.schema.ts'
import { type AccountServices, accountRoute as route } from './services.ts'

const path = '/api/v2.1/onboarding/'

export const onboardingRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary:
      'Returns what the caller dismissed of the introduction in the web app, and whether the password was assigned by somebody else.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({ 200: json(onboardingSchema, 'The state.') }),
    handle: ({ user }, services) => onboardingToWire(user, services),
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Dismisses an item of the introduction, or shows it again.',
    compatibility: 'addition',
    callers: 'every account',
    sample: { form: { item: 'welcome' } },
    body: { item: oneOf(Onboarding.items, 'item invalid.'), dismissed: flag({ default: true }) },
    responses: () => ({ 200: json(onboardingSchema, 'The changed state.') }),
    async handle({ user, body }, services) {
      await services.onboarding.setDismissed(user, body.item, body.dismissed)
      return onboardingToWire(user, services)
    },
  }),
]

async function onboardingToWire(user: Account, { onboarding }: AccountServices) {
  const { dismissed, passwordAssigned } = await onboarding.state(user)
  return { dismissed, password_assigned: passwordAssigned }
}

import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { type AuditedCall } from '../common/audit.ts'
import { type Parties, partiesOf, personIn } from '../common/parties.ts'
import { route, type ShareServices } from './services.ts'
import { getRecipient, type NamedRecipient } from './share-input.ts'
import { heldFrom as heldFromDescribed, heldShares } from './shares.schema.ts'

const path = '/api/v2.1/held-shares/'
const which = { from: rawText(), group_id: rawText() }

/** What others share with the caller for the first time, if the server holds it (`CARREL_SHARE_ACCEPTANCE`). */
export const heldShareRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    scope: 'none',
    summary: 'Lists the shares and group memberships that wait for the caller to accept them.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({ 200: json(heldShares, 'What waits for acceptance.') }),
    async handle({ user, request }, services) {
      const shares = await services.shares.held(user)
      const groups = await services.groups.held(user)
      const parties = await partiesOf(
        services,
        shares,
        groups.map(({ heldBy }) => heldBy),
      )
      const giver = (key: number) => giverFields(parties, key, request.baseUrl)
      return {
        held_shares: shares.map(({ info, permission, isAdmin, grantedBy }) => ({
          name: info.name,
          type: info.sub === undefined ? 'library' : info.sub.isFile ? 'file' : 'folder',
          permission,
          is_admin: isAdmin,
          ...giver(grantedBy),
        })),
        held_groups: groups.map(({ group, heldBy }) => ({
          group_id: group.key,
          group_name: group.name,
          ...giver(heldBy),
        })),
      }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'none',
    summary: 'Accepts all that an account has shared with the caller, or the membership in a group.',
    compatibility: 'addition',
    body: which,
    responses: () => ({ 200: json(kinds.successFlag, 'It was accepted.') }),
    details: () => ({ parameters: heldFromDescribed }),
    async handle({ user, body, request }, services) {
      await settle(services, { user, request }, await heldFrom(services, body), 'accept')
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    scope: 'none',
    summary:
      'Declines what an account has shared with the caller and the caller has not accepted, or the membership in a group.',
    compatibility: 'addition',
    query: which,
    responses: () => ({ 200: json(kinds.successFlag, 'It was declined.') }),
    details: () => ({ parameters: heldFromDescribed }),
    async handle({ user, query, request }, services) {
      await settle(services, { user, request }, await heldFrom(services, query), 'decline')
      return { success: true }
    },
  }),
]

/** The account that shared, or the group. Rejects a request without either. Throws group-not-found. */
function heldFrom(
  services: ShareServices,
  sent: { from: string | undefined; group_id: string | undefined },
): Promise<NamedRecipient> {
  return sent.group_id === undefined
    ? getRecipient(services, 'user', sent.from)
    : getRecipient(services, 'group', sent.group_id)
}

async function settle(
  services: ShareServices,
  call: AuditedCall,
  held: NamedRecipient,
  decision: 'accept' | 'decline',
): Promise<void> {
  const { user, request } = call
  const by = auditActor(user, request)
  const isSettled =
    held.to === 'user'
      ? await services.shares[decision](user, held.account, by)
      : await services.groups[decision](held.group, user, by)
  if (!isSettled) throw errorMessage(404, 'Share not found.')
}

function giverFields(parties: Parties, key: number, baseUrl: string) {
  const person = personIn(parties, key)
  return {
    from_email: person.email,
    from_name: person.name,
    from_contact_email: person.contactEmail,
    from_avatar_url: avatarUrl(baseUrl, person),
  }
}

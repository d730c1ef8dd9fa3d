import { DomainError, type Fault, fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { type Account, auditActor } from '../../../people/accounts/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { list, oneOf } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Recipient } from '../../../sharing/access/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import { apiFaults } from '../faults.ts'
import { route, type ShareServices } from './services.ts'
import { findRecipient, sentRecipient, sharePermission } from './share-input.ts'
import { batchParty, targets } from './shares.schema.ts'

const MAX_PER_REQUEST = 1000

export const libraryBatchRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/batch/',
    auth: 'user',
    summary:
      'Shares libraries with users or groups, or ends such shares, and reports the libraries for which it failed. Nothing is shared if a user or group is unknown.',
    compatibility: 'supported',
    body: {
      operation: oneOf(['share', 'unshare']),
      repo_id: list({ nonEmpty: true }),
      share_type: oneOf(['user', 'group']),
      username: list(),
      group_id: list(),
      permission: sharePermission('rw'),
    },
    responses: () => ({
      200: json(
        kinds.record('SharedLibraries', {
          failed: kinds.array(
            kinds.object({
              ...batchParty,
              group_id: kinds.optional(
                kinds.anyOf([kinds.integer(), kinds.text()], {
                  description: 'The id of the group, or the submitted value if there is no such group.',
                }),
              ),
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
          success: kinds.array(
            kinds.object({
              ...batchParty,
              group_id: kinds.optional(kinds.integer('The id of the group.')),
              permission: kinds.oneOfWords(['r', 'rw', 'admin']),
            }),
          ),
        }),
        'The result for each library and recipient.',
      ),
    }),
    details: () => ({
      parameters: {
        repo_id: { description: 'The ids of the libraries.' },
        ...targets,
      },
    }),
    async handle({ user, body, request }, services) {
      const isUser = body.share_type === 'user'
      const names = isUser ? body.username : body.group_id
      if (names.length === 0) throw errorMessage(400, isUser ? 'username invalid.' : 'group_id invalid.')
      if (body.repo_id.length * names.length > MAX_PER_REQUEST) throw errorMessage(400, 'repo_id invalid.')
      const recipients = new Map<string, Recipient | string>()
      for (const name of names) {
        const recipient =
          body.operation === 'share'
            ? requireRecipient(services, user, body.share_type, name)
            : findRecipient(services, body.share_type, name)
        recipients.set(name, await recipient)
      }
      const failed: object[] = []
      const success: object[] = []
      for (const id of body.repo_id) {
        for (const [name, recipient] of recipients) {
          const shown = shownOf(id, name, recipient, isUser)
          const problem =
            typeof recipient === 'string'
              ? recipient
              : await attempt(services, { user, request }, id, recipient, body)
          if (problem === undefined) success.push({ ...shown, permission: body.permission })
          else failed.push({ ...shown, error_msg: problem })
        }
      }
      return { failed, success }
    },
  }),
]

/** One that is unknown refuses the whole request, before anything is shared. Throws permission-denied to those who are not in the group. */
async function requireRecipient(
  services: ShareServices,
  user: Account,
  type: 'user' | 'group',
  sent: string,
): Promise<Recipient> {
  const recipient = await sentRecipient(services, type, sent)
  if (recipient === undefined)
    throw errorMessage(404, `${type === 'user' ? 'User' : 'Group'} ${sent} not found.`)
  if (recipient.to === 'group') await services.groups.get(user, recipient.group.key)
  return recipient
}

interface ShareChange {
  readonly operation: 'share' | 'unshare'
  readonly permission: 'r' | 'rw' | 'admin'
}

/** The error message; undefined on success. */
async function attempt(
  services: ShareServices,
  call: AuditedCall,
  sentId: string,
  recipient: Recipient,
  { operation, permission }: ShareChange,
): Promise<string | undefined> {
  try {
    const id = parseLibraryId(sentId) ?? fail({ code: 'library-not-found', id: sentId })
    const library = await services.access.openAdministered(call.user, id)
    const options = { path: ROOT, recipient, permission }
    const by = auditActor(call.user, call.request)
    if (operation === 'share') await services.shares.share(library, call.user, options, by)
    else await services.shares.revoke(library, options, by)
    return undefined
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The entry under a fault's code accepts only that fault. The compiler cannot infer this through a union.
    const word = apiFaults[error.fault.code] as (fault: Fault) => FaultResponse
    return word(error.fault)[1]
  }
}

/** The name of a recipient that was not found is shown as it was sent. */
function shownOf(repo_id: string, name: string, recipient: Recipient | string, isUser: boolean) {
  if (typeof recipient === 'string') return { repo_id, [isUser ? 'username' : 'group_id']: name }
  if (recipient.to === 'user') return { repo_id, username: recipient.account.email }
  return recipient.to === 'group' ? { repo_id, group_id: recipient.group.key } : { repo_id }
}

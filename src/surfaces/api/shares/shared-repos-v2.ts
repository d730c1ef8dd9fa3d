import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor, parseEmail } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Recipient } from '../../../sharing/access/index.ts'
import { deniedMessage, withFaultMessages } from '../common/fault-messages.ts'
import { partiesOf, personIn } from '../common/parties.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route, type ShareServices } from './services.ts'
import { shareOrChange } from './share-actions.ts'
import { sentRecipient, sharePermission } from './share-input.ts'
import { shareRecord } from './share-wire.ts'
import { olderTarget, permission, shareRecord as shareRecordSchema } from './shares.schema.ts'

const params = { repo_id: libraryIdParam }
const target = { share_type: rawText(), user: rawText(), users: rawText(), group_id: rawText() }

export const sharedRepoRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/shared-repos/',
    auth: 'user',
    summary: 'Lists the libraries the caller shares with others, for older clients.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(kinds.array(shareRecordSchema), 'What the caller shared.') }),
    async handle({ user }, services) {
      const shared = await services.shares.sharedOutBy(user)
      const parties = await partiesOf(services, shared)
      const inOrder = (['user', 'group', 'everyone'] as const).flatMap((grantee) =>
        shared.filter((share) => share.grantee === grantee),
      )
      return inOrder.map((share) => {
        const receiver = share.grantee === 'user' ? personIn(parties, share.granteeKey).email : ''
        return shareRecord(share, receiver)
      })
    },
  }),
  route({
    method: 'PUT',
    path: '/api2/shared-repos/:repo_id/',
    auth: 'user',
    summary: 'Shares a library with users, groups or everyone, for older clients; all or nothing.',
    compatibility: 'supported',
    params,
    query: { ...target, permission: sharePermission() },
    body: target,
    responses: () => ({ 200: json(kinds.successWord, 'The library is shared.') }),
    details: () => ({ parameters: { ...olderTarget, permission } }),
    async handle({ user, params, query, body, request }, services) {
      const options = { ...body, ...sentOf(query) }
      const library = (await services.access.openOwned(user, params.repo_id)).administered()
      const recipients = await recipientsOf(services, options)
      for (const recipient of recipients.map((one) => one ?? refuseUnknown(options))) {
        const options = { path: ROOT, recipient, permission: query.permission }
        await shareOrChange(services, { user, request }, library, options)
      }
      return 'success'
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/shared-repos/:repo_id/',
    auth: 'user',
    summary: 'Ends a share of a library, for older clients.',
    compatibility: 'supported',
    params,
    query: target,
    responses: () => ({ 200: json(kinds.successWord, 'The share was ended.') }),
    details: () => ({ parameters: olderTarget }),
    async handle({ user, params, query, request }, services) {
      if (!query.share_type) throw errorMessage(400, 'Share type is required.')
      const words = deniedMessage('You do not have permission to unshare library.')
      const library = await withFaultMessages(words, () => services.access.openOwned(user, params.repo_id))
      for (const recipient of await recipientsOf(services, query)) {
        if (recipient === undefined) continue
        await services.shares.revoke(
          library.administered(),
          { path: ROOT, recipient },
          auditActor(user, request),
        )
      }
      return 'success'
    },
  }),
]

type Target = { readonly [K in keyof typeof target]: string | undefined }

function sentOf(query: Target): Partial<Target> {
  const { share_type, user, users, group_id } = query
  return Object.fromEntries(
    Object.entries({ share_type, user, users, group_id }).filter(([, value]) => value !== undefined),
  )
}

/** Undefined for each that does not exist. */
async function recipientsOf(services: ShareServices, sent: Target): Promise<(Recipient | undefined)[]> {
  if (sent.share_type === 'public') return [{ to: 'everyone' }]
  if (sent.share_type === 'group') {
    const ids = words(sent.group_id)
    if (ids.length === 0) throw errorMessage(400, 'Group ID must be integer')
    return Promise.all(ids.map((id) => sentRecipient(services, 'group', id)))
  }
  if (sent.share_type !== 'personal')
    throw errorMessage(400, 'Share type can only be personal or group or public.')
  const emails = words(sent.user || sent.users)
  if (emails.length === 0)
    throw errorMessage(400, 'User or users (comma separated are mandatory) are not provided')
  if (!emails.every((email) => parseEmail(email) !== undefined)) {
    throw errorMessage(400, 'Some users are not valid, sharing rolled back')
  }
  return Promise.all(emails.map((email) => sentRecipient(services, 'user', email)))
}

function refuseUnknown({ share_type: type }: Target): never {
  if (type === 'group') throw errorMessage(404, 'Group not found')
  throw errorMessage(400, 'Some users are not existent, sharing rolled back')
}

function words(sent: string | undefined): string[] {
  return (sent ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

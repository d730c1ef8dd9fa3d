import { fail } from '../../../base/errors.ts'
import { baseName, ROOT, withSlash } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor, isAdmin, parseEmail, unknownPerson } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Recipient } from '../../../sharing/access/index.ts'
import { partiesOf } from '../common/parties.ts'
import { libraryIdParam } from '../common/readers.ts'
import { modifierFields } from '../libraries/library-wire.ts'
import { route, type ShareServices } from './services.ts'
import { shareOrChange } from './share-actions.ts'
import { parseGroupId, sentRecipient, sharePermission } from './share-input.ts'
import { expiryFields, recipientFields, shareTypes } from './share-wire.ts'
import { done, sharedFolder, sharedLibrary } from './shares.schema.ts'

const params = { repo_id: libraryIdParam }
const path = '/api/v2.1/shared-repos/:repo_id/'
const target = { share_type: rawText(), user: rawText(), group_id: rawText() }

export const sharedRepoRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/shared-repos/',
    auth: 'user',
    summary: 'Lists the libraries the caller shares with others, by name.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.array(sharedLibrary), 'The libraries, by name.'),
    }),
    async handle({ user }, services) {
      const shared = (await services.shares.sharedOutBy(user)).filter(({ info }) => info.sub === undefined)
      const parties = await partiesOf(services, shared)
      const people = await services.directory.people(shared.map(({ info }) => info.modifier))
      return shared.sort(byName).map((share) => ({
        repo_id: share.info.id,
        repo_name: share.info.name,
        encrypted: share.info.encryption !== undefined,
        share_type: shareTypes[share.grantee],
        share_permission: share.permission,
        share_permission_name: '',
        ...modifierFields(people.get(share.info.modifier) ?? unknownPerson(share.info.modifier), share.info),
        ...recipientFields(share, parties),
        is_admin: share.isAdmin,
        ...expiryFields(share, services.now()),
      }))
    },
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Changes the permission of a share of a library, or shares it with everyone.',
    compatibility: { result: 'different', note: 'A share that does not exist is 404.' },
    params,
    body: { permission: sharePermission(undefined), ...target },
    responses: () => done('The share was changed.'),
    async handle({ user, params, body, request }, services) {
      const readType = checkedTarget(body)
      const library = (await services.access.openOwned(user, params.repo_id)).administered()
      const recipient = (await recipientOf(services, readType, body)) ?? refuseUnknown(readType, body)
      const options = { path: ROOT, recipient, permission: body.permission }
      if (recipient.to === 'everyone') {
        await shareOrChange(services, { user, request }, library, options)
        return { success: true }
      }
      const changed = await services.shares.change(library, options, auditActor(user, request))
      if (!changed) throw errorMessage(404, 'Share not found.')
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: 'Ends a share of a library.',
    compatibility: 'supported',
    params,
    query: target,
    responses: () => done('The share was ended.'),
    async handle({ user, params, query, request }, services) {
      const type = checkedTarget(query)
      const library = isAdmin(user)
        ? await services.access.openForServer(user, params.repo_id)
        : (await services.access.openOwned(user, params.repo_id)).administered()
      const recipient = await recipientOf(services, type, query)
      if (recipient === undefined) return { success: true }
      await services.shares.revoke(library, { path: ROOT, recipient }, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/shared-folders/',
    auth: 'user',
    summary: 'Lists the folders the caller shares with others.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.array(sharedFolder), 'The folders, by name.'),
    }),
    async handle({ user }, services) {
      const shared = (await services.shares.sharedOutBy(user)).filter(({ info }) => info.sub !== undefined)
      const parties = await partiesOf(services, shared)
      return shared.sort(byName).map((share) => ({
        repo_id: share.info.sub?.origin.id,
        repo_name: share.info.sub?.origin.name,
        path: withSlash(share.info.sub?.path ?? ROOT),
        folder_name: baseName(share.info.sub?.path ?? ROOT),
        share_type: shareTypes[share.grantee],
        share_permission: share.permission,
        share_permission_name: '',
        ...recipientFields(share, parties),
        is_admin: share.isAdmin,
        ...expiryFields(share, services.now()),
      }))
    },
  }),
]

type Sent = { readonly [K in keyof typeof target]: string | undefined }
type ShareType = 'personal' | 'group' | 'public'

/** Checks that need no lookup of the library. */
function checkedTarget(sent: Sent): ShareType {
  const type = sent.share_type
  if (!type) throw errorMessage(400, 'share_type invalid.')
  if (type !== 'personal' && type !== 'group' && type !== 'public') {
    throw errorMessage(400, "share_type can only be 'personal' or 'group' or 'public'.")
  }
  if (type === 'personal' && parseEmail(sent.user ?? '') === undefined)
    throw errorMessage(400, 'user invalid.')
  if (type === 'group' && !sent.group_id) throw errorMessage(400, 'group_id invalid.')
  if (type === 'group' && parseGroupId(sent.group_id) === undefined) {
    throw errorMessage(400, 'group_id must be integer.')
  }
  return type
}

/** Undefined for an account or group that does not exist. */
async function recipientOf(
  services: ShareServices,
  type: ShareType,
  sent: Sent,
): Promise<Recipient | undefined> {
  if (type === 'public') return { to: 'everyone' }
  return type === 'personal'
    ? sentRecipient(services, 'user', sent.user)
    : sentRecipient(services, 'group', sent.group_id)
}

function refuseUnknown(type: ShareType, { user = '', group_id }: Sent): never {
  if (type === 'personal') return fail({ code: 'account-not-found', email: user })
  return fail({ code: 'group-not-found', id: Number(group_id) })
}

function byName(one: { info: { name: string } }, other: { info: { name: string } }): number {
  return one.info.name.localeCompare(other.info.name, 'en')
}

import { DomainError, fail } from '../../../base/errors.ts'
import { type LibraryPath, ROOT } from '../../../base/paths/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { type Account, auditActor, roleAllows } from '../../../people/accounts/index.ts'
import type { FaultResponses } from '../../../platform/http/index.ts'
import { accepting, list, type Reader, rawText } from '../../../platform/input/index.ts'
import { detail, errorMessage } from '../../../platform/responses/index.ts'
import type { Recipient, SharePermission } from '../../../sharing/access/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import { partiesOf } from '../common/parties.ts'
import { libraryIdParam, type SentPath, sentPathOrRoot } from '../common/readers.ts'
import { fileAt, folderAt, folderPathText } from '../common/resolve-path.ts'
import { apiFaults } from '../faults.ts'
import { route, type ShareServices } from './services.ts'
import {
  findRecipient,
  getRecipient,
  readShareExpiry,
  sentRecipient,
  shareExpiry,
  sharePermission,
} from './share-input.ts'
import { sharedItem } from './share-wire.ts'
import {
  done,
  oneTarget,
  shared as sharedDescribed,
  sharedItems as sharedItemsDescribed,
  targets,
} from './shares.schema.ts'

const params = { repo_id: libraryIdParam }

type ShareType = 'user' | 'group'

const shareType: Reader<ShareType> = accepting(
  { type: 'string', enum: ['user', 'group'], required: true },
  (fields, name) => {
    const sent = fields.text(name)?.toLowerCase()
    if (sent === 'user' || sent === 'group') return sent
    throw errorMessage(400, `${name} invalid.`)
  },
)

/** The requested recipient types; both by default. */
const shareTypes: Reader<ReadonlySet<string>> = accepting(
  { type: 'string', default: 'user,group', description: '`user`, `group`, or both, separated by a comma.' },
  (fields, name) => {
    const sent = (fields.text(name) || 'user,group').split(',').map((word) => word.trim())
    if (!sent.every((word) => word === 'user' || word === 'group')) {
      throw errorMessage(400, `${name} invalid.`)
    }
    return new Set(sent)
  },
)

const one = { p: sentPathOrRoot, share_type: shareType, username: rawText(), group_id: rawText() }

const faults: FaultResponses = { 'encrypted-mismatch': () => [400, 'Folder invalid.'] }

/** What is shared: a library or a folder, or a file. */
interface Shared {
  readonly path: string
  readonly what: string
  readonly isFile: boolean
}

function listing({ path, what, isFile }: Shared) {
  return route({
    method: 'GET',
    path,
    auth: 'user',
    scope: 'none',
    summary: `Lists the users and groups ${what} is shared with.`,
    compatibility: isFile ? 'addition' : 'supported',
    params,
    query: { p: sentPathOrRoot, share_type: shareTypes },
    responses: () => sharedItemsDescribed,
    async handle({ user, params, query, request }, services) {
      const library = await openToRead(services, user, params.repo_id)
      const shares = await services.shares.on(library, await itemAt(library, query.p, isFile))
      const wanted = shares.filter(({ grantee }) => query.share_type.has(grantee))
      const parties = await partiesOf(services, wanted)
      const now = services.now()
      return wanted.flatMap((share) => sharedItem(share, parties, request.baseUrl, now) ?? [])
    },
  })
}

function sharing({ path, what, isFile }: Shared) {
  return route({
    method: 'PUT',
    path,
    auth: 'user',
    scope: 'none',
    summary: `Shares ${what} with users or groups.`,
    compatibility: isFile ? 'addition' : 'supported',
    params,
    query: { p: sentPathOrRoot },
    body: {
      share_type: shareType,
      username: list(),
      group_id: list(),
      permission: sharePermission(),
      ...shareExpiry,
    },
    faults,
    responses: () => sharedDescribed,
    details: () => ({ parameters: targets }),
    async handle({ user, params, query, body, request }, services) {
      const { library, item } = await openToShare(services, user, params.repo_id, query.p, isFile)
      const sent = body.share_type === 'user' ? body.username : body.group_id
      refuseAdmin(body.permission, isFile)
      const outcome = await shareWithAll(services, { user, request }, library, item, {
        type: body.share_type,
        isFile,
        sent,
        permission: body.permission,
        expiresAt: readShareExpiry(body, services.now()),
      })
      const shares = (await services.shares.on(library, item)).filter(({ grantee, granteeKey }) =>
        outcome.keys.has(`${grantee} ${granteeKey}`),
      )
      const parties = await partiesOf(services, shares)
      return {
        success: shares.flatMap((share) => sharedItem(share, parties, request.baseUrl, services.now()) ?? []),
        failed: outcome.failed,
        virtual_repo_id: outcome.subId ?? null,
      }
    },
  })
}

function changing({ path, what, isFile }: Shared) {
  return route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'none',
    summary: `Changes the permission and the expiry of a share of ${what}.`,
    compatibility: isFile ? 'addition' : { result: 'different', note: 'A share that does not exist is 404.' },
    params,
    query: one,
    body: { permission: sharePermission(), ...shareExpiry },
    faults,
    responses: () => done('The share was changed.'),
    details: () => ({ parameters: oneTarget }),
    async handle({ user, params, query, body, request }, services) {
      const { library, item: path } = await openToShare(services, user, params.repo_id, query.p, isFile)
      refuseAdmin(body.permission, isFile)
      const expiresAt = readShareExpiry(body, services.now())
      const recipient = await getRecipient(services, query.share_type, nameIn(query))
      const options = { path, recipient, permission: body.permission, expiresAt }
      const by = auditActor(user, request)
      const changed = await services.shares.change(library.administered(), options, by)
      if (!changed) throw errorMessage(404, 'Share not found.')
      return { success: true }
    },
  })
}

function ending({ path, what, isFile }: Shared) {
  return route({
    method: 'DELETE',
    path,
    auth: 'user',
    scope: 'none',
    summary: `Ends a share of ${what}. Idempotent.`,
    compatibility: isFile ? 'addition' : 'supported',
    params,
    query: one,
    faults,
    responses: () => done('The share was ended.'),
    details: () => ({ parameters: oneTarget }),
    async handle({ user, params, query, request }, services) {
      const { library, item: path } = await openToShare(services, user, params.repo_id, query.p, isFile)
      const recipient = await sentRecipient(services, query.share_type, nameIn(query))
      if (recipient === undefined) return { success: true }
      await services.shares.revoke(library.administered(), { path, recipient }, auditActor(user, request))
      return { success: true }
    },
  })
}

const sharedItems = (shared: Shared) => [listing(shared), sharing(shared), changing(shared), ending(shared)]

export const sharedItemRoutes = [
  ...sharedItems({
    path: '/api2/repos/:repo_id/dir/shared_items/',
    what: 'a library or a folder',
    isFile: false,
  }),
  ...sharedItems({ path: '/api/v2.1/repos/:repo_id/file/shared-items/', what: 'a file', isFile: true }),
]

/** Managing the shares of one file is up to those who manage its library. */
function refuseAdmin(permission: SharePermission, isFile: boolean): void {
  if (isFile && permission === 'admin') throw errorMessage(400, 'permission invalid.')
}

/** Throws path-not-found. */
async function itemAt(library: Library, sent: SentPath, isFile: boolean): Promise<LibraryPath> {
  const found = isFile ? await fileAt(library, sent) : await folderAt(library, sent, folderPathText(sent))
  return found.path
}

/** The message for callers without read permission, as existing clients expect it. */
async function openToRead(
  { access }: ShareServices,
  user: Account,
  id: Library['info']['id'],
): Promise<Library> {
  try {
    return await access.open(user, id)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'permission-denied') throw error
    throw detail(403, 'You do not have permission to perform this action.')
  }
}

/** Throws path-not-found; permission-denied for callers who may not manage shares. */
async function openToShare(
  { access }: ShareServices,
  user: Account,
  id: Library['info']['id'],
  sent: SentPath,
  isFile: boolean,
): Promise<{ library: Library; item: LibraryPath }> {
  const library = await access.open(user, id)
  const item = await itemAt(library, sent, isFile)
  library.administered()
  if (!roleAllows(user.role, 'share')) fail({ code: 'role-forbids', action: 'share' })
  if (item !== ROOT && library.info.encryption !== undefined) fail({ code: 'encrypted-mismatch' })
  return { library, item }
}

function nameIn(query: {
  readonly share_type: ShareType
  readonly username: string | undefined
  readonly group_id: string | undefined
}): string | undefined {
  return query.share_type === 'user' ? query.username : query.group_id
}

interface ShareOptions {
  readonly type: ShareType
  readonly isFile: boolean
  readonly sent: readonly string[]
  readonly permission: SharePermission
  readonly expiresAt: number | null | undefined
}

/** Shares with each recipient and reports those that failed. */
async function shareWithAll(
  services: ShareServices,
  call: AuditedCall,
  library: Library,
  path: LibraryPath,
  { type, isFile, sent, permission, expiresAt }: ShareOptions,
): Promise<{ keys: Set<string>; failed: object[]; subId: string | undefined }> {
  const by = auditActor(call.user, call.request)
  const keys = new Set<string>()
  const failed: object[] = []
  let subId: string | undefined
  const found = await Promise.all(sent.map((text) => findRecipient(services, type, text)))
  refuseOwner(library, found)
  for (const [index, recipient] of found.entries()) {
    const shown = sent[index] ?? ''
    const name = typeof recipient !== 'string' && recipient.to === 'group' ? recipient.group.name : shown
    const party = type === 'user' ? { email: shown } : { group_name: name }
    if (typeof recipient === 'string') {
      failed.push({ ...party, error_msg: recipient })
      continue
    }
    try {
      const options = { path, isFile, recipient, permission, expiresAt }
      const sub = await services.shares.share(library.administered(), call.user, options, by)
      subId ??= sub?.id
      keys.add(recipient.to === 'group' ? `group ${recipient.group.key}` : `user ${accountKey(recipient)}`)
    } catch (error) {
      failed.push({ ...party, error_msg: failureText(error) })
    }
  }
  return { keys, failed, subId }
}

/** The owner among the recipients fails the whole request. */
function refuseOwner(library: Library, recipients: readonly (Recipient | string)[]): void {
  const { ownerKey } = library.info
  const isOwner = (one: Recipient | string) => typeof one !== 'string' && accountKey(one) === ownerKey
  if (recipients.some(isOwner)) fail({ code: 'shared-to-owner' })
}

function accountKey(recipient: Recipient): number | undefined {
  return recipient.to === 'user' ? recipient.account.key : undefined
}

function failureText(error: unknown): string {
  if (!(error instanceof DomainError)) throw error
  if (error.fault.code === 'already-shared') return apiFaults['already-shared'](error.fault)[1]
  if (error.fault.code === 'limit-reached') return apiFaults['limit-reached'](error.fault)[1]
  if (error.fault.code === 'permission-denied') return 'Permission denied.'
  throw error
}

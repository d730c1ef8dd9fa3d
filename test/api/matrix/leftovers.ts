import { randomUUID } from 'node:crypto'
import type { Reply } from '../../support/client.ts'
import { SyncClient } from '../../support/sync-client.ts'
import { personalToken } from '../../support/tokens.ts'
import { uploadFile } from '../../support/transfer.ts'
import type { Trial } from './revocation.ts'
import { expectOk } from './stage.ts'

/** Rows of an account in one table, by its key `?`. A credential counts while it is valid. */
const live = 'join account a on a.key = t.account_key and a.epoch = t.epoch'

/** What an account leaves behind: the rows that it made, or that act for it, by the name of their kind. */
const KINDS = {
  session: 'api_token t where t.account_key = ?',
  'personal token': `scoped_token t ${live} where t.account_key = ? and kind = 'personal' and coalesce(expires_at, 9e9) > 1`,
  'library token': `scoped_token t ${live} where t.account_key = ? and kind = 'library'`,
  'sync token': `sync_token t ${live} where t.account_key = ?`,
  ticket: 'ticket t where t.account_key = ? and t.link_key is null',
  'approved program': `device_authorization t where t.account_key = ? and state = 'approved'`,
  'link into the web app': `sign_in_link t ${live} where t.account_key = ?`,
  'WebDAV password': `webdav_secret t ${live} and a.active = 1 where t.account_key = ?`,
  'trusted device': `trusted_device t ${live} where t.account_key = ?`,
  'WebDAV program': 'webdav_client t where t.account_key = ?',
  link: 'link t where t.account_key = ?',
  webhook: `webhook t join account a on a.email = t.creator and a.active = 1
    join library l on l.key = t.library_key and l.owner_key = a.key and l.deleted_at is null where a.key = ?`,
  lock: 'file_lock t where t.account_key = ?',
  star: 'star t where t.account_key = ?',
  'monitored library': 'monitored_library t where t.account_key = ?',
  comment: 'file_comment t where t.author_key = ?',
  'notified of comments': 'file_participant t where t.account_key = ?',
  notification: 'notification t where t.account_key = ?',
  group: 'user_group t where t.owner_key = ?',
  membership: 'group_member t where t.account_key = ?',
  'share given': 'share t where t.granted_by = ?',
  library: 'library t where t.owner_key = ? and t.deleted_at is null',
} as const

/** A kind of rows that an account leaves behind. */
export type Leftover = keyof typeof KINDS

/** The kinds that are left, and why each may be. */
export type Leaves = Readonly<Partial<Record<Leftover, string>>>

/** Tables that refer to an account and are no leftovers, and why. */
export const NO_LEFTOVERS: Readonly<Record<string, string>> = {
  account_token: 'links in mails, which end with the password and give nothing but a new one',
  avatar: 'the picture of the account, deleted with it',
  opened_library: 'keys of encrypted libraries, sealed with the credential that they end with',
  mail: 'what a mail says is decided when it is sent',
  copy_move_task: 'checks the origin of its credential before each commit',
  partial_upload: 'bytes of unfinished uploads, which end with their ticket',
  quota_reservation: 'bytes of uploads in progress, for minutes',
  abandoned_bytes: 'counts bytes of failed tasks',
  totp_secret: 'opens nothing without the password, and is deleted with the account',
  recovery_code: 'opens nothing without the password, and is deleted with the account',
  webdav_name: 'names in the WebDAV root, which open nothing without a right',
}

/** The tables that the kinds count. */
export const countedTables: ReadonlySet<string | undefined> = new Set(
  Object.values(KINDS).map((from) => from.split(' ')[0]),
)

/** Has the holder make everything that it may make. What it may not make is refused. */
export async function makeLeftovers({ cast, stage, holder, admin }: Trial): Promise<void> {
  const { id } = stage
  const path = `/leftover-${randomUUID()}.txt`
  await uploadFile(stage.owner, id, path, 'left')
  const tried = async (reply: Promise<Reply>) => void (await reply)
  const isReader = (await holder.get(`/api2/repos/${id}/`)).status === 200
  await tried(holder.post('/api2/client-login/'))
  await tried(holder.post('/api/v2.1/groups/', { form: { name: `Left ${randomUUID()}` } }))
  const client = { form: { client_id: 'left' } }
  const { user_code } = expectOk(
    await cast.server.anonymous.post('/api/v2.1/device-authorization/', client),
  ).body
  const grant = { form: { user_code, name: 'left', permission: 'r' } }
  expectOk(await holder.post('/api/v2.1/device-authorization/approve/', grant))
  const authorization = `Basic ${Buffer.from(`${holder.email}:a long password`).toString('base64')}`
  const headers = { Authorization: authorization, Depth: '0' }
  await (await fetch(`${holder.url}/dav/`, { method: 'PROPFIND', headers })).arrayBuffer()
  const { accounts, db, secondFactors } = cast.server.running.services
  const account = await accounts.get(holder.email)
  await db.write((tx) => secondFactors.trustIn(tx, account, { address: '192.0.2.1' }))
  if (!isReader || holder === admin) return
  await personalToken(holder, { permission: 'r', repo_id: id })
  await SyncClient.link(holder, id)
  await tried(holder.get(`/api2/repos/${id}/file/`, { p: path }))
  await tried(holder.post('/api/v2.1/share-links/', { json: { repo_id: id, path } }))
  await tried(holder.post(`/api/v2.1/repos/${id}/webhooks/`, { form: { url: 'http://127.0.0.1:9/left' } }))
  await tried(holder.post(`/api/v2.1/repos/${id}/repo-api-tokens/`, { form: { app_name: 'writingApp' } }))
  await tried(holder.put(`/api/v2.1/repos/${id}/file/`, { query: { p: path }, form: { operation: 'lock' } }))
  await tried(holder.post('/api/v2.1/starred-items/', { form: { repo_id: id, path } }))
  await tried(holder.post('/api/v2.1/monitored-repos/', { form: { repo_id: id } }))
  const comment = { query: { p: path }, form: { comment: 'left' } }
  await tried(holder.post(`/api2/repos/${id}/file/comments/`, comment))
}

/** One address may have 20 open requests of programs. */
export async function forgetPrograms({ cast }: Trial): Promise<void> {
  await cast.server.running.services.db.write((tx) => tx.run('delete from device_authorization'))
}

/** The kinds of rows that the account has now. */
export async function leftoversOf({ cast }: Trial, accountKey: number): Promise<Leftover[]> {
  const { db } = cast.server.running.services
  const kinds = Object.keys(KINDS) as Leftover[]
  const counts = await Promise.all(
    kinds.map(async (kind) =>
      db.get<{ count: number }>(`select count(*) as count from ${KINDS[kind]}`, accountKey),
    ),
  )
  return kinds.filter((_, index) => (counts[index]?.count ?? 0) > 0)
}

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Client, type Reply } from '../../support/client.ts'
import { createEncrypted } from '../../support/encrypted.ts'
import type { TestServer } from '../../support/server.ts'
import { SyncClient } from '../../support/sync-client.ts'
import { uploadFile } from '../../support/transfer.ts'
import { buildZip } from '../../support/zip-builder.ts'
import { makeFolder, makeGroup, shareWith, shareWithGroup } from '../sharing-support.ts'

/** Names that no call sends: a caller that receives one has learned of the library. */
export const CANARIES = ['Kolibri', 'kingfisher']
export const LINK_PASSWORD = 'open sesame now'

export const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const ACCOUNTS = [
  'stranger',
  'folderReader',
  'reader',
  'groupMember',
  'writer',
  'manager',
  'owner',
  'deactivated',
  'leaver',
] as const

export type CallerName =
  | (typeof ACCOUNTS)[number]
  | 'anonymous'
  | 'administrator'
  | 'revoked'
  | 'readingToken'
  | 'elsewhereToken'

/** The accounts, which are reused by all stages. */
export class Cast {
  readonly server: TestServer
  readonly callers: Readonly<Record<CallerName, Client>>
  /** A group of the owner that every stage is shared with for reading. */
  readonly group: number
  /** A library of the stranger. */
  readonly foreign: string

  private constructor(
    server: TestServer,
    callers: Readonly<Record<CallerName, Client>>,
    group: number,
    foreign: string,
  ) {
    this.server = server
    this.callers = callers
    this.group = group
    this.foreign = foreign
  }

  static async make(server: TestServer): Promise<Cast> {
    const made: Partial<Record<CallerName, Client>> = { anonymous: server.anonymous }
    for (const name of ACCOUNTS) made[name] = await server.signUp({ email: `${name}@example.org` })
    made.administrator = await server.admin()
    const callers = made as Record<CallerName, Client>
    // A token of the owner: nothing but its revocation keeps it from full access.
    const revoked = await Client.signIn(server.url, callers.owner.email, 'a long password')
    await revoked.post('/api2/logout-device/')
    callers.revoked = revoked
    // Revoking one token revokes all that were issued without a device.
    callers.owner = await Client.signIn(server.url, callers.owner.email, 'a long password')
    assert.notEqual(callers.owner.token, revoked.token)
    const elsewhere = await callers.owner.createLibrary('Elsewhere')
    callers.readingToken = await bounded(callers.owner, { permission: 'r' })
    callers.elsewhereToken = await bounded(callers.owner, { permission: 'rw', repo_id: elsewhere })
    const group = await makeGroup('Nest', callers.owner, callers.groupMember, callers.deactivated)
    const foreign = await callers.stranger.createLibrary('Foreign')
    const cast = new Cast(server, callers, group, foreign)
    await cast.setActive('deactivated', false)
    return cast
  }

  /** The same accounts, with some roles played by others. */
  recast(callers: Partial<Record<CallerName, Client>>): Cast {
    return new Cast(this.server, { ...this.callers, ...callers }, this.group, this.foreign)
  }

  async setActive(name: CallerName, active: boolean): Promise<void> {
    await this.server.running.services.accounts.update(this.callers[name].email, { active }, undefined)
  }

  /** An account that is not shared with other tests. */
  async victim(): Promise<Client> {
    return this.server.signUp({ email: `victim-${randomUUID()}@example.org` })
  }
}

/** A client with a scoped token of an account. */
async function bounded(owner: Client, scope: Record<string, string>): Promise<Client> {
  const form = { name: 'Bounded', ...scope }
  const { token } = expectOk(await owner.post('/api/v2.1/personal-tokens/', { form })).body
  return new Client(owner.url, token, owner.email)
}

export type LinkState =
  | 'openLink'
  | 'password'
  | 'granted'
  | 'withoutPassword'
  | 'wrongPassword'
  | 'expired'
  | 'switchedOff'
  /** Its deadline has passed. A share link has none. */
  | 'closed'
  | 'notNamed'
  | 'unknownLink'

/** More than concurrent callers use. */
const MAX_TAGS = 40

/** One library with every item that calls need. Rarely needed items are created on first use. */
export class Stage {
  readonly cast: Cast
  readonly id: string
  /** The name of the library. */
  readonly name: string
  /** The view of the folder /docs, as its reader sees it. */
  readonly sub: string
  /** The commit that deleted /gone.txt. */
  readonly gone: string
  /** The creator of the links; the owner unless set. */
  linkMaker: Client | undefined
  /** The credential for tickets and sync tokens, in place of the caller's own. */
  asker: Client | undefined
  /** What WebDAV calls send as the password, in place of the account password. */
  webdavPassword: string | undefined
  readonly #parts = new Map<string, Promise<unknown>>()
  #names = 0
  /** The newest tags of `newTag`, the oldest first. */
  readonly #tags: number[] = []

  private constructor(cast: Cast, id: string, name: string, sub: string, gone: string) {
    this.cast = cast
    this.id = id
    this.name = name
    this.sub = sub
    this.gone = gone
  }

  static async make(cast: Cast): Promise<Stage> {
    const { owner, reader, writer, manager, folderReader } = cast.callers
    // Unique, because WebDAV would show a library of another stage that the account can read under the same name.
    const name = `Kolibri-${randomUUID()}`
    const id = await owner.createLibrary(name)
    await makeFolder(owner, id, '/docs/deep')
    await uploadFile(owner, id, '/in.txt', 'one')
    for (const path of ['/docs/in.txt', '/kingfisher.txt', '/gone.txt']) {
      expectOk(
        await owner.post(`/api/v2.1/repos/${id}/file/`, {
          query: { p: path },
          form: { operation: 'create' },
        }),
      )
    }
    const gone = expectOk(await owner.delete(`/api/v2.1/repos/${id}/file/`, { query: { p: '/gone.txt' } }))
    await shareWith(owner, id, reader, { permission: 'r' })
    await shareWith(owner, id, writer)
    await shareWith(owner, id, manager, { permission: 'admin' })
    await shareWithGroup(owner, id, cast.group, { permission: 'r' })
    const sub = await shareWith(owner, id, folderReader, { path: '/docs' })
    return new Stage(cast, id, name, sub, gone.body.commit_id)
  }

  get owner(): Client {
    return this.cast.callers.owner
  }

  /** The account a caller is named after, or an anonymous client. */
  client(caller: string): Client {
    return this.cast.callers[caller as CallerName] ?? this.cast.callers.anonymous
  }

  /** A free name. */
  fresh(extension = ''): string {
    return `new-${++this.#names}${extension}`
  }

  /** Creates a part of the stage once. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#parts.get(name) ?? make()
    this.#parts.set(name, known)
    return known as Promise<T>
  }

  picture(): Promise<string> {
    return this.once('picture', async () => {
      await uploadFile(this.owner, this.id, '/docs/picture.png', PICTURE)
      return '/docs/picture.png'
    })
  }

  archive(): Promise<string> {
    return this.once('archive', async () => {
      await uploadFile(this.owner, this.id, '/docs/pack.zip', buildZip([{ name: 'a.txt', content: 'a' }]))
      return '/docs/pack.zip'
    })
  }

  /** The blocks of /in.txt. */
  file(): Promise<{ file_id: string; blklist: [string] }> {
    return this.once('file', async () => {
      const query = { p: '/in.txt', op: 'downloadblks' }
      return expectOk(await this.owner.get(`/api2/repos/${this.id}/file/`, query)).body
    })
  }

  /** A deleted library of the owner; a new one per caller that may restore or purge it. */
  deleted(caller: string): Promise<string> {
    const name = ['owner', 'administrator'].includes(caller) ? this.fresh() : ''
    return this.once(`deleted ${name}`, async () => {
      const id = await this.owner.createLibrary('Kolibri, deleted')
      expectOk(await this.owner.delete(`/api/v2.1/repos/${id}/`))
      return id
    })
  }

  /** An encrypted library, shared like the other one. */
  encrypted(): Promise<string> {
    return this.once('encrypted', async () => {
      const { reader, writer, manager } = this.cast.callers
      const { id } = await createEncrypted(this.owner, 2, 'a secret of many')
      await shareWith(this.owner, id, reader, { permission: 'r' })
      await shareWith(this.owner, id, writer)
      await shareWith(this.owner, id, manager, { permission: 'admin' })
      await shareWithGroup(this.owner, id, this.cast.group, { permission: 'r' })
      return id
    })
  }

  /** A group of the owner, with the manager as its administrator and the writer as a member. */
  team(): Promise<number> {
    return this.once('team', async () => {
      const { owner, manager, writer } = this.cast.callers
      const team = await makeGroup(`Kolibri ${randomUUID()}`, owner, manager, writer)
      const url = `/api/v2.1/groups/${team}/members/${manager.email}/`
      expectOk(await owner.put(url, { form: { is_admin: 'true' } }))
      return team
    })
  }

  /** A comment of the owner on /in.txt. */
  comment(): Promise<number> {
    return this.once('comment', async () => {
      const options = { query: { p: '/in.txt' }, form: { comment: 'kingfisher' } }
      return expectOk(await this.owner.post(`/api2/repos/${this.id}/file/comments/`, options)).body.id
    })
  }

  /** A new tag of the library, because a file has each tag once. */
  tag(): Promise<{ repo_tag_id: number }> {
    return this.newTag()
  }

  /** A tag of /docs/tagged.txt; a new one per call, because callers may delete it. */
  async tagOfFile(): Promise<{ repo_tag_id: number; file_tag_id: number }> {
    const { repo_tag_id } = await this.newTag()
    const file_path = await this.once('tagged file', async () => {
      await uploadFile(this.owner, this.id, '/docs/tagged.txt', 'tagged')
      return '/docs/tagged.txt'
    })
    const url = `/api/v2.1/repos/${this.id}/file-tags/`
    const { file_tag } = expectOk(await this.owner.post(url, { form: { file_path, repo_tag_id } })).body
    return { repo_tag_id, file_tag_id: file_tag.file_tag_id }
  }

  /** Deletes an earlier one that no caller uses any more: libraries and files have a limited number. */
  async newTag(): Promise<{ repo_tag_id: number }> {
    const url = `/api/v2.1/repos/${this.id}/repo-tags/`
    if (this.#tags.length === MAX_TAGS) await this.owner.delete(`${url}${this.#tags.shift()}/`)
    const form = { name: this.fresh(), color: '#123456' }
    const { repo_tag_id } = expectOk(await this.owner.post(url, { form })).body.repo_tag
    this.#tags.push(repo_tag_id)
    return { repo_tag_id }
  }

  webhook(): Promise<{ webhook_id: number; delivery_id: string }> {
    return this.once('webhook', async () => {
      const url = `/api/v2.1/repos/${this.id}/webhooks/`
      const form = { url: 'http://127.0.0.1:9/hook' }
      const { webhook } = expectOk(await this.owner.post(url, { form })).body
      return { webhook_id: webhook.id, delivery_id: randomUUID() }
    })
  }

  /** The token of a link of the owner in some state, to /docs or to a file. */
  link(state: LinkState, kind: 'share' | 'upload' = 'share', path = '/docs'): Promise<string> {
    return this.once(`link ${state} ${kind} ${path}`, async () => {
      if (state === 'unknownLink') return '0123456789abcdef0123'
      const password = /password|granted/i.test(state) ? { password: LINK_PASSWORD } : {}
      const scope =
        state === 'notNamed' ? { user_scope: 'specific_users', emails: [this.cast.callers.reader.email] } : {}
      const rights =
        kind === 'share' && path === '/docs'
          ? { permissions: { can_edit: false, can_download: true, can_upload: true } }
          : {}
      const request =
        state === 'closed' && kind === 'upload' ? { request: { deadline: '2001-01-01T00:00:00Z' } } : {}
      const json = { repo_id: this.id, path, ...password, ...scope, ...rights, ...request }
      const all = kind === 'share' ? 'multi-share-links' : 'upload-links'
      // A folder has one upload link, so each state has a folder of its own.
      if (kind === 'upload') {
        json.path = `/docs/${state}`
        await makeFolder(this.owner, this.id, json.path)
      }
      const maker = this.linkMaker ?? this.owner
      const { token } = expectOk(await maker.post(`/api/v2.1/${all}/`, { json })).body
      if (state === 'switchedOff') {
        expectOk(await maker.put(`/api/v2.1/${kind}-links/${token}/`, { json: { is_active: false } }))
      }
      if (state === 'expired') {
        const { db } = this.cast.server.running.services
        await db.write((tx) => tx.run('update link set expires_at = 1 where token = ?', token))
      }
      return token
    })
  }

  /** The cookie that a visitor got for the password of a link. */
  grant(token: string, kind: 'share' | 'upload'): Promise<string> {
    return this.once(`grant ${token}`, async () => {
      const page = `/${kind === 'share' ? 'd' : 'u/d'}/${token}/`
      const { headers } = await this.cast.callers.anonymous.post(page, { form: { password: LINK_PASSWORD } })
      return headers.get('set-cookie')?.split(';')[0] ?? ''
    })
  }

  /** The sync token of a caller's device: see SYNC in sync-routes.ts. */
  syncToken(caller: string): Promise<string | undefined> {
    return this.once(`sync ${caller}`, async () => {
      if (caller === 'noToken') return undefined
      if (caller === 'unknownToken') return '0'.repeat(40)
      if (caller === 'otherLibrary') {
        const { stranger } = this.cast.callers
        return (await SyncClient.link(stranger, this.cast.foreign)).token
      }
      return this.#whileAllowed(caller, async (client) => (await SyncClient.link(client, this.id)).token)
    })
  }

  /** The credential that a caller gets by `ask` while permitted; `unshared` and `deactivated` callers lose the permission afterwards. */
  ticket<T>(caller: string, name: string, ask: (client: Client) => Promise<T>): Promise<T> {
    return this.once(`ticket ${name} ${caller}`, () => this.#whileAllowed(caller, ask))
  }

  async #whileAllowed<T>(caller: string, ask: (client: Client) => Promise<T>): Promise<T> {
    const { leaver, deactivated } = this.cast.callers
    if (caller === 'unshared') {
      await shareWith(this.owner, this.id, leaver)
      const got = await ask(leaver)
      const query = { p: '/', share_type: 'user', username: leaver.email }
      expectOk(await this.owner.delete(`/api2/repos/${this.id}/dir/shared_items/`, { query }))
      return got
    }
    if (caller !== 'deactivated') return ask(this.asker ?? this.client(caller))
    await this.cast.setActive('deactivated', true)
    await this.once('deactivated', () => shareWith(this.owner, this.id, deactivated))
    // Deactivation revoked its tokens, so it signs in again.
    const fresh = await Client.signIn(this.owner.url, deactivated.email, 'a long password')
    const got = await ask(fresh)
    await this.cast.setActive('deactivated', false)
    return got
  }

  async drop(): Promise<void> {
    await this.owner.delete(`/api/v2.1/repos/${this.id}/`)
    if (this.#parts.has('encrypted')) {
      await this.owner.delete(`/api/v2.1/repos/${await this.encrypted()}/`)
    }
    if (this.#parts.has('team')) await this.owner.delete(`/api/v2.1/groups/${await this.team()}/`)
  }
}

export function expectOk(reply: Reply): Reply {
  assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
  return reply
}

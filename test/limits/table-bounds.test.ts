import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { rowLimits } from '../../src/base/errors.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { tokenLimits } from '../../src/people/credentials/token-limits.ts'
import { Workspace } from '../api/folders-support.ts'
import { parseTableOwners } from '../structure/table-owners.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { intoRoot, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { tableBounds } from './table-bounds.ts'

const PASSWORD = 'quiet-harbour-31'
const LOWERED = 5
const ATTEMPTS = 8

it('every table has a bound', () => {
  const architecture = readFileSync(path.join(import.meta.dirname, '../../docs/architecture.md'), 'utf8')
  assert.deepEqual(Object.keys(tableBounds).sort(), [...parseTableOwners(architecture).keys()].sort())
})

describe('one account that tries to fill a table', () => {
  let server: TestServer
  let user: Client
  let space: Workspace
  const limits = { ...rowLimits }
  const tokens = { ...tokenLimits }
  before(async () => {
    server = await startServer()
    user = await server.signUp({ password: PASSWORD })
    space = await Workspace.make(server, user)
    for (let number = 0; number < ATTEMPTS; number += 1) {
      await space.folder(`/folder${number}`)
      await uploadFile(user, space.id, `/file${number}`, 'x')
    }
  })
  after(async () => {
    Object.assign(rowLimits, limits)
    Object.assign(tokenLimits, tokens)
    await server[Symbol.asyncDispose]()
  })

  const count = async (sql: string) => {
    const row = await dbOf(server.running.services.core).get<{ n: number }>(
      `select count(*) as n from ${sql}`,
    )
    return row?.n ?? 0
  }

  type Fill = {
    readonly what: keyof typeof rowLimits
    /** The rows that count, as the rest of a query. */
    readonly rows: (key: number) => string
    readonly add: (number: number) => Promise<Reply>
    /** Deletes one that was added, after which there is room again. A smart link lasts as long as its library. */
    readonly remove?: (added: Reply) => Promise<Reply>
  }
  const fills: Fill[] = [
    {
      what: 'libraries',
      rows: (key) => `library where owner_key = ${key}`,
      add: (number) => user.post('/api2/repos/', { form: { name: `Library ${number}` } }),
      // Deleted ones count until they are purged.
      remove: async (added) => {
        await user.delete(`/api2/repos/${added.body.repo_id}/`)
        return user.delete(`/api/v2.1/deleted-repos/${added.body.repo_id}/`)
      },
    },
    {
      what: 'groups',
      rows: (key) => `user_group where owner_key = ${key}`,
      add: (number) => user.post('/api/v2.1/groups/', { form: { name: `Group ${number}` } }),
      remove: (added) => user.delete(`/api/v2.1/groups/${added.body.id}/`),
    },
    {
      what: 'library-tokens',
      rows: () => `scoped_token where kind = 'library'`,
      add: (number) =>
        user.post(`/api/v2.1/repos/${space.id}/repo-api-tokens/`, {
          form: { app_name: `app${number}`, permission: 'r' },
        }),
      remove: (added) => user.delete(`/api/v2.1/repos/${space.id}/repo-api-tokens/${added.body.app_name}/`),
    },
    {
      what: 'stars',
      rows: (key) => `star where account_key = ${key}`,
      add: (number) =>
        user.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path: `/file${number}` } }),
      remove: (added) =>
        user.delete('/api/v2.1/starred-items/', { query: { repo_id: space.id, path: added.body.path } }),
    },
    {
      what: 'views',
      rows: () => 'sub_library',
      add: (number) =>
        user.get(`/api2/repos/${space.id}/dir/sub_repo/`, { p: `/folder${number}`, name: `folder${number}` }),
      // The view of a folder ends with the folder.
      remove: () => user.delete(`/api2/repos/${space.id}/dir/`, { query: { p: '/folder0' } }),
    },
    {
      what: 'smart-links',
      rows: () => 'smart_link',
      add: (number) =>
        user.get('/api/v2.1/smart-link/', { repo_id: space.id, path: `/file${number}`, is_dir: 'false' }),
    },
  ]

  for (const { what, rows, add, remove } of fills) {
    it(`of ${what} reaches its limit, and may delete`, async () => {
      const { key } = await server.running.services.accounts.get(user.email)
      const before = await count(rows(key))
      rowLimits[what] = before + LOWERED
      const replies: Reply[] = []
      for (let number = 0; number < ATTEMPTS; number += 1) replies.push(await add(number))
      const accepted = replies.filter(({ status }) => status < 300)
      assert.equal(accepted.length, LOWERED, replies.map(({ text }) => text).join('\n'))
      for (const { status, text } of replies.slice(LOWERED)) {
        assert.equal(status, 400, text)
        assert.match(text, /can have at most/)
      }
      assert.equal(await count(rows(key)), before + LOWERED)
      if (remove !== undefined) {
        const removed = await remove(accepted[0] ?? assert.fail())
        assert.ok(removed.status < 300, removed.text)
        assert.equal((await add(ATTEMPTS - 1)).status, replies[0]?.status)
      }
      rowLimits[what] = limits[what]
    })
  }

  it('of members of a group reaches its limit', async () => {
    const group = await user.post('/api/v2.1/groups/', { form: { name: 'Everybody' } })
    rowLimits.members = 3
    const statuses: number[] = []
    for (let number = 0; number < 4; number += 1) {
      const { email } = await server.signUp()
      statuses.push(
        (await user.post(`/api/v2.1/groups/${group.body.id}/members/`, { form: { email } })).status,
      )
    }
    // The owner is one of them.
    assert.deepEqual(statuses, [201, 201, 400, 400])
    rowLimits.members = limits.members
  })

  it('of sessions ends those that were not used for the longest time', async () => {
    const { email } = await server.signUp({ password: PASSWORD })
    const signIn = (number: number) =>
      server.anonymous.post('/api2/auth-token/', {
        form: {
          username: email,
          password: PASSWORD,
          platform: 'linux',
          device_id: number.toString(16).padStart(40, '0'),
          device_name: `device ${number}`,
          client_version: '9.0.0',
          platform_version: '1',
        },
      })
    tokenLimits.api = LOWERED
    const { key } = await server.running.services.accounts.get(email)
    for (let number = 0; number < ATTEMPTS; number += 1) {
      const reply = await signIn(number)
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await new ClientOf(server, reply.body.token).ping()).status, 200)
    }
    assert.equal(await count(`api_token where account_key = ${key}`), LOWERED)
    tokenLimits.api = tokens.api
  })

  it('of sync tokens ends those that were not used for the longest time', async () => {
    const member = await Workspace.make(server)
    tokenLimits.syncPerLibrary = LOWERED
    for (let number = 0; number < ATTEMPTS; number += 1) {
      const { body } = await member.client.get(`/api2/repos/${member.id}/download-info/`)
      const headers = { 'Seafile-Repo-Token': body.token }
      const head = await fetch(`${server.url}/seafhttp/repo/${member.id}/commit/HEAD`, { headers })
      assert.equal(head.status, 200, 'the newest one opens the library')
      await head.body?.cancel()
    }
    const library = `(select key from library where id = '${member.id}')`
    assert.equal(await count(`sync_token where library_key = ${library}`), LOWERED)
    tokenLimits.syncPerLibrary = tokens.syncPerLibrary
  })

  it('of the audit log is refused after one entry a second', async () => {
    const { audit } = server.running.services
    const { client } = await Workspace.make(server)
    const call = () => client.post('/api/v2.1/tool-calls/', { json: { tool: 'read', repo_id: '', path: '' } })
    // The second entry: the library is the first.
    assert.equal((await call()).status, 200)
    const by = { actor: client.email, address: '' }
    const entry = { action: 'tool-called', objectKind: 'account', objectId: '' } as const
    await dbOf(server.running.services.core).write(async (tx) => {
      for (let number = 0; number < 3598; number += 1) await audit.record(tx, by, entry)
    })
    const before = await count('audit_entry')
    const refused = await call()
    assert.equal(refused.status, 429, refused.text)
    const library = await client.post('/api2/repos/', { form: { name: 'One more' } })
    assert.equal(library.status, 429, 'what is not recorded is not done')
    assert.equal(await count('audit_entry'), before)
    // What ends something is never refused.
    assert.equal((await client.post('/api2/logout-device/')).status, 200)
  })

  it('of commits writes none for an edit that changes nothing', async () => {
    const head = await space.head()
    for (let number = 0; number < 3; number += 1) {
      const renamed = await user.post(`/api2/repos/${space.id}/`, {
        query: { op: 'rename' },
        form: { repo_name: 'Plans' },
      })
      assert.equal(renamed.status, 200, renamed.text)
    }
    assert.equal(await space.head(), head)
  })

  it('of files pays for empty ones, too', async () => {
    const poor = await Workspace.make(server)
    await server.running.services.accounts.update(poor.client.email, { quota: 1_000_000 }, undefined)
    const link = await uploadLink(poor.client, poor.id)
    const statuses: number[] = []
    for (let call = 0; call < 6; call += 1) {
      const files = Array.from({ length: 2000 }, (_, number) => ({
        filename: `${call}-${number}`,
        bytes: '',
      }))
      statuses.push((await postForm(link, [intoRoot, ...files])).status)
    }
    // 10,000, and one for 1,000 bytes of the quota.
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 443])
    const makeFolder = () =>
      poor.client.post(poor.v2('dir/'), { query: { p: '/folder' }, form: { operation: 'mkdir' } })
    assert.equal((await makeFolder()).status, 201)
    await poor.client.delete(poor.v2('file/'), { query: { p: '/0-0' } })
    const info = await poor.client.get('/api2/account/info/')
    assert.equal(info.body.usage, 0, 'the shown usage is that of the bytes of files')
  })
})

class ClientOf {
  readonly #server: TestServer
  readonly #token: string

  constructor(server: TestServer, token: string) {
    this.#server = server
    this.#token = token
  }

  ping(): Promise<Response> {
    return fetch(`${this.#server.url}/api2/auth/ping/`, {
      headers: { Authorization: `Token ${this.#token}` },
    })
  }
}

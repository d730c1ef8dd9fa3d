import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { libraryToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeFolder, makeGroup, shareWith } from './sharing-support.ts'

const unlock = 'a library password'
const password = 'a long password'

/** A request that sets a state, and the entries it writes when it is sent for the first time. */
interface Change {
  readonly name: string
  readonly writes: readonly string[]
  readonly send: () => Promise<Reply>
}

describe('the audit log records changes of state: a repeated request adds no entry', () => {
  let server: TestServer
  let admin: Client
  let ann: Client
  let ben: Client
  before(async () => {
    server = await startServer()
    admin = await server.admin()
    ann = await server.signUp()
    ben = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  const entries = async (): Promise<{ id: number; action: string }[]> =>
    (await admin.get('/api/v2.1/admin/audit-log/', { per_page: 100 })).body.entries

  /** The actions recorded while `work` ran, in order. */
  const recorded = async (work: () => Promise<unknown>): Promise<string[]> => {
    const newest = (await entries())[0]?.id ?? 0
    await work()
    return (await entries())
      .filter(({ id }) => id > newest)
      .map(({ action }) => action)
      .toReversed()
  }

  /** Sends each request once and then twice more. Reports all that differ. */
  const hold = async (...changes: readonly Change[]) => {
    const problems: string[] = []
    for (const { name, writes, send } of changes) {
      let reply: Reply | undefined
      const first = await recorded(async () => {
        reply = await send()
      })
      assert.ok(reply !== undefined && reply.status < 300, `${name}: ${reply?.status} ${reply?.text}`)
      if (!isDeepStrictEqual(first, writes)) problems.push(`${name}, sent once: ${first.join()}`)
      const again = await recorded(async () => {
        await send()
        await send()
      })
      if (again.length > 0) problems.push(`${name}, sent again: ${again.join()}`)
    }
    assert.deepEqual(problems, [])
  }

  it('for the password of an encrypted library', async () => {
    const { body } = await ann.post('/api2/repos/', { form: { name: 'Closed', passwd: unlock } })
    const older = `/api2/repos/${body.repo_id}/`
    const newer = `/api/v2.1/repos/${body.repo_id}/set-password/`
    await ann.delete(newer)
    const opens = { name: 'unlock', writes: ['library-unlocked'] }
    await hold({ ...opens, send: () => ann.post(older, { form: { password: unlock } }) })
    await hold({ name: 'lock', writes: ['library-locked'], send: () => ann.delete(newer) })
    await hold({ ...opens, send: () => ann.post(newer, { form: { password: unlock } }) })
    const both = await recorded(async () => {
      await ann.post(older, { form: { password: unlock } })
      await ann.post(newer, { form: { password: unlock } })
      await ann.post(newer, { form: { password: 'wrong' } })
    })
    assert.deepEqual(both, [])
  })

  it('for a library', async () => {
    const id = await ann.createLibrary('First')
    await uploadFile(ann, id, '/a.txt', 'a')
    await ann.delete(`/api2/repos/${id}/file/`, { query: { p: '/a.txt' } })
    const app = await libraryToken(ann, id, 'r', 'backup')
    assert.ok(app.token)
    const changes: Change[] = [
      {
        name: 'rename',
        writes: ['library-renamed'],
        send: () => ann.post(`/api2/repos/${id}/?op=rename`, { form: { repo_name: 'Second' } }),
      },
      {
        name: 'history limit',
        writes: ['history-limit-changed'],
        send: () => ann.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 7 } }),
      },
      {
        name: 'status',
        writes: ['library-changed'],
        send: () => admin.put(`/api/v2.1/admin/libraries/${id}/`, { form: { status: 'read-only' } }),
      },
      {
        name: 'status back',
        writes: ['library-changed'],
        send: () => admin.put(`/api/v2.1/admin/libraries/${id}/`, { form: { status: 'normal' } }),
      },
      {
        name: 'name by an administrator',
        writes: ['library-renamed'],
        send: () => admin.put(`/api/v2.1/admin/libraries/${id}/`, { form: { name: 'Third' } }),
      },
      {
        name: 'trash',
        writes: ['trash-cleaned'],
        send: () => ann.delete(`/api/v2.1/repos/${id}/trash/`),
      },
      {
        name: 'permission of a library token',
        writes: ['api-token-made'],
        send: () => ann.put(`/api/v2.1/repos/${id}/repo-api-tokens/backup/`, { form: { permission: 'rw' } }),
      },
      {
        name: 'deletion',
        writes: ['library-deleted'],
        send: () => ann.delete(`/api/v2.1/repos/${id}/`),
      },
    ]
    await hold(...changes)
  })

  it('for shares and links', async () => {
    const id = await ann.createLibrary('Shared')
    await makeFolder(ann, id, '/docs')
    await shareWith(ann, id, ben, { permission: 'r' })
    const items = `/api2/repos/${id}/dir/shared_items/`
    const bens = { p: '/', share_type: 'user', username: ben.email }
    const link = (await ann.post('/api/v2.1/share-links/', { form: { repo_id: id, path: '/docs' } })).body
    const one = `/api/v2.1/share-links/${link.token}/`
    const changes: Change[] = [
      {
        name: 'permission',
        writes: ['share-changed'],
        send: () => ann.post(items, { query: bens, form: { permission: 'rw' } }),
      },
      {
        name: 'sharing again, older call',
        writes: ['share-changed'],
        send: () =>
          ann.put(`/api2/shared-repos/${id}/`, {
            query: { share_type: 'personal', user: ben.email, permission: 'r' },
          }),
      },
      { name: 'end of a share', writes: ['share-ended'], send: () => ann.delete(items, { query: bens }) },
      {
        name: 'description of a link',
        writes: ['link-changed'],
        send: () => ann.put(one, { json: { description: 'for the printer' } }),
      },
      {
        name: 'permissions of a link',
        writes: ['link-changed'],
        send: () => ann.put(one, { json: { permissions: { can_download: false } } }),
      },
      { name: 'end of a link', writes: ['link-ended'], send: () => ann.delete(one) },
      {
        name: 'upload link',
        writes: ['link-made'],
        send: () => ann.post('/api/v2.1/upload-links/', { form: { repo_id: id, path: '/docs' } }),
      },
    ]
    await hold(...changes)
  })

  it('for groups', async () => {
    const group = await makeGroup('Painters', ann)
    const one = `/api/v2.1/groups/${group}/`
    const changes: Change[] = [
      {
        name: 'new member',
        writes: ['group-members-changed'],
        send: () => ann.put(`/api2/groups/${group}/members/`, { form: { user_name: ben.email } }),
      },
      {
        name: 'group administrator',
        writes: ['group-members-changed'],
        send: () => ann.put(`${one}members/${ben.email}/`, { form: { is_admin: 'true' } }),
      },
      { name: 'name', writes: ['group-changed'], send: () => ann.put(one, { form: { name: 'Drawers' } }) },
      {
        name: 'name by an administrator',
        writes: ['group-changed'],
        send: () => admin.put(`/api/v2.1/admin/groups/${group}/`, { form: { new_name: 'Writers' } }),
      },
      {
        name: 'removed member',
        writes: ['group-members-changed'],
        send: () => ann.delete(`/api2/groups/${group}/members/`, { query: { user_name: ben.email } }),
      },
      {
        name: 'deletion',
        writes: ['group-deleted'],
        send: () => admin.delete(`/api/v2.1/admin/groups/${group}/`),
      },
    ]
    await hold(...changes)
  })

  it('for accounts, devices and webhooks', async () => {
    const user = await server.signUp({ password })
    const one = `/api/v2.1/admin/users/${user.email}/`
    const id = await user.createLibrary('Watched')
    const webhooks = `/api/v2.1/repos/${id}/webhooks/`
    const hook = (await user.post(webhooks, { form: { url: 'https://a.example.org/' } })).body.webhook
    const device = { platform: 'linux', device_id: 'd'.repeat(40) }
    const signIn = { username: user.email, password, ...device, device_name: 'laptop' }
    await server.anonymous.post('/api2/auth-token/', { form: signIn })
    await user.put('/api/v2.1/webdav-secret/', { form: { secret: 'a-dav-password-1' } })
    const changes: Change[] = [
      {
        name: 'role and quota',
        writes: ['account-changed'],
        send: () => admin.put(one, { form: { role: 'guest', quota_total: 7 } }),
      },
      {
        name: 'older call',
        writes: ['account-changed'],
        send: () => admin.put(`/api2/accounts/${user.email}/`, { form: { name: 'Una' } }),
      },
      {
        name: 'address of a webhook',
        writes: ['webhook-changed'],
        send: () => user.put(`${webhooks}${hook.id}/`, { form: { url: 'https://b.example.org/' } }),
      },
      {
        name: 'removal of a webhook',
        writes: ['webhook-removed'],
        send: () => user.delete(`${webhooks}${hook.id}/`),
      },
      {
        name: 'unknown device',
        writes: [],
        send: () => user.delete('/api2/devices/', { form: { ...device, device_id: 'e'.repeat(40) } }),
      },
      {
        name: 'removal of the WebDAV password',
        writes: ['password-changed'],
        send: () => user.put('/api/v2.1/webdav-secret/', { form: { secret: '' } }),
      },
      {
        name: 'wipe of a device',
        writes: ['device-unlinked'],
        send: () => user.delete('/api2/devices/', { form: { ...device, wipe_device: true } }),
      },
      {
        name: 'deactivation',
        writes: ['account-changed'],
        send: () => admin.put(one, { form: { is_active: 'false' } }),
      },
    ]
    await hold(...changes)
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { libraryToken, personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { makeFolder, makeGroup, shareWith, shareWithGroup } from './sharing-support.ts'

const path = '/api/v2.1/admin/audit-log/'
const password = 'a long password'

interface Entry {
  readonly id: number
  readonly time: string
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly object_kind: string
  readonly object_id: string
  readonly path: string
  readonly detail: Record<string, unknown>
}

describe('the audit log', () => {
  let server: TestServer
  let admin: Client
  let time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
    admin = await server.admin()
  })
  after(() => server[Symbol.asyncDispose]())

  const entries = async (query: Record<string, string | number>): Promise<Entry[]> => {
    const reply = await admin.get(path, query)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.entries
  }
  const actionsBy = async (actor: string) =>
    (await entries({ actor })).map(({ action }) => action).toReversed()
  const actionsOn = async (object: string) =>
    (await entries({ object_id: object })).map(({ action }) => action).toReversed()

  it('records sign-ins, failed sign-ins and sign-outs', async () => {
    const user = await server.signUp({ password })
    const attempt = (username: string, given: string) =>
      server.anonymous.post('/api2/auth-token/', { form: { username, password: given } })
    const token = (await attempt(user.email, password)).body.token
    await attempt(user.email, 'wrong secret')
    await attempt('nobody@example.org', 'wrong secret')
    await new Client(server.url, token).post('/api2/logout-device/')
    assert.deepEqual(await actionsBy(user.email), ['login', 'login-failed', 'logout'])
    const [failed] = await entries({ action: 'login-failed' })
    const actor = failed?.actor ?? ''
    assert.match(actor, /^unknown-[0-9a-f]{16}$/)
    assert.deepEqual(
      { ...failed, id: 0 },
      {
        id: 0,
        time: '2025-07-31T22:13:20+00:00',
        actor,
        address: '127.0.0.1',
        action: 'login-failed',
        object_kind: 'account',
        object_id: actor,
        path: '',
        detail: { reason: 'unknown-account' },
      },
    )
  })

  it('records changes of accounts', async () => {
    const email = 'changed@example.org'
    const users = '/api/v2.1/admin/users/'
    await admin.post(users, { form: { email, password, role: 'guest', quota_total: 5 } })
    await admin.put(`${users}${email}/`, {
      form: { role: 'default', quota_total: 7, password: 'secret two' },
    })
    await admin.put(`${users}${email}/reset-password/`)
    await admin.post('/api/v2.1/admin/generate-user-auth-token/', { form: { email } })
    await admin.put(`/api2/accounts/${email}/`, { form: { is_active: 'false' } })
    await admin.delete(`${users}${email}/`)
    assert.deepEqual(await actionsOn(email), [
      'account-made',
      'account-changed',
      'password-changed',
      'api-token-made',
      'account-changed',
      'account-deleted',
    ])
    const changes = await entries({ object_id: email, action: 'account-changed' })
    assert.deepEqual(
      changes.map(({ actor, detail }) => ({ actor, detail })),
      [
        { actor: admin.email, detail: { active: false } },
        { actor: admin.email, detail: { role: 'default', quota: 7_000_000, password: 'changed' } },
      ],
    )
    await admin.put(`/api2/accounts/made@example.org/`, { form: { password: 'secret three' } })
    await admin.delete(`/api2/accounts/made@example.org/`)
    await admin.delete(`/api2/accounts/made@example.org/`)
    assert.deepEqual(await actionsOn('made@example.org'), ['account-made', 'account-deleted'])
  })

  it('records shares that were created, changed and revoked', async () => {
    // Only administrators may share with everyone.
    const [ann, ben, cem] = [
      await server.signUp({ role: 'admin' }),
      await server.signUp(),
      await server.signUp(),
    ]
    const id = await ann.createLibrary('Plans')
    await makeFolder(ann, id, '/docs')
    const group = await makeGroup('Readers', ann, ben)
    await shareWith(ann, id, ben, { permission: 'r' })
    const sub = await shareWith(ann, id, cem, { path: '/docs', permission: 'admin' })
    const items = `/api2/repos/${id}/dir/shared_items/`
    const bens = { p: '/', share_type: 'user', username: ben.email }
    await ann.post(items, { query: bens, form: { permission: 'rw' } })
    await ann.post(items, { query: { ...bens, username: cem.email }, form: { permission: 'rw' } })
    await shareWith(cem, sub, ben, { permission: 'r' })
    await ann.put(`/api2/shared-repos/${id}/`, { query: { share_type: 'public', permission: 'r' } })
    await ann.put(`/api2/shared-repos/${id}/`, { query: { share_type: 'public', permission: 'rw' } })
    await shareWithGroup(ann, id, group)
    await ann.delete(`/api/v2.1/groups/${group}/libraries/${id}/`)
    await ben.delete(`/api2/beshared-repos/${id}/`)
    await ann.delete(items, { query: bens })
    await ann.delete(`/api/v2.1/shared-repos/${id}/`, { query: { share_type: 'public' } })
    const shown = (await entries({ object_id: id })).filter(({ action }) => action.startsWith('share-'))
    const told = shown.map(({ actor, action, path: at, detail: { email, group: to, permission = '' } }) =>
      [actor, action, at, email ?? (to === undefined ? 'everyone' : 'group'), permission].join(' ').trim(),
    )
    assert.deepEqual(told.toReversed(), [
      `${ann.email} share-made / ${ben.email} r`,
      `${ann.email} share-made /docs ${cem.email} admin`,
      `${ann.email} share-changed / ${ben.email} rw`,
      `${cem.email} share-made /docs ${ben.email} r`,
      `${ann.email} share-made / everyone r`,
      `${ann.email} share-changed / everyone rw`,
      `${ann.email} share-made / group rw`,
      `${ann.email} share-ended / group`,
      `${ben.email} share-ended / ${ben.email}`,
      `${ann.email} share-ended / everyone`,
    ])
  })

  it('records links that were created, changed and deleted, without their tokens while they are valid', async () => {
    const ann = await server.signUp()
    const library = await ann.createLibrary('Linked')
    await uploadFile(ann, library, '/docs/in.txt', 'text')
    const form = { repo_id: library, path: '/docs', password: 'a secret of links' }
    const share = (await ann.post('/api/v2.1/share-links/', { form })).body
    const upload = (await ann.post('/api/v2.1/upload-links/', { form })).body
    const made = (await entries({ actor: ann.email })).filter(({ action }) => action === 'link-made')
    assert.deepEqual(
      made.map(({ path, detail }) => [path, detail['kind'], detail['library'], detail['password']]),
      [
        ['/docs', 'upload', library, true],
        ['/docs', 'share', library, true],
      ],
    )
    const told = JSON.stringify(await entries({ actor: ann.email }))
    for (const secret of [share.token, upload.token, form.password]) assert.ok(!told.includes(secret))
    await ann.put(`/api/v2.1/share-links/${share.token}/`, { json: { expire_days: 3 } })
    await ann.delete(`/api/v2.1/share-links/${share.token}/`)
    await ann.delete(`/api/v2.1/repos/${library}/upload-links/${upload.token}/`)
    assert.deepEqual((await actionsBy(ann.email)).slice(-3), ['link-changed', 'link-ended', 'link-ended'])
    assert.deepEqual(await actionsOn(share.token), ['link-ended'])
  })

  it('records changes of groups and of their members', async () => {
    const [ann, ben, cem] = [await server.signUp(), await server.signUp(), await server.signUp()]
    const group = await makeGroup('Painters', ann, ben)
    const one = `/api/v2.1/groups/${group}/`
    await ann.post(`${one}members/bulk/`, { form: { emails: `${cem.email},${ben.email},x@y.example` } })
    await ann.put(`${one}members/${ben.email}/`, { form: { is_admin: 'true' } })
    await ann.put(one, { form: { name: 'Drawers' } })
    const made = await ann.post(`${one}libraries/`, { form: { repo_name: 'Ours', permission: 'r' } })
    await cem.delete(`${one}members/${ben.email}/`)
    await cem.delete(`${one}members/${cem.email}/`)
    await ann.put(one, { form: { owner: ben.email } })
    await ann.delete(one)
    await ben.delete(`/api2/groups/${group}/members/`, { query: { user_name: ann.email } })
    await ben.delete(one)
    const shown = (await entries({ object_id: String(group) })).toReversed()
    assert.deepEqual(
      shown.map(({ actor, action, detail }) => [actor, action, detail]),
      [
        [ann.email, 'group-made', { name: 'Painters' }],
        [ann.email, 'group-members-changed', { name: 'Painters', added: ben.email }],
        [ann.email, 'group-members-changed', { name: 'Painters', added: cem.email }],
        [ann.email, 'group-members-changed', { name: 'Painters', member: ben.email, isAdmin: true }],
        [ann.email, 'group-changed', { name: 'Painters', to: 'Drawers' }],
        [cem.email, 'group-members-changed', { name: 'Drawers', removed: cem.email }],
        [ann.email, 'group-changed', { name: 'Drawers', owner: ben.email }],
        [ben.email, 'group-members-changed', { name: 'Drawers', removed: ann.email }],
        [ben.email, 'group-deleted', { name: 'Drawers' }],
      ],
    )
    assert.deepEqual(await actionsOn(made.body.repo_id), ['library-made', 'share-made'])
  })

  it('records webhooks and library passwords without their secrets', async () => {
    const ann = await server.signUp()
    const made = await ann.post('/api2/repos/', { form: { name: 'Closed', passwd: 'hushhush one' } })
    const id: string = made.body.repo_id
    const webhooks = `/api/v2.1/repos/${id}/webhooks/`
    const form = { url: 'https://hooks.example.org/hushhush?key=hushhush', secret: 'hushhush' }
    const hook = await ann.post(webhooks, { form })
    await ann.post(webhooks, { form })
    const one = `${webhooks}${hook.body.webhook.id}/`
    await ann.put(one, { form: { url: 'https://other.example.org/hushhush' } })
    await ann.delete(one)
    await ann.delete(one)
    const locks = `/api/v2.1/repos/${id}/set-password/`
    await ann.post(locks, { form: { password: 'hushhush wrong' } })
    await ann.post(locks, { form: { password: 'hushhush one' } })
    await ann.put(locks, { form: { old_password: 'hushhush one', new_password: 'hushhush two' } })
    await ann.put(locks, { form: { old_password: 'hushhush one', new_password: 'hushhush three' } })
    await ann.delete(locks)
    await ann.post(`/api2/repos/${id}/`, { form: { password: 'hushhush two' } })
    assert.deepEqual(await actionsOn(id), [
      'library-made',
      'webhook-made',
      'webhook-changed',
      'webhook-removed',
      'library-unlocked',
      'library-password-changed',
      'library-locked',
      'library-unlocked',
    ])
    const log = JSON.stringify(await entries({ object_id: id }))
    assert.ok(log.includes('hooks.example.org') && !log.includes('hushhush'))
  })

  it('records changes of libraries', async () => {
    const [owner, next] = [await server.signUp({ password }), await server.signUp()]
    const id = await owner.createLibrary('First')
    await uploadFile(owner, id, '/a.txt', 'a')
    await owner.post(`/api2/repos/${id}/?op=rename`, { form: { repo_name: 'Second' } })
    await owner.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 3 } })
    await owner.delete(`/api/v2.1/repos/${id}/trash/`)
    const app = await libraryToken(owner, id, 'r', 'backup')
    await owner.put(`/api/v2.1/repos/${id}/repo-api-tokens/backup/`, { form: { permission: 'rw' } })
    await owner.delete(`/api/v2.1/repos/${id}/repo-api-tokens/backup/`)
    await owner.put(`/api2/repos/${id}/owner/`, { form: { owner: next.email } })
    await next.delete(`/api2/repos/${id}/`)
    await next.post('/api/v2.1/deleted-repos/', { form: { repo_id: id } })
    await admin.put(`/api/v2.1/admin/libraries/${id}/`, { form: { status: 'read-only' } })
    await admin.put(`/api/v2.1/admin/libraries/${id}/`, { form: { status: 'normal' } })
    await next.delete(`/api/v2.1/repos/${id}/`)
    await next.delete(`/api/v2.1/deleted-repos/${id}/`)
    assert.deepEqual((await entries({ repo_id: id })).map(({ action }) => action).toReversed(), [
      'library-made',
      'library-renamed',
      'history-limit-changed',
      'trash-cleaned',
      'api-token-made',
      'api-token-made',
      'api-token-revoked',
      'library-transferred',
      'library-deleted',
      'library-restored',
      'library-changed',
      'library-changed',
      'library-deleted',
      'library-purged',
    ])
    const [handed] = await entries({ repo_id: id, action: 'library-transferred' })
    assert.deepEqual(handed?.detail, { name: 'Second', from: owner.email, to: next.email })
    assert.ok(app.token)
  })

  it('records nothing for a rejected request', async () => {
    const owner = await server.signUp()
    const stranger = await server.signUp()
    const id = await owner.createLibrary()
    await stranger.delete(`/api2/repos/${id}/`)
    await stranger.post('/api/v2.1/deleted-repos/', { form: { repo_id: id } })
    await owner.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 'x' } })
    await admin.post('/api/v2.1/admin/users/', { form: { email: owner.email, password } })
    assert.deepEqual(await actionsBy(stranger.email), [])
    assert.deepEqual(await actionsOn(id), ['library-made'])
    assert.deepEqual(await actionsOn(owner.email), [])
  })

  it('contains no secret', async () => {
    const user = await server.signUp({ password: 'first secret 8151' })
    const signedIn = await Client.signIn(server.url, user.email, 'first secret 8151')
    const id = await user.createLibrary('Kept')
    const [app, own] = [await libraryToken(user, id), await personalToken(user, { permission: 'r' })]
    await server.anonymous.post('/api2/auth-token/', {
      form: { username: user.email, password: 'third secret 8153' },
    })
    await user.post('/api/v2.1/user/reset-password/', {
      form: { old_password: 'first secret 8151', new_password: 'second secret 8152' },
    })
    const rows = JSON.stringify(await server.running.services.db.all('select * from audit_entry'))
    for (const secret of ['secret 815', signedIn.token, user.token, app.token, own.token]) {
      assert.ok(!rows.includes(secret ?? '-'), secret)
    }
  })

  it('is read in pages, by time, and by administrators only', async () => {
    const user = await server.signUp()
    const start = time
    for (let count = 0; count < 5; count++) {
      time += 3600
      await user.createLibrary(`L${count}`)
    }
    const seen: Entry[] = []
    let before: number | null = null
    do {
      const page = await admin.get(path, { actor: user.email, per_page: 2, ...(before && { before }) })
      seen.push(...page.body.entries)
      before = page.body.next
      // Entries written meanwhile do not shift the following pages.
      if (seen.length === 2) await user.createLibrary('meanwhile')
    } while (before !== null)
    assert.deepEqual(
      seen.map(({ detail }) => detail['name']),
      ['L4', 'L3', 'L2', 'L1', 'L0'],
    )
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
    const within = await entries({ actor: user.email, from: iso(start + 7200), to: iso(start + 10_800) })
    assert.deepEqual(
      within.map(({ detail }) => detail['name']),
      ['L2', 'L1'],
    )
    const bad: [query: Record<string, string>, message: string][] = [
      [{ from: 'never' }, 'from invalid.'],
      [{ to: '2025-02-30' }, 'to invalid.'],
      [{ action: 'dance' }, 'action invalid.'],
      [{ before: 'x' }, 'before invalid.'],
      [{ actor: 'a\0b' }, 'actor invalid.'],
    ]
    for (const [query, message] of bad) {
      const reply = await admin.get(path, query)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    }
    for (const url of [path, `${path}export/`]) assert.equal((await user.get(url)).status, 403)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await admin.call(method, path)).status, 405)
    }
  })

  it('is exported completely as lines, and the export is recorded', async () => {
    const { audit, core } = server.running.services
    await dbOf(core).write(async (tx) => {
      for (let count = 0; count < 2500; count++) {
        await audit.record(
          tx,
          { actor: 'machine', address: '' },
          { action: 'login', objectKind: 'account', objectId: `number ${count}` },
        )
      }
    })
    const reply = await admin.get(`${path}export/`, { actor: 'machine' })
    assert.match(reply.headers.get('content-type') ?? '', /x-ndjson/)
    const lines = reply.text.trimEnd().split('\n')
    assert.equal(lines.length, 2500)
    assert.equal(JSON.parse(lines[0] ?? '').object_id, 'number 2499')
    assert.equal(JSON.parse(lines.at(-1) ?? '').object_id, 'number 0')
    assert.equal((await entries({ action: 'audit-exported' })).length, 1)
  })

  it('records a lock broken by the owner, and the name of an app', async () => {
    const owner = await server.signUp()
    const id = await owner.createLibrary()
    await uploadFile(owner, id, '/a.txt', 'a')
    const holder = await server.signUp()
    await owner.put(`/api2/repos/${id}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: holder.email, permission: 'rw' },
    })
    const file = `/api/v2.1/repos/${id}/file/?p=/a.txt`
    await holder.put(file, { form: { operation: 'lock' } })
    assert.equal((await owner.put(file, { form: { operation: 'unlock' } })).status, 200)
    const [forced] = await entries({ repo_id: id, action: 'lock-forced' })
    assert.deepEqual([forced?.actor, forced?.path], [owner.email, '/a.txt'])
    await owner.put(file, { form: { operation: 'lock' } })
    await owner.put(file, { form: { operation: 'unlock' } })
    assert.equal((await entries({ repo_id: id, action: 'lock-forced' })).length, 1)
  })

  it('cannot be filled with long texts by clients that fail to sign in', async () => {
    const username = `${'x'.repeat(5000)}\ud800`
    await server.anonymous.post('/api2/auth-token/', { json: { username, password: 'x' } })
    const [failed] = await entries({ action: 'login-failed', per_page: 1 })
    assert.match(failed?.actor ?? '', /^unknown-[0-9a-f]{16}$/)
  })
})

describe('the retention of the audit log', () => {
  it('deletes entries that exceed the retention, and no others', async () => {
    let time = 1_754_000_000
    await using server = await startServer({ now: () => time, env: { CARREL_AUDIT_DAYS: '10' } })
    const admin = await server.admin()
    await admin.createLibrary('Old')
    time += 9 * 86_400
    await admin.createLibrary('New')
    time += 2 * 86_400
    await server.running.services.audit.deleteOld()
    const { entries } = (await admin.get(path)).body
    assert.deepEqual(
      entries.map((entry: Entry) => entry.detail['name']),
      ['New'],
    )
  })
})

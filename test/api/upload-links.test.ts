import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Params } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, storedBytes, uploadFile } from '../support/transfer.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { assertError, assertReply, NOON, NOON_TEXT } from './folders-support.ts'
import {
  PASSWORD,
  SHARE,
  type Shown,
  sharedSpace,
  shareLink,
  UPLOAD,
  uploadLinkTo,
  visit,
} from './links-support.ts'
import { shareWith } from './sharing-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const NO_TOKEN = 'ab'.repeat(10)

describe('upload links', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON, env: { CARREL_WEBHOOK_PRIVATE: 'on' } })
  })
  after(async () => server[Symbol.asyncDispose]())

  const addressOf = async (url: string, query: Record<string, string> = {}) => {
    const reply = await visit(server, url, { query })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.upload_link as string
  }

  it('creates one link per folder', async () => {
    const space = await sharedSpace(server)
    const link = await uploadLinkTo(space, '/docs')
    const { token, obj_id } = link
    assert.match(obj_id, /^[0-9a-f]{40}$/)
    assert.deepEqual(link, {
      repo_id: space.id,
      repo_name: 'Plans',
      path: '/docs/',
      obj_name: 'docs',
      obj_id,
      view_cnt: 0,
      ctime: NOON_TEXT,
      link: `${server.url}/u/d/${token}/`,
      token,
      username: space.client.email,
      expire_date: '',
      is_expired: false,
      password: '',
      description: '',
      is_valid: true,
      is_active: true,
      request: null,
    })
    assert.deepEqual(await uploadLinkTo(space, '/docs/', { password: 'ignored here' }), link)
    const { obj_id: _, ...listed } = link
    assertReply(await space.client.get(UPLOAD, { repo_id: space.id }), 200, [listed])
    assertReply(await space.client.get(UPLOAD, { repo_id: space.id, path: '/docs' }), 200, [listed])
    assertReply(await space.client.get(UPLOAD, { repo_id: space.id, path: '/docs/sub' }), 200, [])
    assertReply(await space.client.get(space.v21('upload-links/')), 200, [listed])
    assertReply(await space.client.get(SHARE), 200, [])
  })

  it('rejects invalid, unknown and forbidden targets', async () => {
    const space = await sharedSpace(server)
    const whole = { repo_id: space.id, path: '/docs' }
    const rows: [json: object, status: number, text: string][] = [
      [{ path: '/docs' }, 400, 'repo_id invalid.'],
      [{ repo_id: space.id }, 400, 'path invalid.'],
      [{ ...whole, password: 'short' }, 400, 'Password is too short.'],
      [{ ...whole, expire_days: 'x' }, 400, 'expire_days invalid.'],
      [{ ...whole, repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...whole, path: '/gone' }, 404, 'folder /gone not found.'],
      [{ ...whole, path: '/secret.txt' }, 404, 'folder /secret.txt not found.'],
    ]
    for (const [json, status, text] of rows)
      assertError(await space.client.post(UPLOAD, { json }), status, text)
    const stranger = await server.signUp()
    assertError(await stranger.post(UPLOAD, { json: whole }), 403, 'Permission denied.')
    await space.makeReadOnly()
    assertError(await space.client.post(UPLOAD, { json: whole }), 403, 'Permission denied.')
  })

  it('changes and deletes links', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs', { expire_days: 1 })
    const put = await space.client.put(`${UPLOAD}${token}/`, { json: { expire_days: 2 } })
    assert.equal(put.body.expire_date, '2025-08-02T22:13:20+00:00')
    assert.equal((await space.client.get(`${UPLOAD}${token}/`)).body.expire_date, put.body.expire_date)
    assertError(await space.client.get(`${UPLOAD}${NO_TOKEN}/`), 404, `token ${NO_TOKEN} not found.`)
    const stranger = await server.signUp()
    assertError(await stranger.delete(`${UPLOAD}${token}/`), 403, 'Permission denied.')
    assertReply(await space.client.delete(UPLOAD, { json: { tokens: [token] } }), 200, {
      failed: [],
      success: [{ token }],
    })
    assertReply(await space.client.delete(`${UPLOAD}${token}/`), 200, { success: true })
    assertError(await visit(server, `${UPLOAD}${token}/upload/`), 404, `token ${token} not found.`)
  })

  it('accepts files into its folder in the name of its creator, and replaces nothing', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs')
    const address = await addressOf(`${UPLOAD}${token}/upload/`)
    assert.match(address, /\/seafhttp\/upload-api\/[0-9a-f-]{36}$/)
    const send = (folder: string, filename: string, more: [string, string][] = []) =>
      postForm(address, [['parent_dir', folder], ...more, { filename, bytes: 'from outside' }], {
        query: 'ret-json=1',
      })
    const first = await send('/docs', 'a.txt')
    assert.equal(first.body[0].name, 'a.txt', 'the name that was sent')
    assert.equal(String(await storedBytes(server, space.id, '/docs/a (1).txt')), 'from outside')
    // A visitor need not know the path of the folder.
    assert.equal((await send('/', 'b.txt', [['relative_path', 'new/deep']])).status, 200)
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/new/deep'), ['b.txt'])
    // The link, not the visitor, determines the target folder.
    assert.equal((await send('/docs/sub', 'c.txt')).status, 200)
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/sub'), ['b.txt'])
    assert.equal((await send('/docs', 'd.txt', [['relative_path', '../..']])).status, 400)
    assert.equal((await send('/docs', 'a.txt', [['replace', '1']])).body[0].name, 'a.txt')
    assert.equal(String(await storedBytes(server, space.id, '/docs/a.txt')), 'alpha beta gamma')
    const { body } = await space.client.get(space.v21('history/'))
    assert.deepEqual(
      [body.data[0].email, body.data[0].description],
      [space.client.email, 'Added "a (2).txt".'],
    )
  })

  it('accepts files by a share link that allows it, below its folder', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { permissions: { can_upload: true } })
    const address = await addressOf(`${SHARE}${token}/upload/`, { path: '/sub' })
    const sent = await postForm(address, [['parent_dir', '/docs/sub/'], { filename: 'x.txt', bytes: 'x' }])
    assert.equal(sent.status, 200, sent.text)
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/sub'), ['b.txt', 'x.txt'])
    assertError(
      await visit(server, `${SHARE}${token}/upload/`, { query: { path: '/../' } }),
      404,
      'Folder /../ not found.',
    )
    const reading = await shareLink(space, '/docs/sub')
    assertError(await visit(server, `${SHARE}${reading.token}/upload/`), 403, 'Permission denied.')
    const file = await shareLink(space, '/docs/a.txt', { permissions: { can_upload: true } })
    assertError(await visit(server, `${SHARE}${file.token}/upload/`), 403, 'Permission denied.')
  })

  it('shows what visitors upload as theirs, in every list of changes', async () => {
    await using receiver = await WebhookReceiver.start()
    const space = await sharedSpace(server)
    const { client, id } = space
    const reader = await server.signUp()
    await shareWith(client, id, reader, { permission: 'r' })
    await client.post(space.v21('webhooks/'), { form: { url: `${receiver.url}/hook` } })
    for (const who of [client, reader])
      await who.post('/api/v2.1/monitored-repos/', { form: { repo_id: id } })
    await using stream = await EventStream.open(reader)
    await stream.nextOf('ready')
    const upload = await addressOf(`${UPLOAD}${(await uploadLinkTo(space, '/docs')).token}/upload/`)
    const share = await shareLink(space, '/docs', { permissions: { can_upload: true } })
    const shared = await addressOf(`${SHARE}${share.token}/upload/`)
    const send = async (address: string, filename: string) =>
      assert.equal(
        (await postForm(address, [['parent_dir', '/docs'], { filename, bytes: filename }])).status,
        200,
      )
    await send(upload, 'one.txt')
    const { data } = await stream.nextCommit(await space.head())
    assert.deepEqual([data.author_email, data.via_link], [client.email, true])
    await send(shared, 'two.txt')
    const shownOf = async (path: string, key: string, query: object = {}) =>
      (await client.get(path, query as Params)).body[key]
    const latest = (rows: Shown[]) => rows.slice(0, 2).map((row) => row.via_link)
    assert.deepEqual(latest(await shownOf('/api/v2.1/activities/', 'events')), [true, true])
    const mine = await shownOf('/api/v2.1/activities/', 'events', { op_user: client.email })
    assert.equal(mine[0].path, '/secret.txt', 'the activities of the creator are without those of visitors')
    assert.deepEqual(latest(await shownOf(space.v21('history/'), 'data')), [true, true])
    const file = { path: '/docs/one.txt' }
    assert.deepEqual(latest(await shownOf(space.v21('file/new_history/'), 'data', file)), [true])
    const libraries = await shownOf('/api/v2.1/repos/', 'repos')
    assert.equal(libraries.find((one: Shown) => one.repo_id === id).modifier_via_link, true)
    const detail = async (p: string) => (await client.get(space.v2('file/detail/'), { p })).body
    const described = await detail('/docs/one.txt')
    assert.deepEqual(
      [described.last_modifier_email, described.last_modifier_via_link, described.uploader_via_link],
      [client.email, true, true],
    )
    const marked = async (p = '/docs') => {
      const { body } = await client.get(space.v21('dir/'), { p })
      return body.dirent_list.filter((one: Shown) => one.modifier_via_link).map((one: Shown) => one.name)
    }
    assert.deepEqual(await marked(), ['one.txt', 'two.txt'])
    // A rename is of the one who renames; the content stays the visitor's until it is replaced.
    await client.post(space.v21('file/'), {
      query: { p: '/docs/one.txt' },
      form: { operation: 'rename', newname: 'uno.txt' },
    })
    assert.equal((await detail('/docs/uno.txt')).last_modifier_via_link, true)
    assert.deepEqual(await marked(), ['two.txt', 'uno.txt'])
    const renameFolder = (p: string, newname: string) =>
      client.post(space.v21('dir/'), { query: { p }, form: { operation: 'rename', newname } })
    await renameFolder('/docs', 'papers')
    assert.deepEqual(await marked('/papers'), ['two.txt', 'uno.txt'])
    await renameFolder('/papers', 'docs')
    await uploadFile(client, id, '/docs/uno.txt', 'changed', { replace: true })
    assert.equal((await detail('/docs/uno.txt')).last_modifier_via_link, undefined)
    assert.equal((await detail('/docs/a.txt')).uploader_via_link, undefined)
    const [newest] = await shownOf('/api/v2.1/activities/', 'events')
    assert.equal(newest.via_link, undefined)
    const notices = (await reader.get('/api/v2.1/notifications/')).body.notification_list
    const monitored = notices.filter((one: Shown) => one.detail.via_link)
    assert.deepEqual(
      monitored.map((one: Shown) => [one.type, one.detail.op_user_email, one.detail.obj_path_list[0]]),
      [
        ['repo_monitor', client.email, '/docs/two.txt'],
        ['repo_monitor', client.email, '/docs/one.txt'],
      ],
    )
    await server.running.services.activity.webhookSender.settled()
    assert.deepEqual(
      receiver.calls.map(({ text }) => JSON.parse(text).via_link),
      [true, true, undefined, undefined, undefined, undefined],
    )
    assert.deepEqual(await marked(), ['two.txt'])
    await uploadFile(client, id, '/docs/two.txt', 'of a member', { replace: true })
    assert.deepEqual(await marked(), [])
  })

  it('keeps uploads of visitors and of the creator that are committed together apart', async () => {
    const space = await sharedSpace(server)
    const address = await addressOf(`${UPLOAD}${(await uploadLinkTo(space, '/docs')).token}/upload/`)
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0
          ? postForm(address, [['parent_dir', '/docs'], { filename: `visitor-${index}`, bytes: 'x' }])
          : uploadFile(space.client, space.id, `/docs/own-${index}`, 'x'),
      ),
    )
    const { events } = (await space.client.get('/api/v2.1/activities/', { per_page: '100' })).body
    const added = events.filter(({ name }: Shown) => /^(visitor|own)-/.test(name))
    assert.equal(added.length, 12)
    for (const { name, via_link } of added) assert.equal(via_link === true, name.startsWith('visitor'), name)
  })

  it('accepts no files when its creator lacks write permission, or the folder is deleted', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs')
    const address = await addressOf(`${UPLOAD}${token}/upload/`)
    const send = () => postForm(address, [['parent_dir', '/docs'], { filename: 'x', bytes: 'x' }])
    await space.makeReadOnly()
    assertError(await visit(server, `${UPLOAD}${token}/upload/`), 403, 'Permission denied.')
    assert.equal((await send()).status, 403)
    const { db } = server.running.services
    await db.write((tx) => tx.run('update library set status = 0 where id = ?', space.id))
    assert.equal((await send()).status, 200)
    await space.client.delete(space.v21('dir/'), { query: { p: '/docs' } })
    await space.folder('/docs')
    assertError(await visit(server, `${UPLOAD}${token}/upload/`), 404, `token ${token} not found.`)
  })

  it('rejects an upload whose folder was deleted meanwhile, and does not add to a new one of that name', async () => {
    const space = await sharedSpace(server)
    const send = (address: string) =>
      postForm(address, [['parent_dir', '/docs'], { filename: 'x', bytes: 'x' }]).then(({ status }) => status)
    const moved = await addressOf(`${UPLOAD}${(await uploadLinkTo(space, '/docs')).token}/upload/`)
    const form = { operation: 'rename', newname: 'papers' }
    await space.client.post(space.v2('dir/'), { query: { p: '/docs' }, form })
    await space.folder('/docs')
    assert.equal(await send(moved), 403)
    const gone = await addressOf(`${UPLOAD}${(await uploadLinkTo(space, '/docs')).token}/upload/`)
    await space.client.delete(space.v21('dir/'), { query: { p: '/docs' } })
    await space.folder('/docs')
    assert.equal(await send(gone), 403)
    assert.deepEqual(await namesIn(space.client, space.id, '/docs'), [])
  })

  it('accepts the notice of an upload without revealing whether the file exists', async () => {
    const space = await sharedSpace(server)
    const upload = await uploadLinkTo(space, '/docs')
    const share = await shareLink(space, '/docs', { permissions: { can_upload: true } })
    const closed = await shareLink(space, '/docs/sub')
    const secret = await uploadLinkTo(space, '/', { password: PASSWORD })
    const done = (token: string, form: Record<string, string>) =>
      server.anonymous.post(`${SHARE}${token}/upload/done/`, { form })
    for (const { token } of [upload, share]) {
      for (const file_path of ['/docs/a.txt', '/docs/sub/', '/docs/gone', '/secret.txt', '/none']) {
        assertReply(await done(token, { file_path }), 200, { success: true })
        assertReply(await done(token, { file_path, is_dir: 'true' }), 200, { success: true })
      }
      assertError(await done(token, {}), 400, 'file_path invalid.')
    }
    assertError(await done(NO_TOKEN, { file_path: '/x' }), 404, `token ${NO_TOKEN} not found.`)
    assertError(
      await done(closed.token, { file_path: '/docs/sub/b.txt' }),
      403,
      'Share link has no can_upload permission',
    )
    assertError(await done(secret.token, { file_path: '/secret.txt' }), 403, 'Share link is encrypted.')
  })
})

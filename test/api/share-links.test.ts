import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, assertReply, NOON, NOON_TEXT, Workspace } from './folders-support.ts'
import { SHARE, type Shown, sharedSpace, shareLink, UPLOAD } from './links-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const NO_TOKEN = 'ab'.repeat(10)

describe('share links', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  it('creates a link to a file with every field that clients show', async () => {
    const space = await sharedSpace(server)
    const { id } = await uploadFile(space.client, space.id, '/a.txt', 'hello')
    const link = await shareLink(space, '/a.txt')
    const { token } = link
    assert.match(token, /^[0-9a-f]{20}$/)
    assert.deepEqual(link, {
      username: space.client.email,
      repo_id: space.id,
      repo_name: 'Plans',
      path: '/a.txt',
      obj_name: 'a.txt',
      obj_id: id,
      is_dir: false,
      token,
      link: `${server.url}/f/${token}/`,
      download_link: `${server.url}/seafhttp/f/${token}/`,
      show_download_link: true,
      view_cnt: 0,
      ctime: NOON_TEXT,
      expire_date: '',
      is_expired: false,
      permissions: { can_edit: false, can_download: true, can_upload: false, can_copy_content: true },
      password: '',
      user_scope: 'all_users',
      description: '',
      can_edit: true,
      is_valid: true,
      is_active: true,
    })
  })

  it('changes and removes the password of a link, which ends what the former one opened', async () => {
    const space = await sharedSpace(server)
    await uploadFile(space.client, space.id, '/a.txt', 'hello')
    const { token, link } = await shareLink(space, '/a.txt', { password: 'the first one' })
    const enter = async (password: string, cookie = '') => {
      const body = new URLSearchParams({ password })
      const headers = { ...(cookie && { Cookie: cookie }), Origin: server.url }
      const entered = await fetch(link, { method: 'POST', body, headers, redirect: 'manual' })
      return entered.headers
        .getSetCookie()
        .find((one) => one.startsWith('carrel-link-'))
        ?.split(';')[0]
    }
    const opens = async (cookie?: string) => {
      const page = await (
        await fetch(link, { headers: cookie === undefined ? {} : { Cookie: cookie } })
      ).text()
      return !page.includes('name="password"')
    }
    const change = async (json: object) => {
      const reply = await space.client.put(`/api/v2.1/share-links/${token}/`, { json })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.password
    }
    const first = await enter('the first one')
    assert.equal(await opens(first), true)
    assert.equal(await change({ description: 'no change of the password' }), 'the first one')
    assert.equal(await opens(first), true)
    assert.equal(await change({ password: 'the second one' }), 'the second one')
    assert.equal(await opens(first), false)
    assert.equal(await enter('the first one'), undefined)
    assert.equal(await opens(await enter('the second one')), true)
    const short = await space.client.put(`/api/v2.1/share-links/${token}/`, { json: { password: 'x' } })
    assertError(short, 400, 'Password is too short.')
    assert.equal(await change({ password: '' }), '')
    assert.equal(await opens(), true)
  })

  it('creates links to folders and to the library', async () => {
    const space = await sharedSpace(server)
    const folder = await shareLink(space, '/docs/')
    assert.deepEqual(
      [folder.path, folder.obj_name, folder.is_dir, folder.link],
      ['/docs/', 'docs', true, `${server.url}/d/${folder.token}/`],
    )
    const root = await shareLink(space, '/')
    assert.deepEqual([root.path, root.obj_name, root.is_dir], ['/', '/', true])
  })

  it('accepts every option, from a form and as JSON', async () => {
    const space = await sharedSpace(server)
    const options = {
      password: 'a long secret',
      expire_days: 3,
      permissions: { can_upload: true, can_download: false, unknown: 7 },
      description: 'for the board',
      user_scope: 'specific_users',
      emails: ['Ann@example.org'],
    }
    const link = await shareLink(space, '/docs', options)
    assert.deepEqual(
      [link.password, link.expire_date, link.description, link.user_scope, link.permissions],
      [
        'a long secret',
        '2025-08-03T22:13:20+00:00',
        'for the board',
        'specific_users',
        { can_edit: false, can_download: false, can_upload: true, can_copy_content: true },
      ],
    )
    const multipart = {
      repo_id: space.id,
      path: '/docs/a.txt',
      permissions: '{"can_edit": true}',
      expiration_time: '2030-01-01T01:00:00+01:00',
      user_scope: 'martians',
    }
    const { body } = await space.client.post(SHARE, { multipart })
    assert.deepEqual(
      [body.permissions.can_edit, body.expire_date, body.user_scope],
      [true, '2030-01-01T00:00:00+00:00', 'all_users'],
    )
  })

  it('rejects invalid, unknown and forbidden targets', async () => {
    const space = await sharedSpace(server)
    const whole = { repo_id: space.id, path: '/docs' }
    const iso = 'expiration_time invalid, should be iso format, for example: 2020-05-17T10:26:22+08:00'
    const rows: [json: object, status: number, text: string][] = [
      [{ path: '/docs' }, 400, 'repo_id invalid.'],
      [{ repo_id: space.id }, 400, 'path invalid.'],
      [{ ...whole, password: 'short' }, 400, 'Password is too short.'],
      [
        { ...whole, password: 'tab\tin the middle' },
        400,
        'Password can only contain number, upper letter, lower letter and other symbols.',
      ],
      [{ ...whole, expire_days: 0 }, 400, 'expire_days invalid.'],
      [{ ...whole, expire_days: 'soon' }, 400, 'expire_days invalid.'],
      [{ ...whole, expire_days: '-1' }, 400, 'expire_days invalid.'],
      [{ ...whole, expiration_time: 'tomorrow' }, 400, iso],
      [
        { ...whole, expire_days: 1, expiration_time: '2030-01-01' },
        400,
        'Can not pass expire_days and expiration_time at the same time.',
      ],
      [{ ...whole, permissions: 'all' }, 400, 'permissions invalid.'],
      [{ ...whole, permissions: ['can_edit'] }, 400, 'permissions invalid.'],
      [{ ...whole, permissions: { can_edit: 'yes' } }, 400, 'permissions invalid.'],
      [{ ...whole, repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...whole, repo_id: 'x' }, 404, 'Library x not found.'],
      [{ ...whole, path: '/gone' }, 404, 'Dirent /gone not found.'],
      [{ ...whole, path: '/docs/../secret.txt' }, 404, 'Dirent /docs/../secret.txt not found.'],
    ]
    for (const [json, status, text] of rows)
      assertError(await space.client.post(SHARE, { json }), status, text)
    const stranger = await server.signUp()
    assertError(await stranger.post(SHARE, { json: whole }), 403, 'Permission denied.')
    const guest = await server.signUp({ role: 'guest' })
    assertError(await guest.post(SHARE, { json: whole }), 403, 'Permission denied.')
    await space.makeReadOnly()
    const writing = { ...whole, permissions: { can_upload: true } }
    assertError(await space.client.post(SHARE, { json: writing }), 403, 'Permission denied.')
    assert.equal((await space.client.post(SHARE, { json: whole })).status, 200)
  })

  it('rejects links into encrypted libraries', async () => {
    const client = await server.signUp()
    const made = await client.post('/api2/repos/', { json: { name: 'Safe', passwd: 'a long password' } })
    assert.equal(made.status, 200, made.text)
    const json = { repo_id: made.body.repo_id, path: '/' }
    assertError(await client.post(SHARE, { json }), 403, 'Permission denied.')
    assertError(await client.post(UPLOAD, { json }), 403, 'Permission denied.')
  })

  it('creates one link per creator and item, unless several are requested', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    const json = { repo_id: space.id, path: '/docs/' }
    assertError(await space.client.post(SHARE, { json }), 400, `Share link ${token} already exists.`)
    const second = await space.client.post('/api/v2.1/multi-share-links/', { multipart: json })
    assert.equal(second.status, 200, second.text)
    assert.notEqual(second.body.token, token)
    const listed = await space.client.get('/api/v2.1/multi-share-links/', json)
    assert.deepEqual(tokensOf(listed.body), [token, second.body.token])
    const made = await Promise.all(
      Array.from({ length: 5 }, () => space.client.post(SHARE, { json: { ...json, path: '/secret.txt' } })),
    )
    assert.deepEqual(made.map((reply) => String(reply.status)).toSorted(), [
      '200',
      '400',
      '400',
      '400',
      '400',
    ])
  })

  it('replaces an expired link with a new one', async () => {
    const space = await sharedSpace(server)
    const old = await shareLink(space, '/docs', { expire_days: 1 })
    now += 2 * 86_400
    try {
      const listed = await space.client.get(SHARE, { repo_id: space.id, path: '/docs' })
      assert.deepEqual([listed.body.length, listed.body[0].is_expired], [1, true])
      assert.notEqual((await shareLink(space, '/docs')).token, old.token)
    } finally {
      now -= 2 * 86_400
    }
  })

  it('lists the caller’s links, folders first, in pages', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt')
    const folder = await shareLink(space, '/docs')
    const root = await shareLink(space, '/')
    const all = await space.client.get(SHARE)
    assert.deepEqual(tokensOf(all.body), [folder.token, root.token, file.token])
    const { obj_id, ...rest } = file
    assert.match(obj_id, /^[0-9a-f]{40}$/)
    assert.deepEqual(all.body[2], { ...rest, repo_folder_permission: 'rw' })
    const page = await space.client.get(SHARE, { repo_id: space.id, page: 2, per_page: 2 })
    assert.deepEqual(tokensOf(page.body), [file.token])
    const at = await space.client.get(SHARE, { repo_id: space.id, path: '/docs/a.txt' })
    assert.deepEqual(tokensOf(at.body), [file.token])
    assertReply(await space.client.get(SHARE, { repo_id: space.id, path: '/secret.txt' }), 200, [])
    assertError(
      await space.client.get(SHARE, { repo_id: space.id, path: '/gone' }),
      404,
      'Dirent /gone not found.',
    )
    assertError(await space.client.get(SHARE, { repo_id: UNKNOWN }), 404, `Library ${UNKNOWN} not found.`)
    const stranger = await server.signUp()
    assertReply(await stranger.get(SHARE), 200, [])
    assertError(await stranger.get(SHARE, { repo_id: space.id }), 403, 'Permission denied.')
  })

  it('shows a link with its password only to its creator and the owner', async () => {
    const space = await sharedSpace(server)
    const link = await shareLink(space, '/docs', { password: 'a long secret' })
    const shown = await space.client.get(`${SHARE}${link.token}/`)
    assertReply(shown, 200, link)
    assert.equal(shown.body.password, 'a long secret')
    const stranger = await server.signUp()
    assertError(await stranger.get(`${SHARE}${link.token}/`), 404, `token ${link.token} not found.`)
    assertError(await space.client.get(`${UPLOAD}${link.token}/`), 404, `token ${link.token} not found.`)
    assertError(await space.client.get(`${SHARE}${NO_TOKEN}/`), 404, `token ${NO_TOKEN} not found.`)
    assert.equal((await server.anonymous.get(`${SHARE}${link.token}/`)).status, 403)
    const rows = await server.running.services.db.all<{ password: Uint8Array }>(
      'select password from link where token = ?',
      link.token,
    )
    assert.ok(
      !Buffer.from(rows[0]?.password ?? []).includes('secret'),
      'the password is not stored in plain text',
    )
  })

  it('changes a link', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { description: 'old' })
    const put = (json: object, client = space.client) => client.put(`${SHARE}${token}/`, { json })
    const changed = await put({ permissions: { can_upload: true }, expire_days: 2, is_active: false })
    assert.deepEqual(
      [changed.body.permissions.can_upload, changed.body.expire_date, changed.body.is_active],
      [true, '2025-08-02T22:13:20+00:00', false],
    )
    assert.equal(changed.body.description, 'old')
    const back = await put({ expiration_time: '', is_active: true, description: '' })
    assert.deepEqual([back.body.expire_date, back.body.is_active, back.body.description], ['', true, ''])
    assertError(await put({ expire_days: 'x' }), 400, 'expire_days invalid.')
    const stranger = await server.signUp()
    assertError(await put({ expire_days: 1 }, stranger), 403, 'Permission denied.')
    const unknown = await space.client.put(`${SHARE}${NO_TOKEN}/`, { json: { expire_days: 1 } })
    assertError(unknown, 404, `token ${NO_TOKEN} not found.`)
    await space.makeReadOnly()
    assertError(await put({ permissions: { can_upload: true } }), 403, 'Permission denied.')
  })

  it('deletes one link, several, and invalid ones', async () => {
    const space = await sharedSpace(server)
    const stranger = await server.signUp()
    const a = await shareLink(space, '/docs')
    assertError(await stranger.delete(`${SHARE}${a.token}/`), 403, 'Permission denied.')
    assertReply(await space.client.delete(`${SHARE}${a.token}/`), 200, { success: true })
    assertReply(await space.client.delete(`${SHARE}${a.token}/`), 200, { success: true })
    const b = await shareLink(space, '/docs')
    const theirs = await shareLink(await sharedSpace(server, stranger), '/docs')
    const reply = await space.client.delete(SHARE, { json: { tokens: [b.token, NO_TOKEN, theirs.token] } })
    assertReply(reply, 200, {
      failed: [
        { token: NO_TOKEN, error_msg: `token ${NO_TOKEN} not found.` },
        { token: theirs.token, error_msg: 'Permission denied.' },
      ],
      success: [{ token: b.token }],
    })
    assertError(await space.client.delete(SHARE, { json: {} }), 400, 'token invalid.')
    const kept = await shareLink(space, '/docs')
    await shareLink(space, '/secret.txt')
    await space.client.delete(space.v21('file/'), { query: { p: '/secret.txt' } })
    const listed = await space.client.get(SHARE)
    assert.deepEqual(
      listed.body.map((link: Shown) => link.is_valid),
      [true, false],
    )
    assertReply(await space.client.delete(`${SHARE}clean-invalid/`), 200, { success: true })
    assert.deepEqual(tokensOf((await space.client.get(SHARE)).body), [kept.token])
  })

  it('lists and deletes all links of a library for its owner', async () => {
    const space = await sharedSpace(server)
    const link = await shareLink(space, '/docs')
    const listed = await space.client.get(space.v21('share-links/'))
    assert.deepEqual(tokensOf(listed.body), [link.token])
    const stranger = await server.signUp()
    const theirs = await shareLink(await sharedSpace(server, stranger), '/docs')
    assertError(await stranger.get(space.v21('share-links/')), 403, 'Permission denied.')
    assertError(await stranger.delete(space.v21(`share-links/${link.token}/`)), 403, 'Permission denied.')
    assertError(
      await space.client.delete(space.v21(`share-links/${theirs.token}/`)),
      404,
      `token ${theirs.token} not found.`,
    )
    assertReply(await space.client.delete(space.v21(`share-links/${link.token}/`)), 200, { success: true })
    assertReply(await space.client.get(space.v21('share-links/')), 200, [])
  })

  it('supports the older formats', async () => {
    const space = await sharedSpace(server)
    const put = (form: Record<string, string>) => space.client.put(space.v2('file/shared-link/'), { form })
    const made = await put({
      p: '/docs/a.txt',
      share_type: 'download',
      password: 'a long secret',
      expire: '3',
    })
    assert.equal(made.status, 201, made.text)
    const location = made.headers.get('location') ?? ''
    const token = location.split('/').at(-2) ?? ''
    assert.equal(location, `${server.url}/f/${token}/`)
    const link = (await space.client.get(`${SHARE}${token}/`)).body
    assert.deepEqual([link.password, link.expire_date], ['a long secret', '2025-08-03T22:13:20+00:00'])
    assert.equal((await put({ p: '/docs/a.txt' })).headers.get('location'), location)
    const upload = await put({ p: '/docs', share_type: 'upload' })
    assert.match(upload.headers.get('location') ?? '', /\/u\/d\/[0-9a-f]{20}\/$/)
    assertError(await put({}), 400, 'Path is missing')
    assertError(await put({ p: '/gone' }), 400, 'Invalid path')
    assertError(await put({ p: '/docs/a.txt', share_type: 'upload' }), 400, 'Invalid path')
    const unknown = await space.client.put(`/api2/repos/${UNKNOWN}/file/shared-link/`, { form: { p: '/' } })
    assertError(unknown, 404, 'Library not found.')

    assertReply(await space.client.get('/api2/shared-links/'), 200, {
      fileshares: [
        {
          username: space.client.email,
          repo_id: space.id,
          ctime: NOON_TEXT,
          s_type: 'f',
          token,
          view_cnt: 0,
          path: '/docs/a.txt',
        },
      ],
    })
    const remove = (t?: string) =>
      space.client.delete('/api2/shared-links/', t === undefined ? {} : { query: { t } })
    assertError(await remove(), 400, 'Token is missing')
    assertError(await remove(NO_TOKEN), 400, 'Invalid token')
    assertReply(await remove(token), 200, {})
    assertReply(await space.client.get('/api2/shared-links/'), 200, { fileshares: [] })
  })

  it('reports that it sends no mail', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    const form = { email: 'ann@example.org, bob@example.org', token }
    const error_msg = 'This server sends no mail.'
    assertReply(await space.client.post('/api2/send-share-link/', { form }), 200, {
      failed: [
        { email: 'ann@example.org', error_msg },
        { email: 'bob@example.org', error_msg },
      ],
      success: [],
    })
    assertError(await space.client.post('/api2/send-upload-link/', { form }), 404, `Link ${token} not found.`)
    assertError(await space.client.post('/api2/send-share-link/', { form: { token } }), 400, 'email invalid.')
    const stranger = await server.signUp()
    assertError(await stranger.post('/api2/send-share-link/', { form }), 404, `Link ${token} not found.`)
  })

  it('lists and deletes by the deprecated calls of the owner', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt')
    const folder = await shareLink(space, '/docs')
    const gone = await shareLink(space, '/secret.txt')
    await space.client.delete(space.v21('file/'), { query: { p: '/secret.txt' } })
    const by = { create_by: space.client.email, creator_name: space.client.email.split('@')[0] }
    const time = { create_time: '2025-07-31T22:13:20+0000', view_count: 0 }
    assertReply(await space.client.get(space.v2('download-shared-links/')), 200, [
      { ...by, ...time, token: file.token, path: '/docs/a.txt', name: 'a.txt', share_type: 'f', size: '16' },
      { ...by, ...time, token: folder.token, path: '/docs/', name: 'docs', share_type: 'd', size: '' },
    ])
    const { token } = (await space.client.post(UPLOAD, { json: { repo_id: space.id, path: '/' } })).body
    assertReply(await space.client.get(space.v2('upload-shared-links/')), 200, [
      { ...by, ...time, token, path: '/', name: '/' },
    ])
    const stranger = await server.signUp()
    for (const name of ['download', 'upload']) {
      const at = `${name}-shared-links/`
      assertError(await stranger.get(space.v2(at)), 403, 'Permission denied.')
      assertError(await stranger.delete(space.v2(`${at}${file.token}/`)), 403, 'Permission denied.')
      assertError(
        await space.client.delete(space.v2(`${at}${NO_TOKEN}/`)),
        404,
        `Link ${NO_TOKEN} not found.`,
      )
      assertError(await stranger.get(`/api2/repos/${UNKNOWN}/${at}`), 404, `Library ${UNKNOWN} not found.`)
      assert.equal((await space.client.get(space.v2(`${at}${file.token}/`))).status, 405)
    }
    const wrongKind = await space.client.delete(space.v2(`upload-shared-links/${gone.token}/`))
    assertError(wrongKind, 404, `Link ${gone.token} not found.`)
    const theirs = await shareLink(await sharedSpace(server, stranger), '/docs')
    const foreign = await space.client.delete(space.v2(`download-shared-links/${theirs.token}/`))
    assertError(foreign, 404, `Link ${theirs.token} not found.`)
    for (const [name, one] of [
      ['download', file.token],
      ['upload', token],
    ]) {
      assertReply(await space.client.delete(space.v2(`${name}-shared-links/${one}/`)), 200, { success: true })
    }
    assertReply(await space.client.get(space.v2('upload-shared-links/')), 200, [])
  })

  it('deletes the links of a deleted library, even if it is restored', async () => {
    const space = await Workspace.make(server)
    await shareLink(space, '/')
    await space.client.delete(space.v2(''))
    assertReply(await space.client.get(SHARE), 200, [])
    await space.client.post('/api/v2.1/deleted-repos/', { form: { repo_id: space.id } })
    assertReply(await space.client.get(SHARE), 200, [])
  })
})

function tokensOf(links: Shown[]): string[] {
  return links.map((link) => link.token)
}

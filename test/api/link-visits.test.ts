import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, uploadFile } from '../support/transfer.ts'
import { readZip } from '../support/zip-reader.ts'
import { assertError, assertReply, NOON, NOON_TEXT, type Workspace } from './folders-support.ts'
import {
  PASSWORD,
  SHARE,
  seen,
  sharedSpace,
  shareLink,
  UPLOAD,
  uploadLinkTo,
  visit,
} from './links-support.ts'

const NO_TOKEN = 'ab'.repeat(10)

describe('a visited link', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  const dirents = (token: string, path = '/', headers: Record<string, string> = {}) =>
    visit(server, `${SHARE}${token}/dirents/`, { query: { path }, headers })

  it('lists its folder and the entries below it, and nothing beside it', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    assertReply(await dirents(token), 200, {
      dirent_list: [
        { is_dir: true, folder_path: '/sub/', folder_name: 'sub', size: 0, last_modified: NOON_TEXT },
        { is_dir: false, file_path: '/a.txt', file_name: 'a.txt', size: 16, last_modified: NOON_TEXT },
      ],
      dir_path: '/',
    })
    assert.deepEqual(await seen(server, token, '/sub'), ['/sub/b.txt'])
    assertError(await dirents(token, '/gone'), 404, 'Folder /gone/ not found.')
    for (const path of ['..', '/../', '/sub/../..', '/./', '%2e%2e', '/sub/b.txt', '\0', '/docs']) {
      assert.equal((await dirents(token, path)).status, 404, path)
    }
    const file = await shareLink(space, '/docs/a.txt')
    assertError(await dirents(file.token), 400, `Share link ${file.token} is not a folder share link.`)
    assertError(await dirents(NO_TOKEN), 404, `Share link ${NO_TOKEN} not found.`)
    assertError(await visit(server, `${SHARE}zz/dirents/`), 404, 'Not found.')
    const upload = await uploadLinkTo(space, '/docs')
    assertError(await dirents(upload.token), 404, `Share link ${upload.token} not found.`)
  })

  it('follows its target through renames and moves', async () => {
    const space = await sharedSpace(server)
    const folder = await shareLink(space, '/docs/sub')
    const file = await shareLink(space, '/docs/sub/b.txt')
    const rename = (p: string, newname: string) =>
      space.client.post(space.v2('dir/'), { query: { p }, form: { operation: 'rename', newname } })
    await rename('/docs', 'papers')
    assert.deepEqual(await seen(server, folder.token), ['/b.txt'])
    const move = {
      src_repo_id: space.id,
      src_parent_dir: '/papers',
      src_dirents: ['sub'],
      dst_repo_id: space.id,
      dst_parent_dir: '/',
    }
    const moved = await space.client.post('/api/v2.1/repos/sync-batch-move-item/', { json: move })
    assert.equal(moved.status, 200, moved.text)
    assert.deepEqual(await seen(server, folder.token), ['/b.txt'])
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/`)).text, 'bee')
    assert.equal((await space.client.get(`${SHARE}${file.token}/`)).body.path, '/sub/b.txt')
    // A new entry at the old path is not the target.
    await uploadFile(space.client, space.id, '/docs/sub/b.txt', 'another')
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/`)).text, 'bee')
    await uploadFile(space.client, space.id, '/sub/b.txt', 'newer', { replace: true })
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/`)).text, 'newer')
  })

  it('ends with its target, even if an entry of that name appears again', async () => {
    const space = await sharedSpace(server)
    const file = await shareLink(space, '/docs/a.txt')
    const below = await shareLink(space, '/docs/sub')
    const root = await shareLink(space, '/')
    await space.client.delete(space.v21('dir/'), { query: { p: '/docs' } })
    const open = () =>
      Promise.all([
        visit(server, `/seafhttp/f/${file.token}/`).then((reply) => reply.status),
        seen(server, below.token),
      ])
    assert.deepEqual(await open(), [404, 404])
    await uploadFile(space.client, space.id, '/docs/a.txt', 'another')
    await uploadFile(space.client, space.id, '/docs/sub/b.txt', 'another')
    assert.deepEqual(await open(), [404, 404])
    await space.client.delete(space.v21('dir/'), { query: { p: '/docs' } })
    const trash = await space.client.get(space.v21('trash/'))
    const [item] = trash.body.data.filter((one: { obj_name: string }) => one.obj_name === 'docs')
    const back = await space.client.put(space.v2('dir/revert/'), {
      form: { p: '/docs', commit_id: item.commit_id },
    })
    assert.equal(back.status, 200, back.text)
    assert.ok((await namesIn(space.client, space.id)).includes('docs/'))
    assert.deepEqual(await open(), [404, 404])
    // The entry can be shared again.
    assert.notEqual((await shareLink(space, '/docs/a.txt')).token, file.token)
    assert.deepEqual(await seen(server, root.token), ['/docs/', '/secret.txt'])
  })

  it('ends when the target is moved to another library or reverted away', async () => {
    const space = await sharedSpace(server)
    const other = await space.client.createLibrary('Other')
    const first = await space.head()
    await uploadFile(space.client, space.id, '/late.txt', 'late')
    const late = await shareLink(space, '/late.txt')
    const moved = await shareLink(space, '/docs')
    const json = {
      src_repo_id: space.id,
      src_parent_dir: '/',
      src_dirents: ['docs'],
      dst_repo_id: other,
      dst_parent_dir: '/',
    }
    assert.equal((await space.client.post('/api/v2.1/repos/sync-batch-move-item/', { json })).status, 200)
    assert.equal(await seen(server, moved.token), 404)
    const reverted = await space.client.post(space.v21(`commits/${first}/revert/`))
    assert.equal(reverted.status, 200, reverted.text)
    await uploadFile(space.client, space.id, '/late.txt', 'another')
    assert.equal((await visit(server, `/seafhttp/f/${late.token}/`)).status, 404)
    assert.equal(await seen(server, moved.token), 404)
  })

  it('follows its target into another folder, and ends when its folder is merged into another', async () => {
    const space = await sharedSpace(server)
    await uploadFile(space.client, space.id, '/other/sub/c.txt', 'sea')
    const folder = await shareLink(space, '/docs/sub')
    const file = await shareLink(space, '/docs/sub/b.txt')
    const there = await shareLink(space, '/other/sub')
    const json = {
      src_repo_id: space.id,
      src_parent_dir: '/docs',
      src_dirent_name: 'sub',
      dst_repo_id: space.id,
      dst_parent_dir: '/other',
    }
    const merged = await space.client.post('/api/v2.1/move-folder-merge/', { json })
    assert.equal(merged.status, 200, merged.text)
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/`)).text, 'bee')
    assert.deepEqual(await seen(server, there.token), ['/b.txt', '/c.txt'])
    await space.folder('/docs/sub')
    assert.equal(await seen(server, folder.token), 404)
  })

  it('is closed when its creator disables it, loses access or is removed', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    const put = (json: object) => space.client.put(`${SHARE}${token}/`, { json })
    await put({ is_active: false })
    assert.equal(await seen(server, token), 404)
    await put({ is_active: true })
    assert.deepEqual(await seen(server, token), ['/sub/', '/a.txt'])
    const heir = await server.signUp()
    const given = await space.client.put(space.v2('owner/'), { form: { owner: heir.email } })
    assert.equal(given.status, 200, given.text)
    // It continues as a link of the new owner.
    assert.deepEqual(await seen(server, token), ['/sub/', '/a.txt'])
    assert.equal((await heir.get(SHARE)).body[0].token, token)
    assert.equal((await put({ is_active: false })).status, 403)
    const leaving = await sharedSpace(server)
    const left = await shareLink(leaving, '/docs')
    const { accounts } = server.running.services
    await accounts.update(leaving.client.email, { active: false }, undefined)
    assert.equal(await seen(server, left.token), 404)
    await accounts.update(leaving.client.email, { active: true }, undefined)
    assert.notEqual(await seen(server, left.token), 404)
  })

  it('expires', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { expire_days: 1, permissions: { can_upload: true } })
    const upload = await uploadLinkTo(space, '/docs', { expire_days: 1 })
    const { zip_token } = (
      await visit(server, '/api/v2.1/share-link-zip-task/', { query: { share_link_token: token } })
    ).body
    now += 86_400
    try {
      assertError(await dirents(token), 404, 'Share link is expired')
      assertError(await visit(server, `${UPLOAD}${upload.token}/upload/`), 404, 'Share link is expired')
      const done = (one: string) =>
        server.anonymous.post(`${SHARE}${one}/upload/done/`, { form: { file_path: '/docs/a.txt' } })
      assertError(await done(token), 403, 'Share link is expired')
      assertError(await done(upload.token), 403, 'Upload link is expired')
      assert.equal((await visit(server, `/seafhttp/zip/${zip_token}`)).status, 403)
    } finally {
      now -= 86_400
    }
  })

  it('requires its password everywhere, and does not accept the grant of another link', async () => {
    const space = await sharedSpace(server)
    const rights = { permissions: { can_upload: true } }
    const { token } = await shareLink(space, '/docs', { password: PASSWORD, ...rights })
    const other = await shareLink(space, '/docs/sub', { password: 'something else', ...rights })
    const file = await shareLink(space, '/docs/a.txt', { password: PASSWORD })
    const upload = await uploadLinkTo(space, '/docs', { password: PASSWORD })
    const calls = (headers: Record<string, string>, query: Record<string, string> = {}) =>
      Promise.all([
        visit(server, `${SHARE}${token}/dirents/`, { headers, query }),
        visit(server, `${SHARE}${token}/upload/`, { headers, query }),
        visit(server, `${UPLOAD}${upload.token}/upload/`, { headers, query }),
        visit(server, '/api/v2.1/share-link-zip-task/', {
          headers,
          query: { ...query, share_link_token: token },
        }),
        visit(server, `/seafhttp/f/${file.token}/`, { headers, query }),
      ])
    for (const reply of [...(await calls({})), ...(await calls({ 'X-Link-Password': 'wrong one' }))]) {
      assert.equal(reply.status, 403, reply.text)
      assert.ok(!/a\.txt|docs|alpha/.test(reply.text + [...reply.headers].join()), reply.text)
    }
    for (const reply of await calls({ 'X-Link-Password': PASSWORD }))
      assert.equal(reply.status, 200, reply.text)
    for (const reply of await calls({}, { password: PASSWORD })) assert.equal(reply.status, 200, reply.text)

    const { links } = server.running.services
    const key = { address: '', password: 'something else', cookie: undefined, apiToken: undefined }
    const grant = links.grant(await links.open(other.token, key))
    const right = { Cookie: `${grant.name}=${grant.value}` }
    const opened = await visit(server, `${SHARE}${other.token}/dirents/`, { headers: right })
    assert.equal(opened.status, 200)
    const forged = [
      right.Cookie.replace(other.token, token),
      `carrel-link-${token}=${grant.value.replace(/^\d+/, (at) => String(Number(at) + 1))}`,
      `carrel-link-${token}=9999999999.${'A'.repeat(43)}`,
      `carrel-link-${token}=`,
    ]
    for (const Cookie of forged) assert.equal((await dirents(token, '/', { Cookie })).status, 403, Cookie)
    now += 12 * 3600
    try {
      const late = await visit(server, `${SHARE}${other.token}/dirents/`, { headers: right })
      assert.equal(late.status, 403)
    } finally {
      now -= 12 * 3600
    }
  })

  it('for named people rejects everybody else', async () => {
    const space = await sharedSpace(server)
    const friend = await server.signUp()
    const stranger = await server.signUp()
    const scope = { user_scope: 'specific_users', emails: [friend.email] }
    const { token } = await shareLink(space, '/docs', scope)
    const statusFor = async (client: { get: typeof friend.get }) =>
      (await client.get(`${SHARE}${token}/dirents/`)).status
    assert.deepEqual(
      [await statusFor(server.anonymous), await statusFor(stranger), await statusFor(friend)],
      [403, 403, 200],
    )
    assert.equal(await statusFor(space.client), 200)
  })

  it('serves the file with ranges, conditions and HEAD', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs/a.txt')
    const url = `/seafhttp/f/${token}/`
    const whole = await visit(server, url)
    assert.equal(whole.text, 'alpha beta gamma')
    const etag = whole.headers.get('etag') ?? ''
    assert.match(whole.headers.get('content-disposition') ?? '', /^attachment;.*filename="a\.txt"$/)
    assert.deepEqual(
      [whole.headers.get('cache-control'), whole.headers.get('x-content-type-options')],
      ['public, no-cache', 'nosniff'],
    )
    const part = await visit(server, url, { headers: { Range: 'bytes=6-9' } })
    assert.deepEqual([part.status, part.text], [206, 'beta'])
    assert.equal((await visit(server, url, { headers: { 'If-None-Match': etag } })).status, 304)
    const head = await server.anonymous.call('HEAD', url)
    assert.deepEqual([head.status, head.headers.get('content-length'), head.text], [200, '16', ''])
    const view = await visit(server, url, { query: { op: 'view' } })
    assert.match(view.headers.get('content-disposition') ?? '', /^inline;/)
    assert.match(view.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/)
    // Full responses, views and 304 responses count; partial ones and HEAD do not.
    assert.equal((await space.client.get(`${SHARE}${token}/`)).body.view_cnt, 3)
    assert.equal((await visit(server, `/seafhttp/f/${NO_TOKEN}/`)).status, 404)
    assert.equal((await visit(server, '/seafhttp/f/%00/')).status, 404)
    const folder = await shareLink(space, '/docs')
    assert.equal((await visit(server, `/seafhttp/f/${folder.token}/`)).status, 400)
  })

  it('serves no content if it is view-only', async () => {
    const space = await sharedSpace(server)
    const rights = { permissions: { can_download: false } }
    const file = await shareLink(space, '/docs/a.txt', rights)
    const folder = await shareLink(space, '/docs', rights)
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/`)).status, 403)
    assert.equal((await visit(server, `/seafhttp/f/${file.token}/?op=view`)).status, 403)
    const query = { share_link_token: folder.token }
    assertError(await visit(server, '/api/v2.1/share-link-zip-task/', { query }), 403, 'Permission denied.')
    const json = { dst_repo_id: space.id, dst_parent_dir: '/', path: '/a.txt' }
    assertError(
      await space.client.post(`${SHARE}${folder.token}/save-file-to-repo/`, { json }),
      403,
      'Permission denied.',
    )
  })

  it('creates archives of a folder or a selection, and of nothing outside', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs')
    const url = '/api/v2.1/share-link-zip-task/'
    const fetchZip = async (zipToken: string) => {
      for (;;) {
        const { body } = await visit(server, '/api/v2.1/query-zip-progress/', { query: { token: zipToken } })
        assert.equal(body.failed, 0)
        if (body.zipped === body.total) break
      }
      const response = await fetch(`${server.url}/seafhttp/zip/${zipToken}`)
      const bytes = Buffer.from(await response.arrayBuffer())
      const { entries } = readZip(bytes.length, (at, length) => bytes.subarray(at, at + length))
      return { entries, name: response.headers.get('content-disposition') }
    }
    const whole = await visit(server, url, { query: { share_link_token: token, path: '/' } })
    const { entries, name } = await fetchZip(whole.body.zip_token)
    assert.deepEqual(namesOf(entries), ['docs/a.txt', 'docs/sub/b.txt'])
    assert.match(name ?? '', /docs\.zip/)
    const some = await server.anonymous.post(url, {
      form: { token, parent_dir: '/', dirents: ['a.txt', 'sub'] },
    })
    assert.deepEqual(namesOf((await fetchZip(some.body.zip_token)).entries), ['a.txt', 'sub/b.txt'])
    const root = await shareLink(space, '/')
    const all = await visit(server, url, { query: { share_link_token: root.token } })
    assert.deepEqual(namesOf((await fetchZip(all.body.zip_token)).entries), [
      'Plans/docs/a.txt',
      'Plans/docs/sub/b.txt',
      'Plans/secret.txt',
    ])
    for (const dirents of [['../secret.txt'], ['sub/../../secret.txt'], ['/../secret.txt']]) {
      const reply = await server.anonymous.post(url, { form: { token, parent_dir: '/', dirents } })
      assert.equal(reply.status, 404, reply.text)
    }
    assert.equal((await visit(server, url, { query: { share_link_token: token, path: '/..' } })).status, 404)
    assertError(await visit(server, url), 400, 'share_link_token invalid.')
  })

  it('revokes its archives and uploads when it ends', async () => {
    const space = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { permissions: { can_upload: true } })
    const { upload_link } = (await visit(server, `${SHARE}${token}/upload/`)).body
    const query = { share_link_token: token }
    const { zip_token } = (await visit(server, '/api/v2.1/share-link-zip-task/', { query })).body
    await space.client.delete(`${SHARE}${token}/`)
    const sent = await postForm(upload_link, [['parent_dir', '/docs'], { filename: 'x', bytes: 'x' }])
    assert.equal(sent.status, 403, sent.text)
    assert.equal((await visit(server, `/seafhttp/zip/${zip_token}`)).status, 403)
  })

  it('saves a file into a library of the signed-in visitor', async () => {
    const space = await sharedSpace(server)
    const reader = await server.signUp()
    const mine = await reader.createLibrary('Mine')
    const file = await shareLink(space, '/docs/a.txt')
    const folder = await shareLink(space, '/docs')
    const save = (token: string, json: object) =>
      reader.post(`${SHARE}${token}/save-file-to-repo/`, {
        json: { dst_repo_id: mine, dst_parent_dir: '/', ...json },
      })
    assertReply(await save(file.token, {}), 200, { success: true })
    assertReply(await save(folder.token, { path: '/sub/b.txt' }), 200, { success: true })
    assert.deepEqual(await namesIn(reader, mine), ['a.txt', 'b.txt'])
    const items = (token: string, json: object) =>
      reader.post(`${SHARE}${token}/save-items-to-repo/`, {
        json: { dst_repo_id: mine, dst_parent_dir: '/', src_parent_dir: '/', ...json },
      })
    assertReply(await items(folder.token, { src_dirents: ['sub', 'a.txt'] }), 200, { success: true })
    assert.deepEqual(await namesIn(reader, mine), ['a (1).txt', 'a.txt', 'b.txt', 'sub/'])
    for (const name of ['../secret.txt', '..', '.', '', 'gone', 'sub/b.txt']) {
      const reply = await items(folder.token, { src_dirents: [name] })
      assert.equal(reply.status, 404, `${name} ${reply.text}`)
    }
    assert.equal((await items(folder.token, { src_dirents: ['a.txt'], src_parent_dir: '/..' })).status, 404)
    assert.equal((await items(folder.token, {})).status, 400)
    assertError(await save(folder.token, { path: '/../secret.txt' }), 404, 'File /../secret.txt not found.')
    assertError(await save(folder.token, { path: '/sub' }), 404, 'File /sub not found.')
    assertError(await save(file.token, { dst_repo_id: space.id }), 403, 'Permission denied.')
    assert.equal((await server.anonymous.post(`${SHARE}${file.token}/save-file-to-repo/`)).status, 403)
  })
})

describe('guessing the password of a link', () => {
  it('is throttled per link and address', async () => {
    let now = NOON
    await using server = await startServer({ now: () => now, env: { CARREL_RATE_LIMIT: 'on' } })
    const space: Workspace = await sharedSpace(server)
    const { token } = await shareLink(space, '/docs', { password: PASSWORD })
    const other = await shareLink(space, '/docs/sub', { password: PASSWORD })
    const guess = (password: string, one = token) =>
      visit(server, `${SHARE}${one}/dirents/`, { headers: { 'X-Link-Password': password } })
    for (let tries = 0; tries < 10; tries++) assert.equal((await guess(`guess ${tries}`)).status, 403)
    const late = await guess(PASSWORD)
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '300'])
    assert.equal((await guess(PASSWORD, other.token)).status, 200)
    now += 301
    assert.equal((await guess(PASSWORD)).status, 200)
  })
})

function namesOf(entries: readonly { name: string }[]): string[] {
  return entries
    .map(({ name }) => name)
    .filter((name) => !name.endsWith('/'))
    .toSorted()
}

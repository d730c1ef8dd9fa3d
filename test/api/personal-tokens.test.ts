import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, type Params } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { shareWith, unshare } from './sharing-support.ts'

const path = '/api/v2.1/personal-tokens/'
const DAY = 86_400

describe(path, () => {
  let server: TestServer
  let user: Client
  let library: string
  let time = 1_754_000_000
  before(async () => {
    server = await startServer({ now: () => time })
    user = await server.signUp()
    library = await user.createLibrary('Notes')
    await uploadFile(user, library, '/a.txt', 'a')
  })
  after(() => server[Symbol.asyncDispose]())

  it('creates tokens and lists them without their secrets', async () => {
    const someone = await server.signUp()
    const mine = await someone.createLibrary('Mine')
    const made = await someone.post(path, {
      json: { name: ' script ', permission: 'r', repo_id: mine, expire_days: 30 },
    })
    assert.equal(made.status, 200, made.text)
    const { token, ...shown } = made.body
    assert.match(token, /^[0-9a-f]{40}$/)
    assert.deepEqual(shown, {
      id: shown.id,
      name: 'script',
      permission: 'r',
      repo_id: mine,
      repo_name: 'Mine',
      created_at: '2025-07-31T22:13:20+00:00',
      last_used_at: null,
      expires_at: '2025-08-30T22:13:20+00:00',
    })
    const all = await someone.post(path, { form: { name: 'all', permission: 'upload' } })
    assert.deepEqual([all.body.repo_id, all.body.expires_at, all.body.permission], [null, null, 'upload'])
    const { token: _, ...allShown } = all.body
    assert.deepEqual((await someone.get(path)).body, { personal_tokens: [allShown, shown] })
    const rows = await server.running.services.db.all('select * from scoped_token')
    assert.ok(!JSON.stringify(rows.map((row) => Object.values(row).map(String))).includes(token))
  })

  const refusals: [json: Record<string, unknown>, message: string][] = [
    [{ name: '' }, 'name invalid.'],
    [{ name: 'x'.repeat(65) }, 'name invalid.'],
    [{ name: 'a\nb' }, 'name invalid.'],
    [{ name: 'a\0b' }, 'name invalid.'],
    [{ name: { a: 1 } }, 'name invalid.'],
    [{ permission: undefined }, 'permission invalid.'],
    [{ permission: 'admin' }, 'permission invalid.'],
    [{ expire_days: 0 }, 'expire_days invalid.'],
    [{ expire_days: -1 }, 'expire_days invalid.'],
    [{ expire_days: 'soon' }, 'expire_days invalid.'],
    [{ expire_days: 100_000 }, 'expire_days invalid.'],
    [{ repo_id: 'x' }, 'repo_id invalid.'],
  ]
  for (const [json, message] of refusals) {
    it(`rejects ${JSON.stringify(json).slice(0, 60)}`, async () => {
      const reply = await user.post(path, { json: { name: 'x', permission: 'r', ...json } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    })
  }

  it('rejects a library that the creator cannot read or that does not exist', async () => {
    const stranger = await server.signUp()
    const request = (repo_id: string) => ({ json: { name: 'x', permission: 'r', repo_id } })
    assert.equal((await stranger.post(path, request(library))).status, 403)
    const none = '00000000-0000-4000-8000-000000000000'
    assert.equal((await stranger.post(path, request(none))).status, 404)
  })

  it('is limited to a hundred tokens', async () => {
    const someone = await server.signUp()
    const request = { form: { name: 'x', permission: 'r' } }
    for (let count = 0; count < 100; count++) assert.equal((await someone.post(path, request)).status, 200)
    assert.equal((await someone.post(path, request)).status, 400)
  })

  it('revokes only own tokens, at once, and returns 404 for an unknown one', async () => {
    const token = await personalToken(user, { permission: 'r' })
    const stranger = await server.signUp()
    const missing = { error_msg: 'Token not found.' }
    assert.deepEqual((await stranger.delete(`${path}${token.id}/`)).body, missing)
    assert.equal((await token.get('/api2/auth/ping/')).status, 200)
    assert.deepEqual((await user.delete(`${path}${token.id}/`)).body, { success: true })
    const after = await token.get('/api2/auth/ping/')
    assert.deepEqual([after.status, after.body], [401, { detail: 'Invalid token' }])
    const again = await user.delete(`${path}${token.id}/`)
    assert.deepEqual([again.status, again.body], [404, missing])
    for (const id of ['0', 'x', '-1', '999999999999999999999']) {
      assert.equal((await user.delete(`${path}${id}/`)).status, 404)
    }
  })

  it('expires together with all tickets issued for it', async () => {
    const token = await personalToken(user, { permission: 'rw', expire_days: 1 })
    time += DAY - 10
    const link = await uploadLink(token, library)
    const download = (await token.get(`/api2/repos/${library}/file/`, { p: '/a.txt', reuse: 1 })).body
    assert.equal((await fetch(download)).status, 200)
    time += 10
    assert.equal((await token.get('/api2/auth/ping/')).status, 401)
    assert.equal((await fetch(download)).status, 403)
    assert.equal((await send(link, 'late.txt')).status, 403)
    const { personal_tokens: listed } = (await user.get(path)).body
    assert.ok(listed.every(({ id }: { id: number }) => id !== token.id))
  })

  it('revokes tickets issued for it, used or not', async () => {
    const token = await personalToken(user, { permission: 'rw', repo_id: library })
    const used = await uploadLink(token, library)
    const unused = await uploadLink(token, library)
    const file = { p: '/a.txt', reuse: 1 }
    const downloads = [
      (await token.get(`/api2/repos/${library}/file/`, file)).body,
      (await token.get(`/api2/repos/${library}/file/`, file)).body,
    ]
    const zip = (
      await token.post(`/api/v2.1/repos/${library}/zip-task/`, {
        form: { parent_dir: '/', dirents: 'a.txt' },
      })
    ).body.zip_token
    assert.equal((await fetch(downloads[0])).status, 200)
    assert.equal((await send(used, 'one.txt')).status, 200)
    await user.delete(`${path}${token.id}/`)
    for (const link of [used, unused]) assert.equal((await send(link, 'two.txt')).status, 403)
    for (const link of downloads) assert.equal((await fetch(link)).status, 403)
    assert.ok((await fetch(`${server.url}/seafhttp/zip/${zip}`)).status >= 400)
    assert.equal((await user.get(`/api/v2.1/repos/${library}/file/`, { p: '/two.txt' })).status, 404)
  })

  it('rejects the commit of an upload whose token was revoked meanwhile', async () => {
    const token = await personalToken(user, { permission: 'rw' })
    const link = await uploadLink(token, library)
    const boundary = 'slow'
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="parent_dir"\r\n\r\n/\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n`
    const stream = new TransformStream<Uint8Array, Uint8Array>()
    const writer = stream.writable.getWriter()
    const answer = fetch(link, {
      method: 'POST',
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body: stream.readable,
      duplex: 'half',
    })
    await writer.write(Buffer.from(`${head}first`))
    await user.delete(`${path}${token.id}/`)
    time += 60
    await writer.write(Buffer.from(` second\r\n--${boundary}--\r\n`))
    await writer.close()
    assert.equal((await answer).status, 403)
    assert.equal((await user.get(`/api/v2.1/repos/${library}/file/`, { p: '/slow.txt' })).status, 404)
  })

  it('only adds files, and neither replaces nor reads, with the upload permission', async () => {
    const token = await personalToken(user, { permission: 'upload', repo_id: library })
    const link = await uploadLink(token, library)
    assert.equal((await send(link, 'added.txt')).status, 200)
    const before = await content(user, library, '/a.txt')
    assert.equal((await send(link, 'a.txt', { replace: '1' })).status, 403)
    assert.equal((await send(`${link}?replace=1`, 'a.txt')).status, 403)
    assert.equal(await content(user, library, '/a.txt'), before)
    assert.equal((await send(link, 'a.txt')).status, 200)
    const names = (await user.get(`/api/v2.1/repos/${library}/dir/`)).body.dirent_list
    assert.ok(names.some(({ name }: { name: string }) => name === 'a (1).txt'))
    const query = { parent_dir: '/', file_name: 'a.txt' }
    assert.equal((await token.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)).status, 200)
    for (const [path, asked] of [
      ['file/', { p: '/a.txt' }],
      ['dir/', { p: '/' }],
    ] as [string, Params][]) {
      assert.equal((await token.get(`/api2/repos/${library}/${path}`, asked)).status, 403)
    }
    assert.equal((await token.get(`/api2/repos/${library}/update-link/`)).status, 403)
  })

  it('never acts as the owner of a library', async () => {
    const token = await personalToken(user, { permission: 'rw' })
    const detail = await token.get(`/api/v2.1/repos/${library}/`)
    assert.deepEqual([detail.body.permission, detail.body.is_admin], ['rw', false])
    const denied = [
      await token.delete(`/api2/repos/${library}/`),
      await token.delete(`/api/v2.1/repos/${library}/`),
      await token.delete(`/api/v2.1/repos/${library}/trash/`),
      await token.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } }),
      await token.post(`/api2/repos/${library}/?op=rename`, { form: { repo_name: 'Taken' } }),
    ]
    assert.deepEqual(
      denied.map(({ status }) => status),
      denied.map(() => 403),
    )
  })

  it('is revoked by a password change, by deactivation and with the account', async () => {
    const admin = await server.admin()
    const ways: ((email: string) => Promise<unknown>)[] = [
      (email) => admin.put(`/api/v2.1/admin/users/${email}/reset-password/`),
      (email) => admin.put(`/api/v2.1/admin/users/${email}/`, { form: { is_active: 'false' } }),
      (email) => admin.delete(`/api/v2.1/admin/users/${email}/`),
    ]
    for (const end of ways) {
      const someone = await server.signUp()
      const id = await someone.createLibrary()
      await uploadFile(someone, id, '/a.txt', 'a')
      const token = await personalToken(someone, { permission: 'r' })
      const link = (await token.get(`/api2/repos/${id}/file/`, { p: '/a.txt', reuse: 1 })).body
      assert.equal((await fetch(link)).status, 200)
      await end(someone.email)
      assert.equal((await token.get('/api2/auth/ping/')).status, 401)
      assert.equal((await fetch(link)).status, 403)
    }
  })

  it('does not tell its holder the name of a library that is no longer shared', async () => {
    const member = await server.signUp()
    const id = await user.createLibrary('Heron')
    await shareWith(user, id, member)
    await personalToken(member, { permission: 'r', repo_id: id })
    const listed = async () => {
      const { body } = await member.get('/api/v2.1/personal-tokens/')
      const [{ repo_id, repo_name }] = body.personal_tokens
      return [repo_id, repo_name]
    }
    assert.deepEqual(await listed(), [id, 'Heron'])
    await unshare(user, id, member)
    await user.post(`/api2/repos/${id}/`, { query: { op: 'rename' }, form: { repo_name: 'Secret' } })
    assert.deepEqual(await listed(), [id, null])
  })

  it('is not accepted in place of another kind of token', async () => {
    const token = await personalToken(user, { permission: 'rw', repo_id: library })
    const reply = await token.get('/api/v2.1/via-repo-token/repo-info/')
    assert.deepEqual([reply.status, reply.body], [401, { detail: 'Token inactive or deleted' }])
    const shouted = new Client(server.url, token.token?.toUpperCase())
    assert.equal((await shouted.get('/api2/auth/ping/')).status, 401)
  })
})

function send(link: string, filename: string, texts: Record<string, string> = {}) {
  const parts = Object.entries({ parent_dir: '/', ...texts })
  return postForm(link, [...parts, { filename, bytes: 'new' }])
}

async function content(client: Client, library: string, p: string): Promise<string> {
  const link = (await client.get(`/api2/repos/${library}/file/`, { p })).body
  return (await fetch(link)).text()
}

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'

const NOBODYS = '00000000-0000-4000-8000-000000000000'
let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('the download info for a sync client', () => {
  it('equals the response to the creation, with a new sync token each time', async () => {
    const form = { name: 'Plans', desc: 'What it is', passwd: 'a password' }
    const made = await ann.post('/api2/repos/', { form })
    const url = `/api2/repos/${made.body.repo_id}/download-info/`
    const tokens = new Set([made.body.token])
    for (const path of [url, url.slice(0, -1)]) {
      const { status, body } = await ann.get(path)
      assert.equal(status, 200)
      tokens.add(body.token)
      const { mtime_relative } = body
      assert.deepEqual(body, { ...made.body, token: body.token, mtime_relative })
      assert.match(body.token, /^[0-9a-f]{40}$/)
    }
    assert.equal(tokens.size, 3)
    for (const token of tokens) assert.ok(await server.running.services.syncTokens.authenticate(token))
  })

  it('marks a read-only library', async () => {
    const id = await ann.createLibrary()
    await makeReadOnly(server, id)
    assert.equal((await ann.get(`/api2/repos/${id}/download-info/`)).body.permission, 'r')
  })
})

describe('sync tokens for several libraries', () => {
  it('are issued for those the caller can read', async () => {
    const bob = await server.signUp()
    const [first, second] = [await ann.createLibrary(), await ann.createLibrary()]
    const bobs = await bob.createLibrary()
    const repos = [first, bobs, second, NOBODYS, first].join(',')
    for (const path of ['/api2/repo-tokens/', '/api2/repo-tokens']) {
      const { status, body } = await ann.get(path, { repos })
      assert.equal(status, 200)
      assert.deepEqual(Object.keys(body).sort(), [first, second].sort())
      for (const token of Object.values<string>(body)) {
        assert.match(token, /^[0-9a-f]{40}$/)
        assert.ok(await server.running.services.syncTokens.authenticate(token))
      }
    }
    assert.deepEqual((await ann.get('/api2/repo-tokens/', { repos: bobs })).body, {})
  })

  it('are issued for many at once', async () => {
    const repos = Array.from({ length: 300 }, () => randomUUID()).join(',')
    const reply = await ann.get(`/api2/repo-tokens/?repos=${repos}`)
    assert.deepEqual([reply.status, reply.body], [200, {}])
  })

  for (const [query, words] of [
    ['', 'You must specify libaries ids'],
    ['repos=', 'You must specify libaries ids'],
    ['repos=x', 'Libraries ids are invalid'],
    [`repos=${NOBODYS},`, 'Libraries ids are invalid'],
    [`repos=${NOBODYS},..`, 'Libraries ids are invalid'],
    [`repos=${NOBODYS.replaceAll('0', 'A')}`, 'Libraries ids are invalid'],
    ['repos=%00', 'Libraries ids are invalid'],
    ['repos=__proto__', 'Libraries ids are invalid'],
  ] as const) {
    it(`are rejected for "${query.slice(0, 40)}"`, async () => {
      const reply = await ann.get(`/api2/repo-tokens/?${query}`)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: words }])
    })
  }
})

describe('the password of a library', () => {
  const password = 'pässword & more'
  let plain: string
  let secret: { repo_id: string; magic: string }
  before(async () => {
    plain = await ann.createLibrary()
    secret = (await ann.post('/api2/repos/', { form: { name: 'Secret', passwd: password } })).body
  })

  for (const op of ['', '?op=setpassword']) {
    for (const encoding of ['form', 'multipart', 'json']) {
      it(`is verified by POST ${op} (${encoding})`, async () => {
        const url = `/api2/repos/${secret.repo_id}/${op}`
        const right = await ann.post(url, { [encoding]: { password } })
        assert.deepEqual([right.status, right.text], [200, '"success"'])
        const wrong = await ann.post(url, { [encoding]: { password: 'pässword' } })
        assert.deepEqual([wrong.status, wrong.body], [400, { error_msg: 'Incorrect password' }])
      })
    }
  }

  it('is required', async () => {
    for (const json of [{}, { password: '' }, { password: null }, { password: {} }]) {
      const reply = await ann.post(`/api2/repos/${secret.repo_id}/`, { json })
      assert.deepEqual([reply.status, reply.body], [440, { error_msg: 'Library password is needed.' }])
    }
  })

  it('is wrong if it cannot be a password', async () => {
    for (const sent of ['\u0000', '\ud800', `${password}\u0000`, 'x'.repeat(500_000)]) {
      const reply = await ann.post(`/api2/repos/${secret.repo_id}/`, { json: { password: sent } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'Incorrect password' }])
    }
  })

  it('is accepted unescaped, as rclone sends it', async () => {
    const made = await ann.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a b?c=d/100' } })
    const reply = await ann.post(`/api2/repos/${made.body.repo_id}/`, {
      raw: 'password=a b?c=d/100',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    assert.deepEqual([reply.status, reply.text], [200, '"success"'])
  })

  it('can be verified by its magic alone', async () => {
    const check = (magic?: string) =>
      ann.post(`/api2/repos/${secret.repo_id}/`, { query: { op: 'checkpassword', magic } })
    const right = await check(secret.magic)
    assert.deepEqual([right.status, right.text], [200, '"success"'])
    for (const magic of ['0'.repeat(64), 'x', '\u0000']) {
      const wrong = await check(magic)
      assert.deepEqual([wrong.status, wrong.body], [500, { error_msg: 'SearpcError:Incorrect password' }])
    }
    for (const magic of [undefined, '']) {
      const missing = await check(magic)
      const words = { error_msg: 'Library password magic is needed.' }
      assert.deepEqual([missing.status, missing.body], [441, words])
    }
  })

  it('does not exist for an unencrypted library', async () => {
    for (const query of [{}, { op: 'checkpassword', magic: secret.magic }]) {
      const reply = await ann.post(`/api2/repos/${plain}/`, { query, form: { password } })
      assert.deepEqual([reply.status, reply.body], [409, { error_msg: 'Repo is not encrypted' }])
    }
  })

  it('is not verified for accounts without access', async () => {
    const bob = await server.signUp()
    const set = await bob.post(`/api2/repos/${secret.repo_id}/`, { form: { password } })
    const words = { error_msg: 'You do not have permission to access this library.' }
    assert.deepEqual([set.status, set.body], [403, words])
    const query = { op: 'checkpassword', magic: secret.magic }
    const check = await bob.post(`/api2/repos/${secret.repo_id}/`, { query })
    assert.deepEqual([check.status, check.body], [403, { error_msg: 'Permission denied.' }])
    const unknown = await bob.post(`/api2/repos/${NOBODYS}/`, { form: { password } })
    assert.deepEqual([unknown.status, unknown.body], [404, { error_msg: 'Library not found.' }])
  })
})

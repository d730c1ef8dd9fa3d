import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Endpoint } from '../../src/platform/http/route.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { uploadFile } from '../support/transfer.ts'
import { openToReaders, openToWriters } from './scopes-support.ts'

type Permission = 'r' | 'rw' | 'upload'

const refused = { detail: 'You do not have permission to perform this action.' }
const operations = ['create', 'mkdir', 'rename', 'move', 'copy', 'lock', 'unlock', 'delete', 'revert']

// Every exception to "only routes of one library". Before adding to these lists, consider what a
// token for one library could do there.
const openToAll = [
  'DELETE /api/v2.1/repos/:repo_id/set-password/',
  'GET /api2/auth/ping/',
  'POST /api/v2.1/repos/:repo_id/set-password/',
  'POST /api2/logout-device/',
  'POST /api2/repos/:repo_id/',
]
/** Revokes the token of the request, and nothing else. */
const signOut = 'POST /api2/logout-device/'
const openToUploads = [
  'GET /api/v2.1/repos/:repo_id/file-uploaded-bytes/',
  'GET /api2/repos/:repo_id/upload-link/',
]
const besideLibraries = [
  'DELETE /api/v2.1/repos/batch-delete-item/',
  'GET /api/v2.1/repos/',
  'GET /api2/account/info/',
  'GET /api2/repos/',
  'GET /api2/search/',
  'POST /api/v2.1/repos/batch-create-dir/',
  'POST /api/v2.1/repos/batch-rename-item/',
  'POST /api/v2.1/repos/sync-batch-copy-item/',
  'POST /api/v2.1/repos/sync-batch-move-item/',
  'POST /api/v2.1/tool-calls/',
]
const readsByPosting = [
  'POST /api/v2.1/repos/:repo_id/trash/',
  'POST /api/v2.1/repos/:repo_id/zip-task/',
  'POST /api/v2.1/tool-calls/',
]

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const isOfLibrary = ({ path }: Endpoint) => path.includes('/repos/:repo_id/')

describe('scoped tokens, on every route', () => {
  let server: TestServer
  let user: Client
  let admin: Client
  let mine: string
  let other: string
  let endpoints: Endpoint[]
  before(async () => {
    // The clock stands still, so that library listings are equal.
    server = await startServer({ now: () => 1_754_000_000 })
    user = await server.signUp()
    admin = await server.admin()
    mine = await user.createLibrary('Mine')
    other = await user.createLibrary('Other')
    for (const library of [mine, other]) await uploadFile(user, library, '/a.txt', 'a')
    // test/webdav/scopes.test.ts has those of WebDAV, which take tokens in another header.
    const isOurs = ({ auth }: Endpoint) => auth === 'user' || auth === 'admin'
    endpoints = server.running.endpoints.filter(isOurs)
  })
  after(() => server[Symbol.asyncDispose]())

  const state = async () => {
    const libraries = (await user.get('/api2/repos/')).text
    const deleted = (await user.get('/api/v2.1/deleted-repos/')).text
    const listings = await Promise.all(
      [mine, other].map((id) => user.get(`/api/v2.1/repos/${id}/dir/`, { recursive: 1 })),
    )
    const account = (await user.get('/api/v2.1/user/')).text
    const tokens = (await user.get('/api/v2.1/personal-tokens/')).body.personal_tokens.length
    return JSON.stringify([libraries, deleted, listings.map(({ text }) => text), account, tokens])
  }

  /** Calls a route about a library with every parameter that any route needs. */
  const call = (client: Client, { method, path }: Endpoint, library: string, operation: string) => {
    const concrete = path
      .replace(':repo_id', library)
      .replace(':email', user.email)
      .replace(':id', '1')
      .replace(/:(?:commit_id|file_id|block_id)/g, '0'.repeat(40))
      .replace(/:\w+/g, 'x')
    const fields = {
      p: '/a.txt',
      path: '/a.txt',
      parent_dir: '/',
      file_name: 'a.txt',
      dirents: ['a.txt'],
      file_names: 'a.txt',
      operation,
      op: operation,
      name: 'changed',
      newname: 'changed.txt',
      repo_name: 'changed',
      repo_id: library,
      src_repo_id: library,
      dst_repo_id: library,
      dst_repo: library,
      dst_dir: '/',
      src_parent_dir: '/',
      dst_parent_dir: '/',
      src_dirents: ['a.txt'],
      src_dirent_name: 'a.txt',
      commit_id: '0'.repeat(40),
      keep_days: 0,
      owner: admin.email,
      paths: ['/made'],
      permission: 'rw',
      app_name: 'app',
      email: user.email,
      password: 'changed by a token',
      old_password: 'a long password',
      new_password: 'changed by a token',
      q: 'a',
    }
    const query = { p: '/a.txt', path: '/a.txt', parent_dir: '/', file_name: 'a.txt', op: operation }
    return client.call(method, concrete, method === 'GET' ? { query } : { query, json: fields })
  }

  const admits = ({ scope }: Endpoint, permission: Permission) => {
    if (scope === 'any') return true
    if (scope === 'none') return false
    if (permission === 'rw') return true
    return permission === 'r' ? scope === 'read' : scope === 'upload'
  }

  it('are accepted only on the routes of this list', () => {
    const names = (wanted: (endpoint: Endpoint) => boolean) => endpoints.filter(wanted).map(nameOf).toSorted()
    assert.deepEqual(
      names(({ scope }) => scope === 'read'),
      openToReaders,
    )
    assert.deepEqual(
      names(({ scope }) => scope === 'write'),
      openToWriters,
    )
    assert.deepEqual(
      names(({ scope }) => scope === 'any'),
      openToAll,
    )
    assert.deepEqual(
      names(({ scope }) => scope === 'upload'),
      openToUploads,
    )
    const open = (endpoint: Endpoint) => endpoint.scope !== 'none' && endpoint.scope !== 'any'
    assert.deepEqual(
      names((endpoint) => open(endpoint) && !isOfLibrary(endpoint)),
      besideLibraries,
    )
    assert.deepEqual(
      names(({ scope, method }) => scope === 'read' && method !== 'GET'),
      readsByPosting,
    )
    assert.deepEqual(
      names(({ auth, scope }) => auth === 'admin' && scope !== 'none'),
      [],
    )
  })

  for (const permission of ['r', 'rw', 'upload'] as const) {
    it(`with permission ${permission} are rejected on all others, even an administrator's`, async () => {
      for (const [owner, library] of [
        [user, mine],
        [admin, await admin.createLibrary()],
      ] as const) {
        const token = await personalToken(owner, { permission })
        const before = await state()
        for (const endpoint of endpoints) {
          if (admits(endpoint, permission)) continue
          const reply = await call(token, endpoint, library, 'rename')
          assert.deepEqual([reply.status, reply.body], [403, refused], nameOf(endpoint))
        }
        assert.equal(await state(), before)
      }
    })
  }

  it('change nothing with read permission', async () => {
    const token = await personalToken(user, { permission: 'r' })
    const before = await state()
    for (const endpoint of endpoints) {
      if (endpoint.method === 'GET' || nameOf(endpoint) === signOut) continue
      for (const operation of operations) {
        const reply = await call(token, endpoint, mine, operation)
        const isHarmless = [...readsByPosting, ...openToAll].includes(nameOf(endpoint))
        if (!isHarmless) assert.equal(reply.status, 403, nameOf(endpoint))
      }
    }
    assert.equal(await state(), before)
  })

  for (const permission of ['r', 'rw', 'upload'] as const) {
    it(`with permission ${permission} for one library are rejected for another`, async () => {
      const token = await personalToken(user, { permission, repo_id: mine })
      const before = await state()
      for (const endpoint of endpoints) {
        if (!admits(endpoint, permission) || nameOf(endpoint) === signOut) continue
        const isAboutLibraries = isOfLibrary(endpoint) || endpoint.method !== 'GET'
        for (const operation of endpoint.method === 'GET' ? ['x'] : operations) {
          const reply = await call(token, endpoint, other, operation)
          if (isAboutLibraries && reply.text !== '"unsupported operation"') {
            assert.ok([400, 403, 404].includes(reply.status), `${nameOf(endpoint)} ${reply.status}`)
          }
          assert.ok(!reply.text.includes(other) || reply.status >= 400, nameOf(endpoint))
        }
      }
      assert.equal(await state(), before)
    })
  }

  it('for one library reach no other, as source or as target', async () => {
    const token = await personalToken(user, { permission: 'rw', repo_id: mine })
    const before = await state()
    const moves: [from: string, to: string][] = [
      [mine, other],
      [other, mine],
      [other, other],
    ]
    for (const [from, to] of moves) {
      const batch = {
        src_repo_id: from,
        src_parent_dir: '/',
        src_dirents: ['a.txt'],
        dst_repo_id: to,
        dst_parent_dir: '/',
      }
      for (const kind of ['copy', 'move']) {
        const path = `/api/v2.1/repos/sync-batch-${kind}-item/`
        const reply = await token.post(path, { json: batch })
        assert.deepEqual([reply.status, reply.body], [403, { error_msg: 'Permission denied.' }])
        const json = { operation: kind, dst_repo: to, dst_dir: '/' }
        for (const api of ['/api2', '/api/v2.1']) {
          const one = await token.post(`${api}/repos/${from}/file/?p=/a.txt`, { json })
          assert.equal(one.status, 403, `${api} ${kind} ${one.text}`)
        }
        const fileops = { file_names: 'a.txt', dst_repo: to, dst_dir: '/' }
        const older = await token.post(`/api2/repos/${from}/fileops/${kind}/?p=/`, { form: fileops })
        assert.ok(older.status === 403 || from === to, older.text)
      }
    }
    assert.equal(await state(), before)
  })

  it('list only the library they are for', async () => {
    const token = await personalToken(user, { permission: 'r', repo_id: mine })
    const ids = async (client: Client) => [
      (await client.get('/api2/repos/')).body.map(({ id }: { id: string }) => id).sort(),
      (await client.get('/api/v2.1/repos/')).body.repos.map((one: { repo_id: string }) => one.repo_id).sort(),
    ]
    assert.deepEqual(await ids(token), [[mine], [mine]])
    const all = await personalToken(user, { permission: 'r' })
    assert.deepEqual(await ids(all), await ids(user))
  })
})

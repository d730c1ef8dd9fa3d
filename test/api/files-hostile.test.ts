import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertReply, Workspace } from './folders-support.ts'

/** Half of the levels of the deepest folder. */
const DEPTH = 2000

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `<id>` stands for the library. */
  readonly path: string
  /** Parameters of the query and of the body that contain a path or a name. */
  readonly query?: readonly string[]
  readonly body?: readonly string[]
  /** Other required fields of the body. */
  readonly form?: Readonly<Record<string, string>>
}

const v2 = '/api2/repos/<id>'
const v21 = '/api/v2.1/repos/<id>'
const destination = { dst_repo: '<id>', dst_dir: '/docs' }

const endpoints: readonly Endpoint[] = [
  { method: 'GET', path: `${v2}/dir/`, query: ['p', 'oid', 't', 'recursive'] },
  { method: 'POST', path: `${v2}/dir/`, query: ['p'], form: { operation: 'mkdir' } },
  { method: 'POST', path: `${v2}/dir/`, query: ['p'], form: { operation: 'mkdir', create_parents: '1' } },
  { method: 'POST', path: `${v2}/dir/?p=/docs`, body: ['newname'], form: { operation: 'rename' } },
  { method: 'POST', path: `${v2}/dir/?p=/docs`, body: ['operation'] },
  { method: 'DELETE', path: `${v2}/dir/`, query: ['p'] },
  { method: 'GET', path: `${v2}/dir/metadata/`, query: ['p'] },
  { method: 'GET', path: `${v2}/file/`, query: ['p', 'reuse', 'op'] },
  { method: 'GET', path: `${v2}/file/detail/`, query: ['p', 'commit_id'] },
  { method: 'GET', path: `${v2}/file/metadata/`, query: ['p'] },
  { method: 'DELETE', path: `${v2}/file/`, query: ['p'] },
  { method: 'PUT', path: `${v2}/file/`, body: ['p', 'expire'], form: { operation: 'lock' } },
  { method: 'POST', path: `${v2}/file/`, query: ['p'], form: { operation: 'create' } },
  { method: 'POST', path: `${v2}/file/`, query: ['p'], form: { operation: 'rename', newname: 'n' } },
  { method: 'POST', path: `${v2}/file/?p=/a`, body: ['newname'], form: { operation: 'rename' } },
  { method: 'POST', path: `${v2}/file/`, query: ['p'], form: { operation: 'move', ...destination } },
  { method: 'POST', path: `${v2}/file/`, query: ['p'], form: { operation: 'copy', ...destination } },
  {
    method: 'POST',
    path: `${v2}/file/?p=/a`,
    body: ['dst_dir', 'dst_repo'],
    form: { operation: 'move', ...destination },
  },
  { method: 'GET', path: `${v21}/dir/`, query: ['p', 'with_parents', 'thumbnail_size'] },
  { method: 'POST', path: `${v21}/dir/`, query: ['p'], form: { operation: 'mkdir' } },
  { method: 'POST', path: `${v21}/dir/?p=/docs`, body: ['newname'], form: { operation: 'rename' } },
  { method: 'DELETE', path: `${v21}/dir/`, query: ['p'] },
  { method: 'GET', path: `${v21}/dir/detail/`, query: ['path'] },
  { method: 'POST', path: '/api/v2.1/repos/batch-create-dir/', body: ['repo_id'], form: { paths: '/x' } },
  { method: 'POST', path: '/api/v2.1/repos/batch-create-dir/', body: ['paths'], form: { repo_id: '<id>' } },
  { method: 'GET', path: `${v21}/file/`, query: ['p'] },
  { method: 'PUT', path: `${v21}/file/`, query: ['p'], form: { operation: 'lock' } },
  { method: 'PUT', path: `${v21}/file/?p=/a`, body: ['expire', 'operation'], form: { operation: 'lock' } },
  { method: 'DELETE', path: `${v21}/file/`, query: ['p'] },
  { method: 'POST', path: `${v21}/file/`, query: ['p'], form: { operation: 'create' } },
  { method: 'POST', path: `${v21}/file/?p=/a`, body: ['newname'], form: { operation: 'rename' } },
  {
    method: 'POST',
    path: `${v21}/file/?p=/a`,
    body: ['dst_dir', 'dst_repo'],
    form: { operation: 'copy', ...destination },
  },
  { method: 'GET', path: '/api/v2.1/smart-link/?repo_id=<id>&is_dir=true', query: ['path'] },
  { method: 'GET', path: '/api/v2.1/smart-link/?path=/&is_dir=true', query: ['repo_id'] },
  { method: 'POST', path: '/api/v2.1/starred-items/', body: ['path'], form: { repo_id: '<id>' } },
  { method: 'POST', path: '/api/v2.1/starred-items/', body: ['repo_id'], form: { path: '/a' } },
  { method: 'DELETE', path: '/api/v2.1/starred-items/?repo_id=<id>', query: ['path'] },
  { method: 'POST', path: '/api2/starredfiles/', body: ['p'], form: { repo_id: '<id>' } },
  { method: 'DELETE', path: '/api2/starredfiles/?repo_id=<id>', query: ['p'] },
]

/** Percent-encoded, so that bytes that are not valid text can be sent. */
const hostile: readonly string[] = [
  '%00',
  '/a%00b',
  '/%ff%fe',
  '/%ED%A0%80',
  '/..',
  '/../..',
  '/a/../../b',
  '/.',
  '/x%5C..%5Cy',
  `/${'x'.repeat(256)}`,
  `/${'%C3%A4'.repeat(128)}`,
  '/s'.repeat(7000),
  '/__proto__/x%00',
  '/%01',
]

const notTexts: readonly unknown[] = [
  null,
  {},
  [],
  [[]],
  [{}],
  { toString: 'x' },
  ['/x\0', '/y\0'],
  '\0',
  '\ud800',
]

describe('folder and file calls', () => {
  let server: TestServer
  let space: Workspace
  before(async () => {
    server = await startServer()
    space = await Workspace.make(server)
    await space.folder('/docs')
    await space.file('/a')
  })
  after(async () => server[Symbol.asyncDispose]())

  const fill = (text: string) => text.replaceAll('<id>', space.id)
  const joined = (path: string, pair: string) => `${path}${path.includes('?') ? '&' : '?'}${pair}`
  // The message for a core failure, which some older calls return for a missing entry.
  const isRefusal = (status: number) => (status >= 400 && status < 500) || status === 520

  it('reject invalid text, and change nothing', async () => {
    const head = await space.head()
    for (const endpoint of endpoints) {
      const path = fill(endpoint.path)
      const form = Object.entries(endpoint.form ?? {})
      const pairs = form.map(([name, value]) => `${name}=${encodeURIComponent(fill(value))}`)
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      for (const value of hostile) {
        for (const name of endpoint.query ?? []) {
          const raw = endpoint.method === 'GET' ? {} : { raw: pairs.join('&'), headers }
          const reply = await space.client.call(endpoint.method, joined(path, `${name}=${value}`), raw)
          const label = `${endpoint.method} ${path} ${name}=${value.slice(0, 40)}: ${reply.status} ${reply.text.slice(0, 80)}`
          assert.ok(reply.status < 500 || reply.status === 520, label)
          // Deleting a missing entry succeeds. No client has a cached listing of such a folder.
          const fine = endpoint.method === 'DELETE' || name === 'oid'
          assert.ok(isRefusal(reply.status) || (fine && reply.status === 200), label)
        }
        for (const name of endpoint.body ?? []) {
          const others = pairs.filter((pair) => !pair.startsWith(`${name}=`))
          const raw = [...others, `${name}=${value}`].join('&')
          const reply = await space.client.call(endpoint.method, path, { raw, headers })
          const label = `${endpoint.method} ${path} ${name}=${value.slice(0, 40)}: ${reply.status} ${reply.text.slice(0, 80)}`
          // In a batch each folder is rejected separately.
          assert.ok(isRefusal(reply.status) || (name === 'paths' && reply.body.success.length === 0), label)
        }
      }
    }
    assert.equal(await space.head(), head)
  })

  it('read and change entries thousands of levels deep', async () => {
    const deep = await Workspace.make(server, space.client)
    // No single call creates such a folder, but copies of deep folders into deep folders do.
    await deep.folder('/d'.repeat(DEPTH))
    for (let copies = 0; copies < 2; copies++) {
      const form = { operation: 'copy', dst_repo: deep.id, dst_dir: '/d'.repeat(DEPTH) }
      await deep.folder('/e')
      const moved = await deep.client.post(deep.v2('file/'), { query: { p: '/e' }, form })
      assert.equal(moved.status, 200, moved.text)
    }
    const up = { operation: 'move', dst_repo: deep.id, dst_dir: '/f' }
    await deep.folder('/f')
    assert.equal((await deep.client.post(deep.v2('file/'), { query: { p: '/d' }, form: up })).status, 301)
    await deep.folder('/d'.repeat(DEPTH))
    const down = { operation: 'move', dst_repo: deep.id, dst_dir: '/d'.repeat(DEPTH) }
    assert.equal((await deep.client.post(deep.v2('file/'), { query: { p: '/f/d' }, form: down })).status, 301)
    const bottom = '/d'.repeat(2 * DEPTH)
    await deep.file(`${bottom}/file`)
    assert.deepEqual(await deep.names(bottom), ['e', 'e (1)', 'file'])
    assert.equal((await deep.client.get(deep.v2('file/detail/'), { p: `${bottom}/file` })).status, 200)
  })

  it('reject JSON values that are not strings, and change nothing', async () => {
    const head = await space.head()
    for (const endpoint of endpoints) {
      for (const name of endpoint.body ?? []) {
        const rest = Object.entries(endpoint.form ?? {}).map(([key, value]) => [key, fill(value)])
        for (const value of notTexts) {
          const json = { ...Object.fromEntries(rest), __proto__: { p: '/a' }, [name]: value }
          const reply = await space.client.call(endpoint.method, fill(endpoint.path), { json })
          const label = `${endpoint.method} ${endpoint.path} ${JSON.stringify(json)}: ${reply.status} ${reply.text}`
          const missing = name === 'expire' && ['null', '[]'].includes(JSON.stringify(value))
          assert.ok(
            isRefusal(reply.status) || missing || (name === 'paths' && reply.body.success.length === 0),
            label,
          )
        }
      }
      if (endpoint.method === 'GET') continue
      const broken = { raw: '{"p":', headers: { 'Content-Type': 'application/json' } }
      const reply = await space.client.call(endpoint.method, fill(endpoint.path), broken)
      assert.equal(reply.status, 400, `${endpoint.method} ${endpoint.path} ${reply.text}`)
    }
    await space.client.put(space.v2('file/'), { form: { p: '/a', operation: 'unlock' } })
    assert.equal(await space.head(), head)
  })

  it('require credentials: 403 without, 401 with wrong ones', async () => {
    const wrong = new Client(server.url, 'f'.repeat(40))
    for (const { method, path } of endpoints) {
      const none = await server.anonymous.call(method, fill(path))
      assertReply(none, 403, { detail: 'Authentication credentials were not provided.' }, path)
      assertReply(await wrong.call(method, fill(path)), 401, { detail: 'Invalid token' }, path)
    }
  })

  it('reveal nothing to an account without access: the response does not depend on the content', async () => {
    const stranger = await server.signUp()
    for (const { method, path, query, body, form } of endpoints) {
      if (!path.includes('<id>') && form?.['repo_id'] === undefined) continue
      const answers = await Promise.all(
        ['/a', '/docs', '/nowhere'].map(async (value) => {
          const values = Object.entries(form ?? {}).map(([key, text]) => [key, fill(text)])
          const sent = { ...Object.fromEntries(values), ...(body && { [body[0] ?? '']: value }) }
          const target = query === undefined ? fill(path) : joined(fill(path), `${query[0]}=${value}`)
          const reply = await stranger.call(method, target, method === 'GET' ? {} : { form: sent })
          return [reply.status, reply.text.replaceAll(value, '')]
        }),
      )
      const [first] = answers
      const label = `${method} ${path} ${JSON.stringify(answers)}`
      for (const one of answers) assert.deepEqual(one, first, label)
      const refused = first?.[0] === 403 || (method === 'DELETE' && path.includes('starred'))
      assert.ok(refused || first?.[0] === 400, label)
    }
  })

  it('accept every encoding of a body, with and without a trailing slash of the path', async () => {
    let count = 0
    for (const [url, values, status] of [
      [space.v2('dir/'), { operation: 'mkdir' }, 201],
      [space.v2('file/'), { operation: 'create' }, 201],
      [space.v21('dir/'), { operation: 'mkdir' }, 200],
      [space.v21('file/'), { operation: 'create' }, 200],
    ] as const) {
      for (const encoding of ['form', 'multipart', 'json'] as const) {
        for (const path of [url, url.slice(0, -1)]) {
          const name = `entry ${++count}`
          const reply = await space.client.post(path, { query: { p: `/docs/${name}` }, [encoding]: values })
          assert.equal(reply.status, status, `${path} ${encoding} ${reply.text}`)
          assert.ok((await space.names('/docs')).includes(name))
        }
      }
    }
    for (const encoding of ['form', 'multipart', 'json'] as const) {
      const starred = await space.client.post('/api2/starredfiles', {
        [encoding]: { repo_id: space.id, p: '/a' },
      })
      assert.equal(starred.status, 201)
      const item = await space.client.post('/api/v2.1/starred-items', {
        [encoding]: { repo_id: space.id, path: '/a' },
      })
      assert.equal(item.status, 200)
      for (const operation of ['lock', 'unlock']) {
        const locked = await space.client.put(space.v2('file'), { [encoding]: { p: '/a', operation } })
        assertReply(locked, 200, 'success')
        const newer = await space.client.put(space.v21('file'), {
          query: { p: '/a' },
          [encoding]: { operation },
        })
        assert.equal(newer.body.error_msg, operation === 'lock' ? 'File is locked' : 'File is not locked.')
      }
      const made = await space.client.post('/api/v2.1/repos/batch-create-dir', {
        [encoding]: { repo_id: space.id, paths: [`/${encoding}/1`, `/${encoding}/2`] },
      })
      assert.equal(made.body.success.length, 2)
    }
    for (const path of ['dir', 'dir/metadata']) {
      assert.equal((await space.client.get(space.v2(path))).status, 200)
    }
    for (const path of ['file', 'file/detail', 'file/metadata']) {
      assert.equal((await space.client.get(space.v2(path), { p: '/a' })).status, 200)
    }
  })

  it('use the last of several values, and answer HEAD like GET', async () => {
    const twice = await space.client.get(`${space.v2('file/metadata/')}?p=/none&p=/a`)
    assert.equal(twice.status, 200)
    const head = await space.client.call('HEAD', space.v2('dir/'))
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('oid')?.length, 40)
    assert.equal(head.text, '')
    const recursive = await space.client.call('HEAD', space.v2('dir/'), { query: { recursive: 1 } })
    assert.equal(recursive.status, 200)
    const patch = await space.client.call('PATCH', space.v2('dir/'))
    assertReply(patch, 405, { detail: 'Method "PATCH" not allowed.' })
  })
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import {
  archiveFiles,
  archiveOf,
  fetchArchive,
  holdContent,
  progressOf,
  putSynced,
  startArchive,
  waitForArchive,
} from '../support/archives.ts'
import type { CallOptions, Client } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openLibrary, storeFile } from '../support/stored-files.ts'
import { readZip, unzip } from '../support/zip-reader.ts'

const MTIME = 1_600_000_000
const DAY = Date.UTC(2026, 10, 5) / 1000
const text = Buffer.from('The quick brown fox jumps over the lazy dog.\n'.repeat(3000))
const large = randomBytes(5 * 2 ** 20 + 3)
const largeText = Buffer.alloc(7 * 2 ** 20 + 1, 'a line of a log file\n')

let server: TestServer
let client: Client
let library: string
let now = DAY

before(async () => {
  server = await startServer({ now: () => now })
  client = await server.signUp()
  library = await client.createLibrary()
  const content = contentOf(server, client, library)
  for (const folder of ['/docs', '/docs/deep', '/docs/void', '/other', '/void', '/v1.2'])
    await content.addFolder(folder)
  const put = (path: string, bytes: Buffer) => storeFile(server, client, library, path, bytes, MTIME)
  await put('/docs/a.txt', text)
  await put('/docs/deep/large.bin', large)
  await put('/docs/deep/large.log', largeText)
  await put('/docs/nothing', Buffer.alloc(0))
  await put('/other/a.txt', Buffer.from('other'))
  await put('/grüße 🎉.txt', Buffer.from('hello'))
})
after(() => server[Symbol.asyncDispose]())

const docs = (top: string) =>
  new Map<string, Buffer | null>([
    [`${top}a.txt`, text],
    [`${top}deep/large.bin`, large],
    [`${top}deep/large.log`, largeText],
    [`${top}nothing`, Buffer.alloc(0)],
    [`${top}void/`, null],
  ])

describe('an archive', () => {
  it('of one folder has a top folder of that name', async () => {
    assert.deepEqual(await archiveOf(server, client, library, '/', ['docs']), docs('docs/'))
  })

  it('of several items has each at its top', async () => {
    const zip = await archiveOf(server, client, library, '/docs', ['a.txt', 'deep', 'nothing', 'void'])
    assert.deepEqual(zip, docs(''))
  })

  it('may contain a single file', async () => {
    const zip = await archiveOf(server, client, library, '/', ['grüße 🎉.txt'])
    assert.deepEqual(zip, new Map([['grüße 🎉.txt', Buffer.from('hello')]]))
  })

  it('numbers equal names', async () => {
    const zip = await archiveOf(server, client, library, '/', ['docs/a.txt', 'other/a.txt', 'v1.2'])
    assert.deepEqual([...zip.keys()], ['a.txt', 'a (1).txt', 'v1.2/'])
    assert.deepEqual(zip.get('a (1).txt'), Buffer.from('other'))
  })

  it('contains an item once that is named twice, with or without slashes', async () => {
    const zip = await archiveOf(server, client, library, '/', ['/other/', 'other'])
    assert.deepEqual([...zip.keys()], ['other/a.txt'])
  })

  it('of empty folders only is finished at 0 of 0', async () => {
    const token = await startArchive(client, library, '/', ['void', 'docs/void'])
    assert.deepEqual(await waitForArchive(client, token), {
      zipped: 0,
      total: 0,
      failed: 0,
      failed_reason: '',
      canceled: 0,
    })
    const response = await fetchArchive(server, token)
    assert.deepEqual([...unzip(Buffer.from(await response.arrayBuffer())).keys()], ['void/', 'void (1)/'])
  })

  it('counts files, and returns only the documented fields', async () => {
    const token = await startArchive(client, library, '/', ['docs'])
    const counts = { zipped: 4, total: 4, failed: 0, failed_reason: '', canceled: 0 }
    assert.deepEqual(await waitForArchive(client, token), counts)
    assert.deepEqual(await progressOf(server.anonymous, token), counts, 'and again, without signing in')
  })

  it('keeps times and sets the executable bit only where it was set', async () => {
    const opened = await openLibrary(server, client, library)
    const entry = await opened.tree.find('/other/a.txt' as never)
    const other = await client.createLibrary('Modes')
    const id = await storeFile(server, client, other, '/plain', Buffer.from('other'), MTIME)
    assert.equal(entry?.id, id)
    await putSynced(server, client, other, [
      { id, name: 'run', mode: 0o100755, mtime: MTIME },
      { id, name: 'link', mode: 0o120777, mtime: MTIME },
      { id, name: 'setuid', mode: 0o104644, mtime: MTIME },
    ])
    const token = await startArchive(client, other, '/', ['plain', 'run', 'link', 'setuid'])
    await waitForArchive(client, token)
    const bytes = Buffer.from(await (await fetchArchive(server, token)).arrayBuffer())
    const { entries } = readZip(bytes.length, (at, length) => bytes.subarray(at, at + length))
    assert.deepEqual(
      entries.map(({ name, mode, mtime }) => [name, mode, mtime]),
      [
        ['plain', 0o100644, MTIME],
        ['run', 0o100755, MTIME],
        ['link', 0o100755, MTIME],
        ['setuid', 0o100644, MTIME],
      ],
    )
  })

  it('sanitizes names of synced trees', async () => {
    const other = await client.createLibrary('Hostile')
    await contentOf(server, client, other).addFolder('/dir')
    const id = await storeFile(server, client, other, '/a_b', Buffer.from('x'))
    const names = ['..\\..\\evil', 'a\\b', 'a\nb', 'C:evil']
    await putSynced(
      server,
      client,
      other,
      names.map((name) => ({ id, name })),
    )
    const roots = await archiveOf(server, client, other, '/', ['a_b', 'a\\b', 'C:evil'])
    assert.deepEqual([...roots.keys()], ['a_b', 'a_b (1)', 'C_evil'])
  })

  it('contains the tree as of the request', async (t) => {
    const other = await client.createLibrary('Changing')
    await storeFile(server, client, other, '/dir.txt', Buffer.from('one'))
    await storeFile(server, client, other, '/more', Buffer.from('two'))
    const held = holdContent(t, server)
    const token = await startArchive(client, other, '/', ['dir.txt', 'more'])
    await storeFile(server, client, other, '/dir.txt', Buffer.from('changed'))
    await contentOf(server, client, other).remove('/more')
    held.open()
    await waitForArchive(client, token)
    const bytes = Buffer.from(await (await fetchArchive(server, token)).arrayBuffer())
    assert.deepEqual(
      unzip(bytes),
      new Map([
        ['dir.txt', Buffer.from('one')],
        ['more', Buffer.from('two')],
      ]),
    )
  })

  it('leaves no other file in its folder', async () => {
    const before = await archiveFiles(server)
    const token = await startArchive(client, library, '/', ['docs'])
    await waitForArchive(client, token)
    const added = (await archiveFiles(server)).filter((name) => !before.includes(name))
    assert.equal(added.length, 1)
    assert.ok(!added[0]?.includes(token), 'and the name of its file does not reveal its token')
  })
})

describe('requesting an archive', () => {
  const forms: [string, (path: string) => Promise<{ status: number; body: { zip_token: string } }>][] = [
    ['urlencoded', (path) => client.post(path, { form: { parent_dir: '/', dirents: ['docs', 'other'] } })],
    [
      'multipart',
      (path) => client.post(path, { multipart: { parent_dir: '/', dirents: ['docs', 'other'] } }),
    ],
    ['JSON', (path) => client.post(path, { json: { parent_dir: '/', dirents: ['docs', 'other'] } })],
    ['a query', (path) => client.get(path, { parent_dir: '/', dirents: ['docs', 'other'] })],
  ]
  for (const [form, ask] of forms) {
    for (const slash of ['', '/']) {
      it(`works with ${form}, ${slash ? 'with' : 'without'} a trailing slash`, async () => {
        const reply = await ask(`/api/v2.1/repos/${library}/zip-task${slash}`)
        assert.equal(reply.status, 200)
        assert.deepEqual(Object.keys(reply.body), ['zip_token'])
        assert.match(reply.body.zip_token, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
        assert.equal((await waitForArchive(client, reply.body.zip_token)).total, 5)
      })
    }
  }

  const unknown = '11111111-2222-4333-8444-555555555555'
  const faults: [string, CallOptions, number, string][] = [
    ['no folder', { form: { dirents: 'docs' } }, 400, 'parent_dir invalid.'],
    ['an empty folder text', { form: { parent_dir: '', dirents: 'docs' } }, 400, 'parent_dir invalid.'],
    ['no names', { form: { parent_dir: '/' } }, 400, 'dirents invalid.'],
    ['an empty name', { form: { parent_dir: '/', dirents: ['docs', ''] } }, 400, 'dirents invalid.'],
    ['a name of slashes', { form: { parent_dir: '/', dirents: '//' } }, 400, 'dirents invalid.'],
    ['no names in JSON', { json: { parent_dir: '/', dirents: [] } }, 400, 'dirents invalid.'],
    ['a name that is none', { json: { parent_dir: '/', dirents: ['docs', {}] } }, 400, 'dirents invalid.'],
    ['names in an object', { json: { parent_dir: '/', dirents: { a: 1 } } }, 400, 'dirents invalid.'],
    ['a name with NUL', { json: { parent_dir: '/', dirents: ['do\0cs'] } }, 400, 'dirents invalid.'],
    ['an unpaired surrogate', { json: { parent_dir: '/', dirents: ['\ud800'] } }, 400, 'dirents invalid.'],
    ['an unknown folder', { form: { parent_dir: '/nope', dirents: 'a' } }, 404, 'Folder /nope not found.'],
    [
      'a file as the folder',
      { form: { parent_dir: '/docs/a.txt', dirents: 'a' } },
      404,
      'Folder /docs/a.txt not found.',
    ],
    ['an invalid folder', { form: { parent_dir: '/../x', dirents: 'a' } }, 404, 'Folder /../x not found.'],
    ['an unknown name', { form: { parent_dir: '/docs', dirents: 'b' } }, 404, 'Folder /docs/b not found.'],
    [
      'a name that leaves the folder',
      { form: { parent_dir: '/docs', dirents: '../other' } },
      404,
      'Folder /docs/../other not found.',
    ],
    [
      'one unknown name of several',
      { form: { parent_dir: '/', dirents: ['docs', 'nope'] } },
      404,
      'nope not found.',
    ],
    [
      'one of several that leaves the folder',
      { form: { parent_dir: '/', dirents: ['docs', '..'] } },
      404,
      '.. not found.',
    ],
    [
      'a very long name',
      { form: { parent_dir: '/', dirents: 'x'.repeat(20_000) } },
      404,
      `Folder /${'x'.repeat(20_000)} not found.`,
    ],
    [
      'a very deep name',
      { form: { parent_dir: '/', dirents: 'x/'.repeat(8000) } },
      404,
      `Folder /${'x/'.repeat(7999)}x not found.`,
    ],
    [
      'the name of an object property',
      { form: { parent_dir: '/', dirents: '__proto__' } },
      404,
      'Folder /__proto__ not found.',
    ],
  ]
  for (const [what, options, status, message] of faults) {
    it(`with ${what} is rejected`, async () => {
      const reply = await client.post(`/api/v2.1/repos/${library}/zip-task/`, options)
      assert.equal(reply.status, status, reply.text.slice(0, 200))
      assert.ok(reply.body.error_msg === message, reply.text.slice(0, 200))
      // A form of this length does not fit into a URL.
      if (options.form === undefined || message.length > 1000) return
      const older = await client.get(`/api/v2.1/repos/${library}/zip-task/`, options.form)
      assert.deepEqual([older.status, older.body], [status, { error_msg: message }])
    })
  }

  it('of an unknown library or one without access is rejected', async () => {
    const form = { parent_dir: '/', dirents: 'docs' }
    const missing = await client.post(`/api/v2.1/repos/${unknown}/zip-task/`, { form })
    assert.deepEqual([missing.status, missing.body], [404, { error_msg: `Library ${unknown} not found.` }])
    const stranger = await server.signUp()
    for (const dirents of ['docs', 'nope']) {
      const denied = await stranger.post(`/api/v2.1/repos/${library}/zip-task/`, {
        form: { ...form, dirents },
      })
      assert.deepEqual([denied.status, denied.body], [403, { error_msg: 'Permission denied.' }])
    }
    const nobody = await server.anonymous.post(`/api/v2.1/repos/${library}/zip-task/`, { form })
    assert.equal(nobody.status, 403)
    assert.equal(nobody.body.detail, 'Authentication credentials were not provided.')
    const wrong = await server.anonymous.post(`/api/v2.1/repos/${library}/zip-task/`, {
      form,
      headers: { Authorization: `Token ${'0'.repeat(40)}` },
    })
    assert.equal(wrong.status, 401)
  })

  it('of a locked encrypted library is rejected', async () => {
    const made = await client.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a password' } })
    const id = made.body.repo_id
    await contentOf(server, client, id).addFolder('/dir')
    const reply = await client.post(`/api/v2.1/repos/${id}/zip-task/`, {
      form: { parent_dir: '/', dirents: 'dir' },
    })
    assert.deepEqual(
      [reply.status, reply.body],
      [400, { error_msg: 'Repo is encrypted. Please provide password to view it.' }],
    )
  })
})

describe('downloading an archive', () => {
  let token: string
  let whole: Buffer
  before(async () => {
    token = await startArchive(client, library, '/', ['docs', 'other'])
    await waitForArchive(client, token)
    whole = Buffer.from(await (await fetchArchive(server, token)).arrayBuffer())
  })

  it('returns its length, type and name, any number of times', async () => {
    for (const method of ['GET', 'HEAD', 'GET']) {
      const response = await fetchArchive(server, token, { method })
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'application/zip')
      assert.equal(response.headers.get('content-length'), String(whole.length))
      assert.equal(response.headers.get('accept-ranges'), 'bytes')
      assert.equal(
        response.headers.get('content-disposition'),
        `attachment;filename*=utf-8''documents-export-2026-11-05.zip;filename="documents-export-2026-11-05.zip"`,
      )
      const body = Buffer.from(await response.arrayBuffer())
      assert.ok(body.equals(method === 'HEAD' ? Buffer.alloc(0) : whole))
    }
  })

  it('names it after a single item', async () => {
    const single = await startArchive(client, library, '/', ['grüße 🎉.txt'])
    await waitForArchive(client, single)
    const response = await fetchArchive(server, single)
    await response.arrayBuffer()
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment;filename*=utf-8''gr%C3%BC%C3%9Fe%20%F0%9F%8E%89.txt.zip;filename="gr__e _.txt.zip"`,
    )
  })

  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=100-2000000', 100, 2_000_001],
    ['bytes=3000000-', 3_000_000, undefined],
    ['bytes=-100', -100, undefined],
  ] as const) {
    it(`in part: ${range}`, async () => {
      const response = await fetchArchive(server, token, { headers: { Range: range } })
      assert.equal(response.status, 206)
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(whole.subarray(start, end)))
      assert.match(response.headers.get('content-range') ?? '', new RegExp(`/${whole.length}$`))
    })
  }

  it('beyond its end is rejected', async () => {
    const response = await fetchArchive(server, token, { headers: { Range: `bytes=${whole.length}-` } })
    assert.equal(response.status, 416)
    assert.equal(response.headers.get('content-range'), `bytes */${whole.length}`)
  })

  it('resumes after an interruption, if it is the same archive', async () => {
    const etag = (await fetchArchive(server, token, { method: 'HEAD' })).headers.get('etag') ?? ''
    const again = { Range: 'bytes=1000-', 'If-Range': etag }
    assert.equal((await fetchArchive(server, token, { headers: again, method: 'GET' })).status, 206)
    const other = { ...again, 'If-Range': '"another"' }
    assert.equal((await fetchArchive(server, token, { headers: other })).status, 200)
    assert.equal((await fetchArchive(server, token, { headers: { 'If-None-Match': etag } })).status, 304)
  })

  it('is rejected with an unknown token, or one for something else', async () => {
    const uploadTicket = await server.running.services.tickets.issue(
      await openLibrary(server, client, library),
      {
        operation: 'upload',
        path: '/' as never,
        reusable: true,
      },
    )
    for (const [sent, words] of [
      ['11111111-2222-4333-8444-555555555555', 'Access token not found'],
      ['nonsense', 'Access token not found'],
      ['%00', 'Access token not found'],
      [uploadTicket, 'Operation does not match access token.'],
    ] as const) {
      const response = await fetchArchive(server, sent)
      assert.deepEqual([response.status, (await response.text()).trimEnd()], [403, words], sent)
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
    }
  })

  it('without a token is not found', async () => {
    const response = await fetchArchive(server, '')
    assert.deepEqual([response.status, (await response.text()).trimEnd()], [400, 'Invalid URL'])
  })

  it('ignores credentials', async () => {
    const response = await fetchArchive(server, token, { headers: { Authorization: 'Token nonsense' } })
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  })

  it('is rejected for an account that lost access to the library', async () => {
    const leaving = await server.signUp()
    const theirs = await leaving.createLibrary('Theirs')
    await storeFile(server, leaving, theirs, '/a', Buffer.from('a'))
    const ticket = await startArchive(leaving, theirs, '/', ['a'])
    await waitForArchive(leaving, ticket)
    assert.equal((await fetchArchive(server, ticket)).status, 200)
    const heir = await server.signUp()
    const moved = await leaving.put(`/api2/repos/${theirs}/owner/`, { form: { owner: heir.email } })
    assert.equal(moved.status, 200, moved.text)
    const response = await fetchArchive(server, ticket)
    assert.deepEqual([response.status, (await response.text()).trimEnd()], [403, 'Permission denied.'])
  })

  it('is rejected when the library was deleted', async () => {
    const doomed = await client.createLibrary('Doomed')
    await storeFile(server, client, doomed, '/a', Buffer.from('a'))
    const ticket = await startArchive(client, doomed, '/', ['a'])
    await waitForArchive(client, ticket)
    assert.equal((await client.delete(`/api2/repos/${doomed}/`)).status, 200)
    const response = await fetchArchive(server, ticket)
    assert.deepEqual([response.status, (await response.text()).trimEnd()], [403, 'Access token not found'])
  })
})

describe('an archive in progress', () => {
  it('is at 0 of 1 while queued, and never appears finished too early', async (t) => {
    const held = holdContent(t, server)
    const tokens = []
    for (let n = 0; n < 4; n++) tokens.push(await startArchive(client, library, '/', ['docs']))
    for (const token of tokens) {
      const response = await fetchArchive(server, token)
      assert.deepEqual(
        [response.status, (await response.text()).trimEnd()],
        [400, 'Zip task is not finished'],
      )
    }
    // One at a time per account.
    for (const token of tokens.slice(0, 1)) {
      let progress = await progressOf(client, token)
      while (progress.total === 1) progress = await progressOf(client, token)
      assert.deepEqual([progress.zipped, progress.total], [0, 4])
    }
    for (const token of tokens.slice(1)) {
      const { zipped, total } = await progressOf(client, token)
      assert.deepEqual([zipped, total], [0, 1])
    }
    held.open()
    for (const token of tokens) {
      const { zipped, total } = await waitForArchive(client, token)
      assert.deepEqual([zipped, total], [4, 4])
    }
  })

  for (const [state, isHeld] of [
    ['in progress', true],
    ['finished', false],
  ] as const) {
    it(`can be canceled while it is ${state}, which removes its file`, async (t) => {
      const before = await archiveFiles(server)
      const held = holdContent(t, server)
      if (!isHeld) held.open()
      const token = await startArchive(client, library, '/', ['docs'])
      if (!isHeld) await waitForArchive(client, token)
      const canceling = server.anonymous.post('/api/v2.1/cancel-zip-task/', { form: { token } })
      let progress = await progressOf(client, token)
      while (progress.canceled === 0) progress = await progressOf(client, token)
      assert.notEqual(progress.zipped, progress.total)
      assert.deepEqual([progress.failed, progress.failed_reason], [0, ''])
      held.open()
      assert.deepEqual((await canceling).body, { success: true })
      // Files of earlier archives may be removed meanwhile.
      const left = (await archiveFiles(server)).filter((name) => !before.includes(name))
      assert.deepEqual(left, [])
      const response = await fetchArchive(server, token)
      assert.deepEqual(
        [response.status, (await response.text()).trimEnd()],
        [400, 'Zip task is not finished'],
      )
    })
  }

  it('can be canceled while queued', async (t) => {
    const held = holdContent(t, server)
    const first = await startArchive(client, library, '/', ['docs'])
    const second = await startArchive(client, library, '/', ['docs'])
    const third = await startArchive(client, library, '/', ['docs'])
    const reply = await server.anonymous.post('/api/v2.1/cancel-zip-task/', { multipart: { token: third } })
    assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    held.open()
    for (const token of [first, second]) assert.equal((await waitForArchive(client, token)).zipped, 4)
    assert.deepEqual(await progressOf(client, third), {
      zipped: 0,
      total: 1,
      failed: 0,
      failed_reason: '',
      canceled: 1,
    })
  })

  it('is unknown under any other token', async () => {
    for (const token of ['11111111-2222-4333-8444-555555555555', '__proto__', ' ']) {
      const reply = await server.anonymous.get('/api/v2.1/query-zip-progress/', { token })
      assert.deepEqual([reply.status, reply.body], [404, { error_msg: 'progress not found.' }])
      const cancel = await server.anonymous.post('/api/v2.1/cancel-zip-task/', { json: { token } })
      assert.deepEqual([cancel.status, cancel.body], [200, { success: true }])
    }
    for (const query of [{}, { token: '' }]) {
      const reply = await server.anonymous.get('/api/v2.1/query-zip-progress/', query)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'token invalid.' }])
      const cancel = await server.anonymous.post('/api/v2.1/cancel-zip-task', { form: query })
      assert.deepEqual([cancel.status, cancel.body], [400, { error_msg: 'token invalid.' }])
    }
  })
})

// Advances the clock, so it comes last.
describe('the expiry of an archive', () => {
  it('is that of its ticket, and removes its file', async (t) => {
    const finished = await startArchive(client, library, '/', ['docs'])
    await waitForArchive(client, finished)
    const held = holdContent(t, server)
    const running = await startArchive(client, library, '/', ['docs'])
    while ((await progressOf(client, running)).total === 1);
    now += 3599
    assert.equal((await fetchArchive(server, finished, { method: 'HEAD' })).status, 200)
    now += 1
    held.open()
    for (const token of [finished, running]) {
      const reply = await client.get('/api/v2.1/query-zip-progress/', { token })
      assert.deepEqual([reply.status, reply.body], [404, { error_msg: 'progress not found.' }])
      const response = await fetchArchive(server, token)
      assert.deepEqual([response.status, (await response.text()).trimEnd()], [403, 'Access token not found'])
    }
    assert.deepEqual(await archiveFiles(server), [])
  })
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { pathKey } from '../../src/library/path-key.ts'
import type { LibraryPath } from '../../src/objects/paths.ts'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  formBytes,
  headOf,
  namesIn,
  postBody,
  postForm,
  type SentPart,
  storedBytes,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const EMPTY = '0'.repeat(40)
const ID = /^[0-9a-f]{40}$/

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const file = (filename: string, bytes: string | Uint8Array = filename): SentPart => ({ filename, bytes })
const root: SentPart = ['parent_dir', '/']

describe('an upload', () => {
  it('answers with the id of the file as plain text', async () => {
    const library = await user.createLibrary()
    const reply = await postForm(await uploadLink(user, library), [root, file('a.txt', 'hello')])
    assert.equal(reply.status, 200)
    assert.match(reply.text, ID)
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal((await storedBytes(server, library, '/a.txt')).toString(), 'hello')
  })

  it('of a long file and short ones keeps each as it was sent', async () => {
    const library = await user.createLibrary()
    const files: [name: string, bytes: Buffer][] = [
      ['first', randomBytes(70_000)],
      ['long', randomBytes(40_000_001)],
      ['short', randomBytes(1000)],
      ['long again', randomBytes(21_000_000)],
      ['last', randomBytes(60_000)],
    ]
    const parts = files.map(([name, bytes]) => file(name, bytes))
    const reply = await postForm(await uploadLink(user, library), [root, ...parts])
    assert.equal(reply.status, 200)
    for (const [name, bytes] of files) {
      assert.ok((await storedBytes(server, library, `/${name}`)).equals(bytes), name)
    }
  })

  it('of several files answers with their ids in order, tabs between them, and is one commit', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const reply = await postForm(link, [file('b.txt', '2'), file('a.txt', '1'), root, file('c.txt', '')])
    const ids = reply.text.split('\t')
    assert.equal(ids.length, 3)
    assert.equal(ids[2], EMPTY)
    const history = await user.get(`/api/v2.1/repos/${library}/history/`)
    const descriptions = history.body.data.map((entry: { description: string }) => entry.description)
    assert.deepEqual(descriptions, ['Added "b.txt" and 2 more files.', 'Created library'])
    for (const [index, path] of ['/b.txt', '/a.txt'].entries()) {
      const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: path })
      assert.equal(detail.body.id, ids[index])
    }
  })

  it('says in its commit what was added', async () => {
    const library = await user.createLibrary()
    await postForm(await uploadLink(user, library), [root, ['relative_path', 'x/y'], file('a.txt')])
    const history = await user.get(`/api/v2.1/repos/${library}/history/`)
    assert.deepEqual(history.body.data[0].description, 'Added "a.txt".')
    assert.equal(history.body.data.length, 2)
  })

  for (const query of ['ret-json=1', 'ret-json', 'ret-json=0', 'ret-json=true&X-Progress-ID=7']) {
    it(`with ?${query} answers with a list`, async () => {
      const library = await user.createLibrary()
      const link = await uploadLink(user, library)
      const reply = await postForm(link, [root, file('ä.txt', 'hello'), file('empty', '')], { query })
      assert.equal(reply.status, 200)
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      const [first, second] = reply.body
      assert.match(first.id, ID)
      assert.deepEqual(first, { name: 'ä.txt', id: first.id, size: 5 })
      assert.deepEqual(second, { name: 'empty', id: EMPTY, size: 0 })
      assert.equal(reply.body.length, 2)
    })
  }

  it('takes its parts in any order and skips those it does not know', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const parts: SentPart[] = [
      ['relative_path', 'x'],
      root,
      ['replace', '0'],
      file('a.txt'),
      ['need_idx_progress', 'true'],
      ['__proto__', 'x'],
      { name: 'other', filename: 'b.txt', bytes: 'b' },
    ]
    for (const order of [parts, parts.toReversed(), [...parts.slice(3), ...parts.slice(0, 3)]]) {
      const reply = await postForm(link, order, { query: 'ret-json=1' })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.length, 1)
    }
    assert.deepEqual(await namesIn(user, library, '/x'), ['a (1).txt', 'a (2).txt', 'a.txt'])
    assert.deepEqual(await namesIn(user, library), ['x/'])
  })

  it('keeps what is large as well as what is small', async () => {
    const library = await user.createLibrary()
    for (const size of [1, 65_535, 65_536, 65_537, 200_000, 25_000_000]) {
      const bytes = Buffer.alloc(size)
      for (let at = 0; at < size; at += 1) bytes[at] = (at * at * 31 + at * 7) >> 3
      const { name } = await uploadFile(user, library, `/${size}.bin`, bytes)
      assert(bytes.equals(await storedBytes(server, library, `/${name}`)), `${size} bytes`)
    }
  })

  it('has a content that holds delimiters of other forms', async () => {
    const library = await user.createLibrary()
    const bytes = Buffer.concat([formBytes([root], 'other'), formBytes([root], BOUNDARY.slice(0, -1))])
    await uploadFile(user, library, '/a.bin', bytes)
    assert(bytes.equals(await storedBytes(server, library, '/a.bin')))
  })

  it('gets a number where its name is taken', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await postForm(link, [root, ['relative_path', 'v1.2'], file('x')])
    const names: string[] = []
    for (const name of [
      'a.tar.gz',
      'a.tar.gz',
      'a.tar (1).gz',
      '.bashrc',
      '.bashrc',
      'README',
      'README',
      'v1.2',
    ]) {
      const reply = await postForm(link, [root, file(name)], { query: 'ret-json=1' })
      names.push(reply.body[0].name)
    }
    const expected =
      'a.tar.gz, a.tar (1).gz, a.tar (1) (1).gz, .bashrc, .bashrc (1), README, README (1), v1 (1).2'
    assert.equal(names.join(', '), expected)
    const twice = await postForm(link, [root, file('t'), file('t')], { query: 'ret-json=1' })
    assert.deepEqual(
      twice.body.map((item: { name: string }) => item.name),
      ['t', 't (1)'],
    )
  })

  it('replaces a file if asked to in the form or in the link, but never a folder', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/folder/x', 'x')
    const link = await uploadLink(user, library)
    const replacing = await uploadLink(user, library, '/', { replace: 1 })
    const steps: [link: string, parts: SentPart[], query: string, name: string][] = [
      [link, [file('a.txt', '1')], '', 'a.txt'],
      [link, [file('a.txt', '2'), ['replace', '1']], '', 'a.txt'],
      [link, [['replace', '0'], file('a.txt', '3')], 'replace=1', 'a.txt'],
      [replacing, [file('a.txt', '4')], '', 'a.txt'],
      [replacing, [file('folder', '5')], '', 'folder (1)'],
      [link, [['replace', '0'], file('a.txt', '6')], 'replace=0', 'a (1).txt'],
      [link, [['replace', ''], file('a.txt', '7')], '', 'a (2).txt'],
    ]
    for (const [to, parts, query, name] of steps) {
      const reply = await postForm(to, [root, ...parts], { query: `ret-json=1&${query}` })
      assert.deepEqual([reply.status, reply.body[0]?.name], [200, name])
    }
    assert.equal((await storedBytes(server, library, '/a.txt')).toString(), '4')
    assert.deepEqual(await namesIn(user, library, '/folder'), ['x'])
  })

  it('keeps the time its sender gives, if it is one', async () => {
    const library = await user.createLibrary()
    const times: [sent: string, mtime: number | undefined][] = [
      ['2020-02-03T04:05:06Z', 1_580_702_706],
      ['2020-02-03T04:05:06.789+01:30', 1_580_697_306],
      ['2020-02-03 04:05:06z', 1_580_702_706],
      ['1970-01-01T00:00:00Z', 0],
      ['1969-12-31T23:59:59Z', undefined],
      ['2020-02-03', undefined],
      ['2020-13-03T04:05:06Z', undefined],
      ['yesterday', undefined],
      ['', undefined],
    ]
    for (const [sent, mtime] of times) {
      const { name } = await uploadFile(user, library, '/a.txt', sent, { lastModify: sent })
      const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: `/${name}` })
      const isNow = Math.abs(detail.body.mtime - Date.now() / 1000) < 60
      assert.equal(isNow ? undefined : detail.body.mtime, mtime, sent)
    }
  })

  it('makes the folders of its relative path, as rclone asks for', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const path of ['a/b/', 'a/b', 'a\\b\\', 'a//b', '']) {
      const parts: SentPart[] = [file('f.txt', path), root, ['relative_path', path], ['replace', '1']]
      const reply = await postForm(link, parts, { query: 'ret-json=1' })
      assert.deepEqual([reply.status, reply.body[0]?.name], [200, 'f.txt'])
    }
    assert.deepEqual(await namesIn(user, library), ['a/', 'f.txt'])
    assert.deepEqual(await namesIn(user, library, '/a/b'), ['f.txt'])
    assert.equal((await storedBytes(server, library, '/a/b/f.txt')).toString(), 'a//b')
  })

  it('finds its folder however it is written', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/dö cs/sub/x', 'x')
    const link = await uploadLink(user, library, '/dö cs/sub')
    const spellings = [
      '/dö cs/sub',
      '/dö cs/sub/',
      'dö cs/sub',
      '\\dö cs\\sub\\',
      '//dö cs//sub',
      '/do\u0308 cs/sub',
    ]
    for (const folder of spellings) {
      const reply = await postForm(link, [['parent_dir', folder], file('a')])
      assert.equal(reply.status, 200, folder)
    }
    assert.equal((await namesIn(user, library, '/dö cs/sub')).length, 1 + spellings.length)
  })

  it('through upload-aj never replaces and always answers with a list', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library, '/', { from: 'web' })
    for (const name of ['a.txt', 'a (1).txt']) {
      const reply = await postForm(link, [root, ['replace', 'whatever'], file('a.txt')], {
        query: 'replace=1',
      })
      assert.deepEqual([reply.status, reply.body[0]?.name, reply.body.length], [200, name, 1])
    }
  })

  it('may go through any link of its folder any number of times, whoever says who they are', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const authorization of ['Token 0000', 'Basic x', `Token ${(await server.signUp()).token}`]) {
      const reply = await postForm(link, [root, file('a')], { headers: { Authorization: authorization } })
      assert.equal(reply.status, 200)
    }
    const other = link.replace('upload-api', 'upload-aj')
    assert.equal((await postForm(other, [root, file('a')])).status, 200)
  })

  it('of many at once loses none of them', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const uploads = Array.from({ length: 40 }, (_, index) =>
      postForm(link, [root, file(`${index % 20}.txt`, String(index))], { query: 'ret-json=1' }),
    )
    const names = (await Promise.all(uploads)).map((reply) => reply.body[0].name)
    assert.equal(new Set(names).size, 40)
    assert.deepEqual((await namesIn(user, library)).length, 40)
  })

  it('of ten thousand files is one commit', async () => {
    const library = await user.createLibrary()
    const files = Array.from({ length: 9999 }, (_, index) => file(`${index}.txt`, `content of ${index}`))
    const reply = await postForm(await uploadLink(user, library), [root, ...files], { query: 'ret-json=1' })
    assert.deepEqual([reply.status, reply.body.length], [200, 9999])
    assert.equal((await storedBytes(server, library, '/9876.txt')).toString(), 'content of 9876')
  })
})

describe('the progress of an upload', () => {
  it('is asked for by an id, and is done', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const reply = await postForm(link, [root, file('a.txt', 'hello'), file('b.txt', 'you')], {
      query: 'need_idx_progress=true&ret-json=1',
    })
    assert.equal(reply.status, 200)
    assert.match(reply.text, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    for (let asked = 0; asked < 2; asked += 1) {
      const progress = await server.anonymous.get('/seafhttp/idx_progress', { task_id: reply.text })
      const { ret_json: result, ...numbers } = progress.body
      assert.deepEqual([progress.status, numbers], [200, { indexed: 8, total: 8, status: 0 }])
      const items = JSON.parse(result)
      assert.deepEqual(
        items.map(({ name, size }: { name: string; size: number }) => [name, size]),
        [
          ['a.txt', 5],
          ['b.txt', 3],
        ],
      )
    }
  })

  it('is known by its id only', async () => {
    const ask = (query?: Record<string, string>) => server.anonymous.get('/seafhttp/idx_progress', query)
    for (const query of [undefined, { task_id: '' }]) {
      const reply = await ask(query)
      assert.deepEqual([reply.status, reply.body], [400, { error: 'task id not found' }])
    }
    const reply = await ask({ task_id: 'x' })
    assert.deepEqual([reply.status, reply.body], [404, { error: 'Failed to get index progress' }])
  })

  it('is not what a form part of that name, or another value, asks for', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const part = await postForm(link, [root, ['need_idx_progress', 'true'], file('a')])
    const other = await postForm(link, [root, file('a')], { query: 'need_idx_progress=false' })
    assert.match(part.text, ID)
    assert.match(other.text, ID)
  })

  it('is forgotten after an hour', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now })
    const client = await later.signUp()
    const link = await uploadLink(client, await client.createLibrary())
    const { text } = await postForm(link, [root, file('a')], { query: 'need_idx_progress=true' })
    now += 3599
    assert.equal((await later.anonymous.get('/seafhttp/idx_progress', { task_id: text })).status, 200)
    now += 2
    assert.equal((await later.anonymous.get('/seafhttp/idx_progress', { task_id: text })).status, 404)
  })
})

describe('an upload that cannot be', () => {
  let library: string
  let link: string
  before(async () => {
    library = await user.createLibrary()
    await uploadFile(user, library, '/docs/x', 'x')
    await uploadFile(user, library, '/file', 'x')
    link = await uploadLink(user, library)
  })

  const chunk = { 'Content-Range': 'bytes 0-0/2', 'Content-Disposition': 'attachment; filename="a"' }
  // In the order in which they are told: each row also has what the rows below it are refused for.
  const wrong: SentPart[] = [['replace', '2'], ['parent_dir', '/none'], file('\u0001', '1')]
  const cases: [
    about: string,
    parts: SentPart[],
    headers: Record<string, string>,
    status: number,
    error: string,
  ][] = [
    ['has no file', [['replace', '2']], {}, 400, 'No file uploaded.'],
    ['has a file part without a name', [root, { bytes: 'x' }], {}, 400, 'No file uploaded.'],
    ['says 2 for replace', wrong, {}, 400, 'Invalid argument replace.'],
    ['says true for replace', [root, ['replace', 'true'], file('a')], {}, 400, 'Invalid argument replace.'],
    ['has no folder', [['relative_path', '/x'], file('\u0001')], {}, 400, 'Invalid parent dir.'],
    ['has an empty folder', [['parent_dir', ''], file('a')], {}, 400, 'Invalid parent dir.'],
    [
      'is a chunk for a folder without a slash',
      [['parent_dir', 'docs'], file('a', '1')],
      chunk,
      400,
      'Invalid parent dir.',
    ],
    [
      'has a relative path from the root',
      [['parent_dir', '/none'], ['relative_path', '/x'], file('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'has a relative path from a backslash',
      [root, ['relative_path', '\\x'], file('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'has a relative path that leads out',
      [root, ['relative_path', 'x/../..'], file('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'is a chunk of two files',
      [file('a', '1'), file('b', '2'), ['parent_dir', '/none']],
      chunk,
      400,
      'More files in one request.',
    ],
    [
      'is for a folder that is not there',
      [['parent_dir', '/none'], file('\u0001')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'is for a file as its folder',
      [['parent_dir', '/file'], file('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'is for a folder that cannot be',
      [['parent_dir', '/../x'], file('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'has a file in the way of its relative path',
      [root, ['relative_path', 'file/x'], file('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'is for another folder than its link',
      [['parent_dir', '/docs'], file('\u0001')],
      {},
      403,
      'Permission denied.',
    ],
    ['has no name', [root, file('')], {}, 440, 'Invalid filename.'],
    ['has a name of nothing but folders', [root, file('a/b/')], {}, 440, 'Invalid filename.'],
    ['is called ..', [root, file('x/..')], {}, 440, 'Invalid filename.'],
    ['is called .', [root, file('.')], {}, 440, 'Invalid filename.'],
    ['has a control character in its name', [root, file('a\u0007')], {}, 440, 'Invalid filename.'],
    ['has a name of 256 bytes', [root, file('ä'.repeat(128))], {}, 440, 'Invalid filename.'],
    [
      'makes a folder of 256 bytes',
      [root, ['relative_path', 'x'.repeat(256)], file('a')],
      {},
      440,
      'Invalid filename.',
    ],
  ]
  for (const [about, parts, headers, status, error] of cases) {
    it(`because it ${about} is refused with ${status}, whatever the order of its parts`, async () => {
      const head = await headOf(user, library)
      const filesFirst = parts.toSorted((a, b) => Number(Array.isArray(a)) - Number(Array.isArray(b)))
      for (const order of [parts, filesFirst]) {
        const reply = await postForm(link, order, { headers })
        assert.deepEqual([reply.status, reply.body], [status, { error }])
        assert.equal(reply.headers.get('access-control-allow-origin'), '*')
      }
      assert.equal(await headOf(user, library), head)
    })
  }

  const bodies: [about: string, body: string, contentType: string, error: RegExp][] = [
    ['has no boundary', 'x', 'multipart/form-data', /^Wrong boundary in url$/],
    ['has no content type', 'x', 'text/plain', /^Wrong boundary in url$/],
    ['is a plain form', 'parent_dir=/', 'application/x-www-form-urlencoded', /^Wrong boundary in url$/],
    ['is empty', '', `multipart/form-data; boundary=${BOUNDARY}`, /^No file uploaded\.$/],
    [
      'has another boundary',
      formBytes([root]).toString(),
      'multipart/form-data; boundary=x',
      /^Malformed form: /,
    ],
    [
      'ends too early',
      formBytes([root, file('a')])
        .toString()
        .slice(0, -10),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: /,
    ],
    [
      'has a text of more than a megabyte',
      formBytes([['parent_dir', 'x'.repeat(2 ** 20 + 1)]]).toString(),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: a text is too long\.$/,
    ],
    [
      'has more than ten thousand parts',
      formBytes(Array.from({ length: 10_001 }, () => root)).toString(),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: there are too many parts\.$/,
    ],
  ]
  for (const [about, body, contentType, error] of bodies) {
    it(`because it ${about} is refused with 400`, async () => {
      const reply = await postBody(link, Buffer.from(body), { 'Content-Type': contentType })
      assert.equal(reply.status, 400)
      assert.match(reply.body.error, error)
    })
  }

  it('is refused for its ticket before anything else', async () => {
    const odd = { headers: { 'Content-Range': 'x', 'Content-Type': 'x' } }
    const unknown = link.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000')
    const update = (await updateLink(user, library)).replace('update-api', 'upload-api')
    const cases: [string, number, string][] = [
      [unknown, 403, 'Access token not found'],
      [unknown.replace('upload-api', 'upload-aj'), 403, 'Access token not found'],
      [update, 403, 'Operation does not match access token.'],
    ]
    for (const [url, status, error] of cases) {
      const reply = await postForm(url, [], odd)
      assert.deepEqual([reply.status, reply.body], [status, { error }])
    }
  })

  it('is refused by a library nobody may change, or may no longer', async () => {
    const frozen = await user.createLibrary('Frozen')
    const to = await uploadLink(user, frozen)
    await makeReadOnly(server, frozen)
    const reply = await postForm(to, [root, file('a')], { headers: { 'Content-Range': 'x' } })
    assert.deepEqual([reply.status, reply.body], [403, { error: 'Repo status not writable.' }])
  })

  it('is refused once its library, or its account, is gone', async () => {
    const other = await server.signUp()
    const gone = await other.createLibrary()
    const kept = await other.createLibrary()
    const [toGone, toKept] = [await uploadLink(other, gone), await uploadLink(other, kept)]
    await other.delete(`/api2/repos/${gone}/`)
    const reply = await postForm(toGone, [root, file('a')])
    assert.deepEqual([reply.status, reply.body], [403, { error: 'Access token not found' }])
    await server.running.services.accounts.update(other.email, { active: false })
    const refused = await postForm(toKept, [root, file('a')])
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Access token not found' }])
  })

  it('is refused with a link that is too old', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now, env: { CARREL_TICKET_SECONDS: '60' } })
    const client = await later.signUp()
    const to = await uploadLink(client, await client.createLibrary())
    now += 59
    assert.equal((await postForm(to, [root, file('a')])).status, 200)
    now += 2
    assert.equal((await postForm(to, [root, file('a')])).status, 403)
  })

  for (const range of [
    'x',
    'bytes',
    'bytes 0-1',
    'bytes 1-0/2',
    'bytes 0-2/2',
    'bytes 0-1/2x',
    'bytes=0-1/2',
    'bytes -1-1/2',
    'bytes 0-1/*',
    'bytes 0-99999999999999999/999999999999999999',
  ]) {
    it(`is refused for the range ${range}`, async () => {
      const reply = await postForm(link, [root, file('a', '12')], { headers: { 'Content-Range': range } })
      assert.deepEqual([reply.status, reply.body], [400, { error: 'Invalid Seafile-Content-Range' }])
    })
  }

  it('is refused by an encrypted library, before a byte of it is stored', async () => {
    const reply = await user.post('/api2/repos/', { form: { name: 'Secret', passwd: 'secret' } })
    assert.equal(reply.status, 200, reply.text)
    const refused = await postForm(await uploadLink(user, reply.body.repo_id), [root, file('a')])
    const error = 'Repo is encrypted. Please provide password to view it.'
    assert.deepEqual([refused.status, refused.body], [400, { error }])
  })

  it('is refused where a file is locked by somebody else', async () => {
    await uploadFile(user, library, '/locked.txt', '1')
    const stranger = await server.running.services.accounts.get((await server.signUp()).email)
    const { core } = server.running.services
    await core.db.write(async (tx) => {
      const row = await tx.get<{ key: number }>('select key from library where id = ?', library)
      await tx.insert(
        'file_lock',
        ['library_key', 'path_key', 'path', 'account_key', 'locked_at'],
        [[row?.key ?? 0, pathKey('/locked.txt' as LibraryPath), '/locked.txt', stranger.key, 0]],
      )
    })
    const refused = await postForm(link, [root, ['replace', '1'], file('locked.txt', '2')])
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Permission denied.' }])
    const beside = await postForm(link, [root, file('locked.txt', '2')], { query: 'ret-json' })
    assert.equal(beside.body[0].name, 'locked (1).txt')
  })

  it('is refused when a thousand numbers are taken', async () => {
    const crowded = await user.createLibrary()
    const to = await uploadLink(user, crowded)
    const many = Array.from({ length: 1001 }, () => file('a.txt', '1'))
    assert.equal((await postForm(to, [root, ...many])).status, 200)
    const head = await headOf(user, crowded)
    const one = await postForm(to, [root, ['relative_path', 'new'], file('b.txt'), file('c.txt')])
    assert.equal(one.status, 200)
    const next = await postForm(to, [root, file('b.txt'), file('a.txt')])
    assert.deepEqual([next.status, next.body], [400, { error: 'Too many files with same name.' }])
    assert.deepEqual(await namesIn(user, crowded, '/new'), ['b.txt', 'c.txt'])
    assert.equal((await namesIn(user, crowded)).includes('b.txt'), false)
    assert.notEqual(await headOf(user, crowded), head)
  })
})

describe('the URLs of uploads', () => {
  const cors = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers':
      'x-requested-with, content-type, content-range, content-disposition, accept, origin, authorization',
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': '86400',
  }
  const corsOf = (headers: Headers) =>
    Object.fromEntries(Object.keys(cors).map((name) => [name, headers.get(name)]))

  for (const path of ['upload-api', 'upload-aj', 'update-api', 'update-aj']) {
    it(`let browsers of any page post to ${path}`, async () => {
      const reply = await server.anonymous.call('OPTIONS', `/seafhttp/${path}/whatever`)
      assert.deepEqual([reply.status, reply.text], [200, ''])
      assert.deepEqual(corsOf(reply.headers), cors)
      const refused = await server.anonymous.post(`/seafhttp/${path}/whatever`)
      assert.equal(refused.status, 403)
      assert.deepEqual(corsOf(refused.headers), cors)
    })
  }

  it('say so in good answers too', async () => {
    const link = await uploadLink(user, await user.createLibrary())
    assert.deepEqual(corsOf((await postForm(link, [root, file('a')])).headers), cors)
  })
})

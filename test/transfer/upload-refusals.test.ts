import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pathKey } from '../../src/base/paths/path-key.ts'
import type { LibraryPath } from '../../src/base/paths/paths.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  filePart,
  formBytes,
  headOf,
  intoRoot,
  namesIn,
  postBody,
  postForm,
  type SentPart,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('an invalid upload', () => {
  let library: string
  let link: string
  before(async () => {
    library = await user.createLibrary()
    await uploadFile(user, library, '/docs/x', 'x')
    await uploadFile(user, library, '/file', 'x')
    link = await uploadLink(user, library)
  })

  const chunk = { 'Content-Range': 'bytes 0-0/2', 'Content-Disposition': 'attachment; filename="a"' }
  // In the order of the checks: each row also violates the checks of the rows below it.
  const wrong: SentPart[] = [['replace', '2'], ['parent_dir', '/none'], filePart('\u0001', '1')]
  const cases: [
    about: string,
    parts: SentPart[],
    headers: Record<string, string>,
    status: number,
    error: string,
  ][] = [
    ['has no file', [['replace', '2']], {}, 400, 'No file uploaded.'],
    ['has a file part without a name', [intoRoot, { bytes: 'x' }], {}, 400, 'No file uploaded.'],
    ['has 2 for replace', wrong, {}, 400, 'Invalid argument replace.'],
    [
      'has true for replace',
      [intoRoot, ['replace', 'true'], filePart('a')],
      {},
      400,
      'Invalid argument replace.',
    ],
    ['has no folder', [['relative_path', '/x'], filePart('\u0001')], {}, 400, 'Invalid parent dir.'],
    ['has an empty folder', [['parent_dir', ''], filePart('a')], {}, 400, 'Invalid parent dir.'],
    [
      'is a chunk for a folder without a slash',
      [['parent_dir', 'docs'], filePart('a', '1')],
      chunk,
      400,
      'Invalid parent dir.',
    ],
    [
      'has an absolute relative path',
      [['parent_dir', '/none'], ['relative_path', '/x'], filePart('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'has a relative path that starts with a backslash',
      [intoRoot, ['relative_path', '\\x'], filePart('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'has a relative path that leaves the folder',
      [intoRoot, ['relative_path', 'x/../..'], filePart('a')],
      {},
      400,
      'Invalid relative path.',
    ],
    [
      'is a chunk of two files',
      [filePart('a', '1'), filePart('b', '2'), ['parent_dir', '/none']],
      chunk,
      400,
      'More files in one request.',
    ],
    [
      'is for an unknown folder',
      [['parent_dir', '/none'], filePart('\u0001')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'names a file as its folder',
      [['parent_dir', '/file'], filePart('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'is for an invalid folder',
      [['parent_dir', '/../x'], filePart('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'has a relative path through a file',
      [intoRoot, ['relative_path', 'file/x'], filePart('a')],
      {},
      400,
      "Parent dir doesn't exist.",
    ],
    [
      'is for a folder other than that of its link',
      [['parent_dir', '/docs'], filePart('\u0001')],
      {},
      403,
      'Permission denied.',
    ],
    ['has no name', [intoRoot, filePart('')], {}, 440, 'Invalid filename.'],
    ['has a name that consists of folders only', [intoRoot, filePart('a/b/')], {}, 440, 'Invalid filename.'],
    ['is named ..', [intoRoot, filePart('x/..')], {}, 440, 'Invalid filename.'],
    ['is named .', [intoRoot, filePart('.')], {}, 440, 'Invalid filename.'],
    ['has a control character in its name', [intoRoot, filePart('a\u0007')], {}, 440, 'Invalid filename.'],
    ['has a name of 256 bytes', [intoRoot, filePart('ä'.repeat(128))], {}, 440, 'Invalid filename.'],
    [
      'creates a folder with a name of 256 bytes',
      [intoRoot, ['relative_path', 'x'.repeat(256)], filePart('a')],
      {},
      440,
      'Invalid filename.',
    ],
  ]
  for (const [about, parts, headers, status, error] of cases) {
    it(`that ${about} is rejected with ${status}, whatever the order of its parts`, async () => {
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
    ['is a urlencoded form', 'parent_dir=/', 'application/x-www-form-urlencoded', /^Wrong boundary in url$/],
    ['is empty', '', `multipart/form-data; boundary=${BOUNDARY}`, /^No file uploaded\.$/],
    [
      'has a different boundary',
      formBytes([intoRoot]).toString(),
      'multipart/form-data; boundary=x',
      /^Malformed form: /,
    ],
    [
      'is truncated',
      formBytes([intoRoot, filePart('a')])
        .toString()
        .slice(0, -10),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: /,
    ],
    [
      'has a text field of more than 1 MB',
      formBytes([['parent_dir', 'x'.repeat(2 ** 20 + 1)]]).toString(),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: a text is too long\.$/,
    ],
    [
      'has more than ten thousand parts',
      formBytes(Array.from({ length: 10_001 }, () => intoRoot)).toString(),
      `multipart/form-data; boundary=${BOUNDARY}`,
      /^Malformed form: there are too many parts\.$/,
    ],
  ]
  for (const [about, body, contentType, error] of bodies) {
    it(`that ${about} is rejected with 400`, async () => {
      const reply = await postBody(link, Buffer.from(body), { 'Content-Type': contentType })
      assert.equal(reply.status, 400)
      assert.match(reply.body.error, error)
    })
  }

  it('is rejected for its ticket before anything else', async () => {
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

  it('is rejected for a library that is or became read-only', async () => {
    const frozen = await user.createLibrary('Frozen')
    const to = await uploadLink(user, frozen)
    await makeReadOnly(server, frozen)
    const reply = await postForm(to, [intoRoot, filePart('a')], { headers: { 'Content-Range': 'x' } })
    assert.deepEqual([reply.status, reply.body], [403, { error: 'Repo status not writable.' }])
  })

  it('is rejected once its library or its account is deleted', async () => {
    const other = await server.signUp()
    const gone = await other.createLibrary()
    const kept = await other.createLibrary()
    const [toGone, toKept] = [await uploadLink(other, gone), await uploadLink(other, kept)]
    await other.delete(`/api2/repos/${gone}/`)
    const reply = await postForm(toGone, [intoRoot, filePart('a')])
    assert.deepEqual([reply.status, reply.body], [403, { error: 'Access token not found' }])
    await server.running.services.accounts.update(other.email, { active: false }, undefined)
    const refused = await postForm(toKept, [intoRoot, filePart('a')])
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Access token not found' }])
  })

  it('is rejected with an expired link', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now, env: { CARREL_TICKET_SECONDS: '60' } })
    const client = await later.signUp()
    const to = await uploadLink(client, await client.createLibrary())
    now += 59
    assert.equal((await postForm(to, [intoRoot, filePart('a')])).status, 200)
    now += 2
    assert.equal((await postForm(to, [intoRoot, filePart('a')])).status, 403)
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
    it(`is rejected for the range ${range}`, async () => {
      const reply = await postForm(link, [intoRoot, filePart('a', '12')], {
        headers: { 'Content-Range': range },
      })
      assert.deepEqual([reply.status, reply.body], [400, { error: 'Invalid Seafile-Content-Range' }])
    })
  }

  it('is rejected by a locked encrypted library, before a byte of it is stored', async () => {
    const reply = await user.post('/api2/repos/', { form: { name: 'Secret', passwd: 'secret' } })
    assert.equal(reply.status, 200, reply.text)
    const refused = await postForm(await uploadLink(user, reply.body.repo_id), [intoRoot, filePart('a')])
    const error = 'Repo is encrypted. Please provide password to view it.'
    assert.deepEqual([refused.status, refused.body], [400, { error }])
  })

  it('is rejected for a file locked by another account', async () => {
    await uploadFile(user, library, '/locked.txt', '1')
    const holder = await server.running.services.accounts.get((await server.signUp()).email)
    await user.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: holder.email, permission: 'rw' },
    })
    const { core } = server.running.services
    await dbOf(core).write(async (tx) => {
      const row = await tx.get<{ key: number }>('select key from library where id = ?', library)
      await tx.insert(
        'file_lock',
        ['library_key', 'path_key', 'path', 'account_key', 'locked_at'],
        [[row?.key ?? 0, pathKey('/locked.txt' as LibraryPath), '/locked.txt', holder.key, 0]],
      )
    })
    const refused = await postForm(link, [intoRoot, ['replace', '1'], filePart('locked.txt', '2')])
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Permission denied.' }])
    const beside = await postForm(link, [intoRoot, filePart('locked.txt', '2')], { query: 'ret-json' })
    assert.equal(beside.body[0].name, 'locked (1).txt')
  })

  it('is rejected when a thousand numbers are taken', async () => {
    const crowded = await user.createLibrary()
    const to = await uploadLink(user, crowded)
    const many = Array.from({ length: 1001 }, () => filePart('a.txt', '1'))
    assert.equal((await postForm(to, [intoRoot, ...many])).status, 200)
    const head = await headOf(user, crowded)
    const one = await postForm(to, [intoRoot, ['relative_path', 'new'], filePart('b.txt'), filePart('c.txt')])
    assert.equal(one.status, 200)
    const next = await postForm(to, [intoRoot, filePart('b.txt'), filePart('a.txt')])
    assert.deepEqual([next.status, next.body], [400, { error: 'Too many files with same name.' }])
    assert.deepEqual(await namesIn(user, crowded, '/new'), ['b.txt', 'c.txt'])
    assert.equal((await namesIn(user, crowded)).includes('b.txt'), false)
    assert.notEqual(await headOf(user, crowded), head)
  })
})

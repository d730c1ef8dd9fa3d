import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  headOf,
  namesIn,
  postForm,
  type SentPart,
  storedBytes,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const EMPTY = '0'.repeat(40)

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const file = (bytes: string): SentPart => ({ filename: 'ignored', bytes })
const target = (path: string): SentPart => ['target_file', path]
const descriptions = async (library: string) =>
  (await user.get(`/api/v2.1/repos/${library}/history/`)).body.data.map(
    (entry: { description: string }) => entry.description,
  )

describe('an update', () => {
  it('returns the new id as a JSON string', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/docs/a.txt', 'old')
    const link = await updateLink(user, library)
    for (const parts of [
      [target('/docs/a.txt'), file('new')],
      [file('newer'), target('docs//a.txt/')],
    ]) {
      const reply = await postForm(link, parts, { query: 'ret-json=1' })
      assert.equal(reply.status, 200)
      assert.match(reply.text, /^"[0-9a-f]{40}"$/)
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/docs/a.txt' })
      assert.equal(detail.body.id, reply.body)
    }
    assert.equal((await storedBytes(server, library, '/docs/a.txt')).toString(), 'newer')
    assert.deepEqual((await descriptions(library)).slice(0, 2), ['Modified "a.txt"', 'Modified "a.txt"'])
  })

  it('through update-aj returns a list', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'old')
    const link = await updateLink(user, library, { from: 'web' })
    const reply = await postForm(link, [target('/a.txt'), file('new')])
    const [item] = reply.body
    assert.deepEqual([reply.status, reply.body], [200, [{ name: 'a.txt', id: item.id, size: 3 }]])
  })

  it('with the same content changes nothing', async () => {
    const library = await user.createLibrary()
    const { id } = await uploadFile(user, library, '/a.txt', 'same')
    const head = await headOf(user, library)
    const reply = await postForm(await updateLink(user, library), [target('/a.txt'), file('same')])
    assert.deepEqual([reply.status, reply.body], [200, id])
    assert.equal(await headOf(user, library), head)
  })

  it('may empty a file, and keeps the given time', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'old')
    const link = await updateLink(user, library)
    const parts = [target('/a.txt'), file(''), ['last_modify', '2020-02-03T04:05:06Z'] as const]
    assert.equal((await postForm(link, parts)).body, EMPTY)
    const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' })
    assert.deepEqual([detail.body.size, detail.body.mtime], [0, 1_580_702_706])
  })

  it('based on an outdated commit is stored beside the newer one', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'one')
    const link = await updateLink(user, library)
    const head = await headOf(user, library)
    const first = await postForm(link, [target('/a.txt'), file('two')], { query: `head=${head}` })
    const second = await postForm(link, [target('/a.txt'), file('three')], { query: `head=${head}` })
    assert.deepEqual([first.status, second.status], [200, 200])
    const names = await namesIn(user, library)
    assert.equal(names.length, 2)
    assert.match(names[0] ?? '', /^a \(SFConflict user\d+@example\.org \d{4}(-\d\d){5}\)\.txt$/)
    assert.equal((await storedBytes(server, library, '/a.txt')).toString(), 'two')
    assert.equal((await storedBytes(server, library, `/${names[0]}`)).toString(), 'three')
  })

  it('restores a file that was deleted meanwhile', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/docs/a.txt', 'one')
    const link = await updateLink(user, library)
    const head = await headOf(user, library)
    await user.delete(`/api2/repos/${library}/dir/`, { query: { p: '/docs' } })
    const reply = await postForm(link, [target('/docs/a.txt'), file('two')], { query: `head=${head}` })
    assert.equal(reply.status, 200)
    assert.equal((await storedBytes(server, library, '/docs/a.txt')).toString(), 'two')
  })

  it('may come in chunks', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/docs/a.txt', 'old')
    const link = await updateLink(user, library)
    const send = (start: number, bytes: string, total: number) =>
      postForm(link, [target('/docs/a.txt'), file(bytes)], {
        headers: { 'Content-Range': `bytes ${start}-${start + bytes.length - 1}/${total}` },
      })
    assert.equal((await send(0, '0123', 9)).text, '{"success": true}')
    const asked = await user.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, {
      parent_dir: '/docs',
      file_name: 'a.txt',
    })
    assert.deepEqual(asked.body, { uploadedBytes: 4 })
    assert.equal((await storedBytes(server, library, '/docs/a.txt')).toString(), 'old')
    assert.match((await send(4, '45678', 9)).text, /^"[0-9a-f]{40}"$/)
    assert.equal((await storedBytes(server, library, '/docs/a.txt')).toString(), '012345678')
    // A repetition creates no commit, and still ends the upload.
    const head = await headOf(user, library)
    await send(0, '0123', 9)
    assert.equal((await send(4, '45678', 9)).status, 200)
    assert.equal(await headOf(user, library), head)
    assert.equal((await send(4, '45678', 9)).status, 400)
  })
})

describe('an invalid update', () => {
  let library: string
  let link: string
  before(async () => {
    library = await user.createLibrary()
    await uploadFile(user, library, '/docs/a.txt', 'old')
    link = await updateLink(user, library)
  })

  const cases: [about: string, parts: SentPart[], query: string, status: number, error: string][] = [
    ['has no file', [], '', 400, 'No file uploaded.'],
    ['has no target', [file('x'), file('y')], '', 400, 'No target file.'],
    ['has an empty target', [target(''), file('x')], '', 400, 'No target file.'],
    ['is for the root', [target('/'), file('x'), file('y')], '', 400, 'Invalid targe_file.'],
    ['is for an invalid path', [target('/docs/..'), file('x')], '', 440, 'Invalid filename.'],
    [
      'has two files',
      [file('x'), file('y'), target('/none/a')],
      '',
      400,
      'More than one file in one request.',
    ],
    ['is for an unknown folder', [target('/none/a'), file('x')], '', 400, "Parent dir doesn't exist."],
    ['is for an unknown file', [target('/docs/b.txt'), file('x')], '', 441, 'File does not exist.'],
    ['is for a folder', [target('/docs'), file('x')], '', 441, 'File does not exist.'],
    ['names an invalid commit', [target('/docs/a.txt'), file('x')], 'head=x', 400, 'Invalid head.'],
    [
      'names an unknown commit',
      [target('/docs/a.txt'), file('x')],
      `head=${'1'.repeat(40)}`,
      400,
      'Invalid head.',
    ],
  ]
  for (const [about, parts, query, status, error] of cases) {
    it(`that ${about} is rejected with ${status}, whatever the order of its parts`, async () => {
      const head = await headOf(user, library)
      const filesFirst = parts.toSorted((a, b) => Number(Array.isArray(a)) - Number(Array.isArray(b)))
      for (const order of [parts, filesFirst]) {
        const reply = await postForm(link, order, { query })
        assert.deepEqual([reply.status, reply.body], [status, { error }])
      }
      assert.equal(await headOf(user, library), head)
    })
  }

  it('is rejected for its ticket first', async () => {
    const parts = [target('/docs/a.txt'), file('x')]
    const upload = (await uploadLink(user, library)).replace('upload-api', 'update-api')
    const odd = { headers: { 'Content-Range': 'x' } }
    for (const [url, error] of [
      [link.replace(/[^/]+$/, 'unknown'), 'Access token not found'],
      [upload, 'Operation does not match access token.'],
    ] as const) {
      const reply = await postForm(url, parts, odd)
      assert.deepEqual([reply.status, reply.body], [403, { error }])
    }
    const range = await postForm(link, parts, odd)
    assert.deepEqual([range.status, range.body], [400, { error: 'Invalid Seafile-Content-Range' }])
    const boundary = await postForm(link, parts, { headers: { 'Content-Type': 'text/plain' } })
    assert.deepEqual([boundary.status, boundary.body], [400, { error: 'Wrong boundary in url' }])
    const frozen = await user.createLibrary('Frozen')
    const toFrozen = await updateLink(user, frozen)
    await makeReadOnly(server, frozen)
    const refused = await postForm(toFrozen, parts, odd)
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Repo status not writable.' }])
  })
})

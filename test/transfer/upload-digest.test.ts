import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  formBytes,
  headOf,
  namesIn,
  postBody,
  postForm,
  type SentPart,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const digest = (algorithm: 'sha-256' | 'sha-512', bytes: string | Buffer) =>
  `${algorithm}=:${createHash(algorithm.replace('-', '')).update(bytes).digest('base64')}:`
const mismatch = [400, { error: 'Digest mismatch.' }]

describe('a digest sent with an upload', () => {
  let server: TestServer
  let user: Client
  let library: string
  let link: string
  before(async () => {
    server = await startServer()
    user = await server.signUp()
    library = await user.createLibrary()
    link = await uploadLink(user, library)
  })
  after(() => server[Symbol.asyncDispose]())

  const parts: SentPart[] = [['parent_dir', '/'], { filename: 'a.txt', bytes: 'hello' }]
  const two: SentPart[] = [...parts, { filename: 'b.txt', bytes: 'you' }]
  const body = formBytes(parts)
  const cases: [about: string, headers: Record<string, string>, sent: SentPart[], matches: boolean][] = [
    ['of the file', { 'Repr-Digest': digest('sha-256', 'hello') }, parts, true],
    ['of another file', { 'Repr-Digest': digest('sha-256', 'hullo') }, parts, false],
    ['in SHA-512', { 'Repr-Digest': digest('sha-512', 'hello') }, parts, true],
    ['of another file in SHA-512', { 'Repr-Digest': digest('sha-512', 'x') }, parts, false],
    [
      'twice, one wrong',
      { 'Repr-Digest': `${digest('sha-256', 'hello')}, ${digest('sha-512', 'x')}` },
      parts,
      false,
    ],
    [
      'with an additional unknown algorithm',
      { 'Repr-Digest': `md5=:AAAA:, ${digest('sha-256', 'hello')}` },
      parts,
      true,
    ],
    ['of an unknown algorithm only', { 'Repr-Digest': 'md5=:AAAA:' }, parts, true],
    ['of an algorithm called constructor', { 'Repr-Digest': 'constructor=:AAAA:' }, parts, true],
    ['that is malformed', { 'Repr-Digest': 'sha-256=hello' }, parts, true],
    ['followed by invalid text', { 'Repr-Digest': `${digest('sha-256', 'x')}, nonsense` }, parts, true],
    ['that is too short', { 'Repr-Digest': 'sha-256=:AAAA:' }, parts, false],
    ['of one of two files', { 'Repr-Digest': digest('sha-256', 'x') }, two, true],
    ['of the body', { 'Content-Digest': digest('sha-256', body) }, parts, true],
    ['of another body', { 'Content-Digest': digest('sha-256', 'hello') }, parts, false],
    [
      'of both',
      { 'Content-Digest': digest('sha-512', body), 'Repr-Digest': digest('sha-512', 'hello') },
      parts,
      true,
    ],
  ]
  for (const [about, headers, sent, matches] of cases) {
    it(`${about} ${matches ? 'accepts it' : 'rejects it'}`, async () => {
      const head = await headOf(user, library)
      const reply = await postBody(link, formBytes(sent), headers)
      assert.deepEqual([reply.status, matches || reply.body], matches ? [200, true] : mismatch)
      assert.equal((await headOf(user, library)) !== head, matches)
    })
  }

  it('is also checked per part', async () => {
    const part = (filename: string, of: string): SentPart => ({
      filename,
      bytes: filename,
      headers: { 'Content-Digest': digest('sha-256', of) },
    })
    const before = await namesIn(user, library)
    const wrong = await postForm(link, [['parent_dir', '/'], part('x', 'x'), part('y', 'z')])
    assert.deepEqual([wrong.status, wrong.body], mismatch)
    assert.deepEqual(await namesIn(user, library), before)
    const right = await postForm(link, [['parent_dir', '/'], part('x', 'x'), part('y', 'y')])
    assert.equal(right.status, 200)
  })

  it('is checked for updates', async () => {
    await uploadFile(user, library, '/u.txt', 'old')
    const to = await updateLink(user, library)
    const sent: SentPart[] = [['target_file', '/u.txt'], { filename: 'u', bytes: 'new' }]
    const wrong = await postForm(to, sent, { headers: { 'Repr-Digest': digest('sha-256', 'old') } })
    assert.deepEqual([wrong.status, wrong.body], mismatch)
    const right = await postForm(to, sent, { headers: { 'Repr-Digest': digest('sha-256', 'new') } })
    assert.equal(right.status, 200)
  })

  it('is of the whole file if it comes in chunks, and of the chunk in its part', async () => {
    const send = (start: number, text: string, of: string, whole: string) =>
      postForm(
        link,
        [
          ['parent_dir', '/'],
          { filename: 'c', bytes: text, headers: { 'Content-Digest': digest('sha-256', of) } },
        ],
        {
          headers: {
            'Content-Range': `bytes ${start}-${start + text.length - 1}/6`,
            'Content-Disposition': 'attachment; filename=chunked.txt',
            'Repr-Digest': digest('sha-512', whole),
          },
        },
      )
    assert.equal((await send(0, 'abc', 'abc', 'abcdef')).status, 200)
    const badChunk = await send(3, 'def', 'xyz', 'abcdef')
    assert.deepEqual([badChunk.status, badChunk.body], mismatch)
    const badFile = await send(3, 'def', 'def', 'abcdeg')
    assert.deepEqual([badFile.status, badFile.body], mismatch)
    const good = await send(3, 'def', 'def', 'abcdef')
    assert.match(good.text, /^[0-9a-f]{40}$/)
  })
})

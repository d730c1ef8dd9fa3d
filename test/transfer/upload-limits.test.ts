import assert from 'node:assert/strict'
import { readdir, rename } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { BlockStoreError } from '../../src/platform/storage/block-store.ts'
import type { Client } from '../support/client.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  eventually,
  expectNothingLeft,
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

const bytesOf = (size: number): SentPart => ({ filename: 'a.bin', bytes: Buffer.alloc(size, 7) })
const chunked = (bytes: Uint8Array, pieces = 7) =>
  new ReadableStream({
    start(controller) {
      const size = Math.ceil(bytes.length / pieces)
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })

const setQuota = (server: TestServer, user: Client, quota: number) =>
  server.running.services.accounts.update(user.email, { quota }, undefined)

const outOfQuota = [443, { error: 'Out of quota.' }]
const tooLarge = [442, { error: 'File size is too large.' }]

describe('an upload beyond the quota', () => {
  it('is rejected by its length, or by its bytes if the length is unknown', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await setQuota(server, user, 10_000)
    const body = formBytes([intoRoot, bytesOf(10_000)])
    const whole = await postBody(link, body)
    assert.deepEqual([whole.status, whole.body], outOfQuota)
    const unknown = await postBody(link, chunked(body))
    assert.deepEqual([unknown.status, unknown.body], outOfQuota)
    const headers = { 'Content-Range': 'bytes 0-0/10000' }
    const chunk = await postForm(link, [intoRoot, bytesOf(1)], { headers })
    assert.deepEqual([chunk.status, chunk.body], outOfQuota)
    const update = await postForm(await updateLink(user, library), [
      ['target_file', '/a.bin'],
      bytesOf(10_000),
    ])
    assert.deepEqual([update.status, update.body], outOfQuota)
    assert.deepEqual(await namesIn(user, library), [])
    await expectNothingLeft(server)
  })

  it('counts all bytes of the request, and is accepted just below the limit', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const link = await uploadLink(user, await user.createLibrary())
    const body = formBytes([intoRoot, bytesOf(5000)])
    for (const send of [() => body, () => chunked(body)]) {
      await setQuota(server, user, (await used(server, user)) + body.length)
      assert.equal((await postBody(link, send())).status, 443)
      await setQuota(server, user, (await used(server, user)) + body.length + 1)
      assert.equal((await postBody(link, send())).status, 200)
    }
    await expectNothingLeft(server)
  })

  it('is rejected among many concurrent uploads', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const body = formBytes([intoRoot, bytesOf(100_000)])
    await setQuota(server, user, 350_000)
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => postBody(link, index % 2 ? body : chunked(body))),
    )
    const stored = replies.filter((reply) => reply.status === 200).length
    assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([200, 443]))
    assert(stored >= 1 && stored <= 3, `${stored} were stored`)
    assert.equal(await used(server, user), stored * 100_000)
    await expectNothingLeft(server)
  })

  it('is reported before the size limit', async () => {
    await using server = await startServer({ env: { CARREL_MAX_UPLOAD_MB: '0.001' } })
    const user = await server.signUp()
    const link = await uploadLink(user, await user.createLibrary())
    const large = await postForm(link, [intoRoot, bytesOf(1000)])
    assert.deepEqual([large.status, large.body], tooLarge)
    await setQuota(server, user, 500)
    const full = await postForm(link, [intoRoot, bytesOf(1000)])
    assert.deepEqual([full.status, full.body], outOfQuota)
  })
})

describe('an upload beyond the size limit', () => {
  it('is rejected by its length, its bytes, or the total of its chunks', async () => {
    await using server = await startServer({ env: { CARREL_MAX_UPLOAD_MB: '0.01' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const body = formBytes([intoRoot, bytesOf(10_000)])
    for (const reply of [
      await postBody(link, body),
      await postBody(link, chunked(body)),
      await postForm(link, [intoRoot, bytesOf(1)], { headers: { 'Content-Range': 'bytes 0-0/10001' } }),
      await postForm(await updateLink(user, library), [['target_file', '/a'], bytesOf(10_000)]),
    ]) {
      assert.deepEqual([reply.status, reply.body], tooLarge)
    }
    const just = formBytes([intoRoot, bytesOf(10_000 - (body.length - 10_000))])
    assert.equal(just.length, 10_000)
    assert.equal((await postBody(link, just)).status, 200)
    assert.equal((await postBody(link, chunked(just))).status, 200)
    await expectNothingLeft(server)
  })
})

describe('an upload rejected early', () => {
  it('is answered while it is still being sent', async () => {
    await using server = await startServer({ env: { CARREL_MAX_UPLOAD_MB: '1' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const unknown = link.replace(/[^/]+$/, 'unknown')
    const cases: [url: string, length: number, status: number][] = [
      [unknown, 100_000_000, 403],
      [unknown, 100_000, 403],
      [link, 100_000_000, 442],
    ]
    for (const [url, length, status] of cases) {
      const { outgoing, answered } = begin(url, { 'Content-Length': String(length) })
      outgoing.write(formBytes([intoRoot, bytesOf(10)]).subarray(0, 50))
      const reply = await answered
      assert.equal(reply.statusCode, status)
      assert.match(await text(reply), /^{"error":/)
      outgoing.destroy()
    }
    await setQuota(server, user, 1)
    const { outgoing, answered } = begin(link, { 'Content-Length': '1000' })
    outgoing.flushHeaders()
    assert.equal((await answered).statusCode, 443)
    outgoing.destroy()
  })

  it('is answered even if the client continues to send for a while', async () => {
    await using server = await startServer({ env: { CARREL_MAX_UPLOAD_MB: '1' } })
    const user = await server.signUp()
    const link = await uploadLink(user, await user.createLibrary())
    for (const size of [2_000_000, 7_000_000]) {
      const reply = await postForm(link, [intoRoot, bytesOf(size)])
      assert.deepEqual([reply.status, reply.body], tooLarge)
    }
  })

  it('keeps the connection for the next request if the rest was short', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const bad = await postForm(await uploadLink(user, library), [['parent_dir', '/none'], bytesOf(3_000_000)])
    assert.deepEqual([bad.status, bad.headers.get('connection')], [400, 'keep-alive'])
    assert.equal((await user.get('/api2/ping/')).status, 200)
  })
})

describe('a client that disconnects in the middle', () => {
  const heads: [about: string, headers: Record<string, string>][] = [
    ['of a body of known length', { 'Content-Length': '50000000' }],
    ['of a body of unknown length', { 'Transfer-Encoding': 'chunked' }],
    ['of a chunk', { 'Content-Length': '5000000', 'Content-Range': 'bytes 0-4999999/9000000' }],
  ]
  for (const [about, headers] of heads) {
    it(`${about} leaves nothing behind`, async () => {
      await using server = await startServer({ env: { CARREL_DEFAULT_QUOTA_MB: '100' } })
      const user = await server.signUp()
      const library = await user.createLibrary()
      const link = await uploadLink(user, library)
      const head = await headOf(user, library)
      const { outgoing, answered } = begin(link, headers)
      answered.catch(() => {})
      const body = formBytes([intoRoot, { filename: 'a.bin', bytes: '' }])
      outgoing.write(body.subarray(0, body.lastIndexOf(`\r\n--${BOUNDARY}--`)))
      await new Promise<void>((resolve) => outgoing.write(Buffer.alloc(2_000_000, 1), () => resolve()))
      await eventually(async () => assert.notDeepEqual(await temporaryFiles(server), []))
      outgoing.destroy()
      await eventually(() => expectNothingLeft(server))
      assert.equal(await headOf(user, library), head)
      assert.equal((await postForm(link, [intoRoot, bytesOf(10)])).status, 200)
    })
  }
})

describe('a request of several files', () => {
  const first = { filename: 'first.bin', bytes: Buffer.alloc(300_000, 1) }
  const second = { filename: 'second.bin', bytes: Buffer.alloc(300_000, 2) }

  it('that is interrupted in the last one leaves nothing of the others', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const link = await uploadLink(user, await user.createLibrary())
    const body = formBytes([intoRoot, first, second])
    const { outgoing, answered } = begin(link, { 'Content-Length': String(body.length) })
    answered.catch(() => {})
    // All of the first, and some of the second.
    outgoing.write(body.subarray(0, body.length - 100_000))
    await eventually(async () => assert.notDeepEqual(await temporaryFiles(server), []))
    outgoing.destroy()
    await eventually(() => expectNothingLeft(server))
    assert.deepEqual(await blockFiles(server), [])
  })

  it('that is rejected for the last one leaves nothing of the others', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const link = await uploadLink(user, await user.createLibrary())
    const reply = await postForm(link, [intoRoot, first, { ...second, filename: 'a\u0001b' }])
    assert.equal(reply.status, 440)
    await eventually(() => expectNothingLeft(server))
    assert.deepEqual(await blockFiles(server), [])
    assert.equal((await postForm(link, [intoRoot, first, second])).status, 200)
    assert.equal((await blockFiles(server)).length, 2)
  })
})

describe('a slow upload', () => {
  it('is rejected if its sender lost the permission by its end', async () => {
    let now = 1_800_000_000
    await using server = await startServer({ now: () => now })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const body = formBytes([intoRoot, bytesOf(1_000_000)])
    const { outgoing, answered } = begin(link, { 'Content-Length': String(body.length) })
    outgoing.write(body.subarray(0, 800_000))
    await eventually(async () => assert.notDeepEqual(await temporaryFiles(server), []))
    await makeReadOnly(server, library)
    now += 10
    outgoing.end(body.subarray(800_000))
    const reply = await answered
    assert.equal(reply.statusCode, 403)
    assert.deepEqual(JSON.parse(await text(reply)), { error: 'Repo status not writable.' })
  })
})

describe('a block store that fails', () => {
  it('is answered with 500, or 507 for want of space, and later uploads work again', async () => {
    await using server = await startServer({ env: { CARREL_LOG: 'silent', CARREL_DEFAULT_QUOTA_MB: '100' } })
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const head = await headOf(user, library)
    const broken = [500, { error: 'Internal error' }]

    const place = path.join(server.data, 'blocks/tmp')
    await rename(place, `${place}-away`)
    for (const size of [100_000, 20_000_000]) {
      const reply = await postForm(link, [intoRoot, bytesOf(size)])
      assert.deepEqual([reply.status, reply.body], broken)
      assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    }
    const headers = { 'Content-Range': 'bytes 0-99999/200000' }
    assert.equal((await postForm(link, [intoRoot, bytesOf(100_000)], { headers })).status, 500)
    await rename(`${place}-away`, place)
    assert.equal(await headOf(user, library), head)

    const { content } = storesOf(server.running.services.core)
    const receive = content.receive.bind(content)
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    content.receive = async (source) => {
      for await (const bytes of source) if (bytes.length > 0) break
      throw new BlockStoreError('A block could not be stored (ENOSPC).', { cause: full })
    }
    const reply = await postForm(link, [intoRoot, bytesOf(5_000_000)])
    assert.deepEqual(
      [reply.status, reply.body],
      [507, { error: 'The server has no disk space left. Ask its administrator to free some.' }],
    )
    content.receive = receive

    await expectNothingLeft(server)
    await uploadFile(user, library, '/a.bin', Buffer.alloc(100_000))
    assert.deepEqual(await namesIn(user, library), ['a.bin'])
  })
})

/** Begins a request and holds its body back. */
function begin(link: string, headers: Record<string, string>) {
  const answer = Promise.withResolvers<IncomingMessage>()
  const outgoing: ClientRequest = request(link, {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
    agent: false,
  })
  outgoing.on('response', answer.resolve)
  outgoing.on('error', answer.reject)
  return { outgoing, answered: answer.promise }
}

function temporaryFiles({ data }: TestServer): Promise<string[]> {
  return readdir(path.join(data, 'blocks/tmp'))
}

async function used(server: TestServer, user: Client): Promise<number> {
  const { accounts, quotas } = server.running.services
  return quotas.usageOf(await accounts.get(user.email))
}

/** The path of a name in the block store. */
async function blockFiles(server: TestServer): Promise<string[]> {
  const all = await readdir(path.join(server.data, 'blocks'), { recursive: true, withFileTypes: true })
  return all.filter((entry) => entry.isFile() && /^[0-9a-f]{38}$/.test(entry.name)).map(({ name }) => name)
}

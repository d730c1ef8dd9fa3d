import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { Client } from '../support/client.ts'
import { seededRandom } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  eventually,
  expectNothingLeft,
  formBytes,
  namesIn,
  postForm,
  type SentPart,
  storedBytes,
  uploadLink,
} from '../support/transfer.ts'

type Action =
  | { kind: 'chunk'; size: number }
  | { kind: 'again'; back: number; size: number }
  | { kind: 'cut'; size: number; share: number }
  | { kind: 'beyond'; gap: number }
  | { kind: 'anew'; size: number }
  | { kind: 'restart' }

const size = fc.integer({ min: 1, max: 150_000 })
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('chunk' as const), size }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const), back: size, size }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('cut' as const),
      size,
      share: fc.double({ min: 0, max: 0.99, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('beyond' as const), gap: size }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('anew' as const), size }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
)

it('stores the exact file after random interruptions of a chunked upload', async (t) => {
  const seed = Date.now() % 2 ** 31
  t.diagnostic(`seed ${seed}`)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-chunks-'))
  try {
    await using upload = await Upload.start(data)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400_000 }),
        fc.array(action, { maxLength: 12 }),
        (total, actions) => upload.run(total, actions),
      ),
      { seed, numRuns: 25 },
    )
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/** Runs one upload after another against a server that is restarted now and then. */
class Upload implements AsyncDisposable {
  readonly #data: string
  #server: TestServer
  #client: Client
  #library = ''
  #content = Buffer.alloc(0)
  /** Bytes the server has acknowledged. */
  #stored = 0
  #done = false

  private constructor(data: string, server: TestServer, client: Client) {
    this.#data = data
    this.#server = server
    this.#client = client
  }

  static async start(data: string): Promise<Upload> {
    const server = await startServer({ data })
    return new Upload(data, server, await server.signUp())
  }

  async run(total: number, actions: readonly Action[]): Promise<void> {
    const random = seededRandom(total)
    this.#content = Buffer.from(Array.from({ length: total }, () => random() * 256))
    this.#library = await this.#client.createLibrary()
    this.#stored = 0
    this.#done = false
    for (const one of actions) {
      if (this.#done) break
      await this.#act(one)
      if (!this.#done) await this.#expectStored()
    }
    while (!this.#done) await this.#send(this.#stored, 90_000)
    assert.deepEqual(await namesIn(this.#client, this.#library), ['a.bin'])
    assert(this.#content.equals(await storedBytes(this.#server, this.#library, '/a.bin')))
    this.#stored = 0
    await this.#expectStored()
    await eventually(() => expectNothingLeft(this.#server))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }

  async #act(one: Action): Promise<void> {
    switch (one.kind) {
      case 'chunk':
        return this.#send(this.#stored, one.size)
      case 'anew':
        return this.#send(0, one.size)
      case 'again':
        return this.#send(Math.max(0, this.#stored - one.back), one.size)
      case 'beyond':
        return this.#sendBeyond(this.#stored + one.gap)
      case 'cut':
        return this.#cut(one.size, one.share)
      case 'restart':
        return this.#restart()
    }
  }

  async #send(start: number, length: number): Promise<void> {
    const total = this.#content.length
    const end = Math.min(total, start + length)
    const reply = await postForm(await this.#link(), this.#parts(start, end), {
      query: 'ret-json=1',
      headers: { 'Content-Range': `bytes ${start}-${end - 1}/${total}` },
    })
    assert.equal(reply.status, 200, reply.text)
    if (end === total) {
      assert.deepEqual([reply.body[0].name, reply.body[0].size], ['a.bin', total])
      this.#done = true
    } else {
      assert.equal(reply.text, '{"success": true}')
      this.#stored = start === 0 ? end : Math.max(this.#stored, end)
    }
  }

  async #sendBeyond(start: number): Promise<void> {
    const total = this.#content.length
    if (start >= total) return
    const reply = await postForm(await this.#link(), this.#parts(start, total), {
      headers: { 'Content-Range': `bytes ${start}-${total - 1}/${total}` },
    })
    assert.deepEqual([reply.status, reply.body], [400, { error: 'Invalid Seafile-Content-Range' }])
  }

  /** Disconnects after a part of the chunk's bytes. */
  async #cut(length: number, share: number): Promise<void> {
    const total = this.#content.length
    const end = Math.min(total, this.#stored + length)
    const body = formBytes(this.#parts(this.#stored, end))
    const outgoing = request(await this.#link(), {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
        'Content-Length': body.length,
        'Content-Range': `bytes ${this.#stored}-${end - 1}/${total}`,
      },
    })
    outgoing.on('error', () => {})
    await new Promise<void>((resolve) => {
      outgoing.write(body.subarray(0, Math.floor(body.length * share)), () => resolve())
    })
    outgoing.destroy()
  }

  async #restart(): Promise<void> {
    await this.#server.running.close()
    this.#server = await startServer({ data: this.#data })
    this.#client = new Client(this.#server.url, this.#client.token, this.#client.email)
  }

  async #expectStored(): Promise<void> {
    const reply = await this.#client.get(`/api/v2.1/repos/${this.#library}/file-uploaded-bytes/`, {
      parent_dir: '/',
      file_name: 'a.bin',
    })
    assert.deepEqual(reply.body, { uploadedBytes: this.#stored })
  }

  #parts(start: number, end: number): SentPart[] {
    return [['parent_dir', '/'], { filename: 'a.bin', bytes: this.#content.subarray(start, end) }]
  }

  #link(): Promise<string> {
    return uploadLink(this.#client, this.#library)
  }
}

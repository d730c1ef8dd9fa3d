import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { createEncrypted, openEncrypted } from '../support/encrypted.ts'
import { EventStream } from '../support/event-stream.ts'
import { SyncClient, type TreeSpec } from '../support/sync-client.ts'
import {
  download,
  expectOk,
  FileJournal,
  hasEnded,
  hashOf,
  namesOf,
  sendChunk,
  sendFile,
  startTask,
  uploadedBytes,
} from '../support/workload.ts'
import { unzip } from '../support/zip-reader.ts'
import { type Attempts, GivenUp } from './attempts.ts'

/** A load generator for one kind of operation, with a journal of acknowledged writes. */
export interface Writer extends AsyncDisposable {
  readonly kind: string
  /** One operation. Throws GivenUp if it was not acknowledged, any other error for a wrong response. */
  write(attempts: Attempts): Promise<void>
  /** Everything acknowledged is there and correct, everything else completely or not at all, and nothing twice. */
  verify(attempts: Attempts): Promise<void>
}

type Random = () => number

const LARGEST_SMALL = 50_000
const LARGEST = 2_500_000
const CHUNK = 300_000
const TASK_MS = 120_000

/** One writer of each kind, each in a library of its own. */
export async function createWriters(
  client: Client,
  entrances: readonly string[],
  random: Random,
): Promise<Writer[]> {
  const uploads = new Uploads('large upload', await client.createLibrary(), random, {
    least: 70_000,
    most: LARGEST,
  })
  const { id } = await createEncrypted(client, 4)
  await openEncrypted(client, id)
  return [
    new Uploads('small upload', await client.createLibrary(), random, {
      least: 1,
      most: LARGEST_SMALL,
      repeats: true,
    }),
    uploads,
    new Downloads(uploads, random),
    new Uploads('encrypted upload', id, random, { least: 1000, most: 200_000 }),
    new Chunks(await client.createLibrary(), random),
    new Pushes(await SyncClient.link(client, await client.createLibrary()), random),
    await Tasks.create(client, 'copy'),
    await Tasks.create(client, 'move'),
    await Archives.create(client),
    new Events(await client.createLibrary(), client, entrances),
  ]
}

interface UploadSizes {
  readonly least: number
  readonly most: number
  /** Sends a file again, in the place of the one that may be there, if it was not acknowledged. */
  readonly repeats?: true
}

/** Whole files under new names. */
class Uploads implements Writer {
  readonly kind: string
  readonly library: string
  readonly sent: FileJournal
  readonly #random: Random
  readonly #sizes: UploadSizes

  constructor(kind: string, library: string, random: Random, sizes: UploadSizes) {
    this.kind = kind
    this.library = library
    this.sent = new FileJournal(kind)
    this.#random = random
    this.#sizes = sizes
  }

  async write(attempts: Attempts): Promise<void> {
    const { least, most, repeats } = this.#sizes
    const name = `${this.sent.size}.bin`
    const bytes = randomBytes(Math.floor(least + this.#random() ** 2 * (most - least)))
    const record = this.sent.send(name, bytes)
    const send = (client: Client) =>
      sendFile(client, this.library, name, bytes, [['replace', repeats ? '1' : '0']])
    await (repeats ? attempts.repeatedly(send) : attempts.once(send))
    record.isAcknowledged = true
  }

  async verify(attempts: Attempts): Promise<void> {
    await verifyFiles(attempts, this.library, this.sent)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Reads files of another writer, and compares them. */
class Downloads implements Writer {
  readonly kind = 'download'
  readonly #uploads: Uploads
  readonly #random: Random

  constructor(uploads: Uploads, random: Random) {
    this.#uploads = uploads
    this.#random = random
  }

  async write(attempts: Attempts): Promise<void> {
    const name = this.#uploads.sent.pick(this.#random)
    if (name === undefined) return delay(50)
    const bytes = await attempts.once((client) => download(client, this.#uploads.library, name))
    this.#uploads.sent.expectBytes(name, bytes)
  }

  async verify(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Files in chunks, each sent to the next node. After an error it asks how much has arrived and goes on from there. */
class Chunks implements Writer {
  readonly kind = 'chunked upload'
  readonly #library: string
  readonly #random: Random
  readonly #sent = new FileJournal('chunked upload')

  constructor(library: string, random: Random) {
    this.#library = library
    this.#random = random
  }

  async write(attempts: Attempts): Promise<void> {
    const name = `chunked ${this.#sent.size}.bin`
    const bytes = randomBytes(CHUNK + Math.floor(this.#random() * 3 * CHUNK))
    const record = this.#sent.send(name, bytes)
    for (let acknowledged = 0, failures = 0; acknowledged < bytes.length; ) {
      try {
        const chunk = { name, bytes, start: acknowledged, length: CHUNK }
        await attempts.once((client) => sendChunk(client, this.#library, chunk))
        acknowledged = Math.min(acknowledged + CHUNK, bytes.length)
      } catch (error) {
        failures += 1
        if (!(error instanceof GivenUp) || failures > 6) throw error
        const found = await attempts.repeatedly((client) => this.#received(client, name))
        if (found === 'complete') break
        assert.ok(found >= acknowledged, `${name}: ${found} of ${acknowledged} acknowledged bytes`)
        acknowledged = found
      }
    }
    record.isAcknowledged = true
  }

  async #received(client: Client, name: string): Promise<number | 'complete'> {
    const received = await uploadedBytes(client, this.#library, name)
    // The last chunk may have been stored without a response. Asked for afterwards, because it may still be on its way.
    return (await namesOf(client, this.#library)).includes(name) ? 'complete' : received
  }

  async verify(attempts: Attempts): Promise<void> {
    await verifyFiles(attempts, this.#library, this.#sent)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A desktop client that pushes one more file at a time. */
class Pushes implements Writer {
  readonly kind = 'push'
  readonly #link: SyncClient
  readonly #random: Random
  readonly #sent = new Map<string, { readonly content: Buffer; isAcknowledged: boolean }>()

  constructor(link: SyncClient, random: Random) {
    this.#link = link
    this.#random = random
  }

  #at(client: Client): SyncClient {
    return new SyncClient(client.url, this.#link.library, this.#link.token, this.#link.email)
  }

  async write(attempts: Attempts): Promise<void> {
    const name = `file ${this.#sent.size}`
    const content = randomBytes(1 + Math.floor(this.#random() ** 3 * 200_000))
    const record = { content, isAcknowledged: false }
    const known = [...this.#sent].filter(([, { isAcknowledged }]) => isAcknowledged)
    this.#sent.set(name, record)
    const files = known.map(([old, { content: bytes }]) => [old, bytes] as const)
    const spec: TreeSpec = { device: Object.fromEntries([...files, [name, content]]) }
    await attempts.once((client) => this.#at(client).push(spec))
    record.isAcknowledged = true
  }

  async verify(attempts: Attempts): Promise<void> {
    const files = await attempts.repeatedly((client) => this.#at(client).clone())
    for (const [name, { content, isAcknowledged }] of this.#sent) {
      const found = files.get(`/device/${name}`)
      if (found === undefined) assert.ok(!isAcknowledged, `${name} was pushed and is gone`)
      else assert.ok(content.equals(found ?? Buffer.alloc(0)), `${name} has other bytes`)
    }
    const known = new Set(['/device', ...[...this.#sent.keys()].map((name) => `/device/${name}`)])
    const foreign = [...files.keys()].filter((name) => !known.has(name))
    assert.deepEqual(foreign, [], 'files that were never pushed')
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Copies or moves between libraries, as background tasks. */
class Tasks implements Writer {
  readonly kind: string
  readonly #operation: 'copy' | 'move'
  readonly #source: string
  readonly #target: string
  readonly #files = new Map<string, { isAcknowledged: boolean }>()

  private constructor(operation: 'copy' | 'move', source: string, target: string) {
    this.kind = `${operation} task`
    this.#operation = operation
    this.#source = source
    this.#target = target
  }

  static async create(client: Client, operation: 'copy' | 'move'): Promise<Tasks> {
    return new Tasks(operation, await client.createLibrary(), await client.createLibrary())
  }

  async write(attempts: Attempts): Promise<void> {
    const name = `${this.#operation} ${this.#files.size}`
    await attempts.once((client) => sendFile(client, this.#source, name, contentOf(name)))
    const record = { isAcknowledged: false }
    this.#files.set(name, record)
    const task = { operation: this.#operation, source: this.#source, target: this.#target, name }
    const id = await attempts.once((client) => startTask(client, task))
    record.isAcknowledged = true
    const deadline = performance.now() + TASK_MS
    for (;;) {
      if (await attempts.repeatedly((client) => hasEnded(client, id))) return
      assert.ok(performance.now() < deadline, `${name} is not finished after two minutes`)
      await delay(100)
    }
  }

  async verify(attempts: Attempts): Promise<void> {
    const [left, arrived] = await attempts.repeatedly((client) =>
      Promise.all([namesOf(client, this.#source), namesOf(client, this.#target)]),
    )
    for (const [name, { isAcknowledged }] of this.#files) {
      const places = `${left.includes(name) ? 'source ' : ''}${arrived.includes(name) ? 'target' : ''}`.trim()
      const done = this.#operation === 'copy' ? 'source target' : 'target'
      const expected = isAcknowledged ? [done] : ['source', done]
      assert.ok(expected.includes(places), `${name} is in: ${places}, acknowledged: ${isAcknowledged}`)
    }
    const foreign = arrived.filter((name) => !this.#files.has(name))
    assert.deepEqual(foreign, [], `${this.kind}: names that nobody asked for`)
    for (const name of arrived) {
      const bytes = await attempts.repeatedly((client) => download(client, this.#target, name))
      assert.equal(hashOf(bytes), hashOf(contentOf(name)), `${this.kind}: ${name} has other bytes`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** What a task copies or moves under a name. */
function contentOf(name: string): Buffer {
  return Buffer.alloc(70_000, name)
}

/** Zip archives, polled and downloaded at any node. */
class Archives implements Writer {
  readonly kind = 'archive'
  readonly #library: string
  readonly #contents: ReadonlyMap<string, Buffer>

  private constructor(library: string, contents: ReadonlyMap<string, Buffer>) {
    this.#library = library
    this.#contents = contents
  }

  static async create(client: Client): Promise<Archives> {
    const library = await client.createLibrary()
    const contents = new Map([
      ['long', randomBytes(400_000)],
      ['short', Buffer.from('short')],
    ])
    for (const [filename, bytes] of contents) {
      await sendFile(client, library, filename, bytes)
    }
    return new Archives(library, contents)
  }

  async write(attempts: Attempts): Promise<void> {
    const token = await attempts.once(async (client) => {
      const form = { parent_dir: '/', dirents: [...this.#contents.keys()] }
      const reply = await client.post(`/api/v2.1/repos/${this.#library}/zip-task/`, { form })
      expectOk(reply)
      return reply.body.zip_token as string
    })
    const deadline = performance.now() + TASK_MS
    for (;;) {
      const progress = await attempts.repeatedly(async (client) => {
        const reply = await client.get('/api/v2.1/query-zip-progress/', { token })
        expectOk(reply)
        return reply
      })
      // What it reads cannot be reached.
      if (progress.body.failed === 1) throw new GivenUp(progress.text)
      if (progress.body.zipped === progress.body.total) break
      assert.ok(
        performance.now() < deadline,
        `an archive is not finished after two minutes: ${progress.text}`,
      )
      await delay(100)
    }
    const bytes = await attempts.once(async ({ url }) => {
      const response = await fetch(`${url}/seafhttp/zip/${token}`)
      const received = Buffer.from(await response.arrayBuffer())
      assert.equal(response.status, 200, received.toString('utf8', 0, 200))
      return received
    })
    assert.deepEqual(unzip(bytes), this.#contents)
  }

  async verify(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A live stream of events at each entrance, opened again when it ends, and files whose commits it has to show. */
class Events implements Writer {
  readonly kind = 'event'
  readonly #library: string
  readonly #client: Client
  readonly #entrances: readonly string[]
  #count = 0

  constructor(library: string, client: Client, entrances: readonly string[]) {
    this.#library = library
    this.#client = client
    this.#entrances = entrances
  }

  async write(attempts: Attempts): Promise<void> {
    const url = this.#entrances[this.#count % this.#entrances.length] ?? ''
    await using stream = await this.#open(url)
    await attempts.once((client) => this.#upload(client))
    await this.#nextCommit(stream, 30_000)
    await delay(200)
  }

  /** Every node shows a commit that was made through another one. */
  async verify(attempts: Attempts): Promise<void> {
    for (const url of this.#entrances) {
      await using stream = await this.#open(url)
      await attempts.repeatedly((client) => this.#upload(client))
      await this.#nextCommit(stream, 20_000)
    }
  }

  async #open(url: string): Promise<EventStream> {
    const { token, email } = this.#client
    try {
      const signal = AbortSignal.timeout(20_000)
      const opened = EventStream.open(new Client(url, token, email))
      return await Promise.race([opened, rejectedBy(signal)])
    } catch (error) {
      throw new GivenUp('no stream', { cause: error })
    }
  }

  async #nextCommit(stream: EventStream, ms: number): Promise<void> {
    const commit = (async () => {
      for (;;) {
        const event = await stream.next()
        if (event === undefined) throw new GivenUp('the stream ended')
        if (event.event === 'commit') return
      }
    })()
    try {
      await Promise.race([commit, rejectedBy(AbortSignal.timeout(ms))])
    } catch (error) {
      throw new GivenUp('no event arrived', { cause: error })
    }
  }

  async #upload(client: Client): Promise<void> {
    const name = `event ${this.#count++}`
    await sendFile(client, this.#library, name, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

async function verifyFiles(attempts: Attempts, library: string, sent: FileJournal): Promise<void> {
  const names = await attempts.repeatedly((client) => namesOf(client, library))
  await sent.verify(names, (name) => attempts.repeatedly((client) => download(client, library, name)))
}

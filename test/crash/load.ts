import assert from 'node:assert/strict'
import type { Client } from '../support/client.ts'
import { seededRandom } from '../support/random.ts'
import { SyncClient } from '../support/sync-client.ts'
import { postForm, type SentPart, updateLink, uploadLink } from '../support/transfer.ts'
import { hashOf } from '../support/workload.ts'
import type { Recording } from './recording.ts'

/** What a request changes: the SHA-256 of each file, or null for one that is gone. */
export type Changes = Readonly<Record<string, string | null>>

/** A request of a writer. */
export interface Request {
  readonly id: number
  /** The writer. Each has one request at a time, and files of its own. */
  readonly writer: string
  readonly library: string
  readonly changes: Changes
  /** Bytes of a resumable upload that are stored afterwards, by the name of the file. */
  readonly partial?: Readonly<Record<string, number>>
}

/** Sends requests and marks each in the recording, before it is sent and once it is acknowledged. */
export class Load {
  readonly requests: Request[] = []
  readonly #recording: Recording

  constructor(recording: Recording) {
    this.#recording = recording
  }

  /** `send` resolves once the server acknowledged the request, and throws if it refused it. */
  async request(request: Omit<Request, 'id'>, send: () => Promise<void>): Promise<void> {
    const id = this.requests.length
    this.requests.push({ ...request, id })
    this.#recording.mark(`sent ${id}`)
    await send()
    this.#recording.mark(`acknowledged ${id}`)
  }
}

interface WriterOptions {
  readonly load: Load
  readonly client: Client
  readonly library: string
  readonly writer: string
  readonly seed: number
  readonly requests: number
}

/** Uploads, replaces, renames and deletes files of its own in the root of a library. */
export async function editFiles(options: WriterOptions): Promise<void> {
  const { load, client, library, writer, requests } = options
  const random = seededRandom(options.seed)
  const uploadTo = await uploadLink(client, library)
  const files = new Map<string, string>()
  const api = `/api/v2.1/repos/${library}/file/`
  const change = async (changes: Changes, send: () => Promise<void>, partial?: Record<string, number>) => {
    await load.request({ writer, library, changes, ...(partial && { partial }) }, send)
    for (const [name, hash] of Object.entries(changes)) {
      if (hash === null) files.delete(name)
      else files.set(name, hash)
    }
  }
  const upload = (name: string, bytes: Buffer) =>
    change({ [name]: hashOf(bytes) }, () =>
      posted(uploadTo, [['parent_dir', '/'], { filename: name, bytes }]),
    )
  for (let n = 0; n < requests; n++) {
    const fresh = `${writer}-${n}`
    const known = [...files.keys()]
    const some = known[Math.floor(random() * known.length)]
    const choice = some === undefined ? 0 : random()
    if (some === undefined || choice < 0.3) await upload(fresh, randomBytes(random, 50 + random() * 50_000))
    else if (choice < 0.42) await upload(fresh, randomBytes(random, 70_000 + random() * 300_000))
    else if (choice < 0.45) await upload(fresh, randomBytes(random, 1_100_000 + random() * 1_000_000))
    else if (choice < 0.55) {
      const bytes = randomBytes(random, 100 + random() ** 3 * 200_000)
      const parts: SentPart[] = [['target_file', `/${some}`], { filename: some, bytes }]
      // Twice at the same time: the second one changes nothing, and either response is an acknowledgement.
      // Each link serves one update.
      const links = await Promise.all([updateLink(client, library), updateLink(client, library)])
      const sent: Promise<void>[] = []
      await change({ [some]: hashOf(bytes) }, async () => {
        sent.push(...links.map((link) => posted(link, parts)))
        await Promise.any(sent)
      })
      await Promise.all(sent)
    } else if (choice < 0.65) {
      const form = { operation: 'rename', newname: fresh }
      await change({ [some]: null, [fresh]: files.get(some) ?? null }, () =>
        accepted(client.post(api, { query: { p: `/${some}` }, form })),
      )
    } else if (choice < 0.8) {
      await change({ [some]: null }, () => accepted(client.delete(api, { query: { p: `/${some}` } })))
    } else if (choice < 0.9) {
      await change({ [fresh]: hashOf(Buffer.of()) }, () =>
        accepted(client.post(api, { query: { p: `/${fresh}` }, form: { operation: 'create' } })),
      )
    } else {
      const bytes = randomBytes(random, 300_000)
      const chunk = 100_000
      for (let start = 0; start < bytes.length; start += chunk) {
        const end = start + chunk
        const headers = { 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` }
        const file = { filename: fresh, bytes: bytes.subarray(start, end) }
        const isLast = end === bytes.length
        await change(
          isLast ? { [fresh]: hashOf(bytes) } : {},
          () => posted(uploadTo, [['parent_dir', '/'], file], headers),
          { [fresh]: isLast ? 0 : end },
        )
      }
    }
  }
}

/** Pushes trees as a desktop client does. */
export async function pushTrees(options: WriterOptions): Promise<void> {
  const { load, client, library, writer, requests } = options
  const random = seededRandom(options.seed)
  const sync = await SyncClient.link(client, library)
  const tree: Record<string, Buffer> = {}
  for (let n = 0; n < requests; n++) {
    const name = `${writer}-${n}`
    const gone = n % 3 === 2 ? Object.keys(tree)[0] : undefined
    const bytes = randomBytes(random, random() ** 3 * 400_000)
    tree[name] = bytes
    if (gone !== undefined) delete tree[gone]
    const changes = { [name]: hashOf(bytes), ...(gone !== undefined && { [gone]: null }) }
    const commit = await sync.send(tree, await sync.head())
    await load.request({ writer, library, changes }, () => accepted(sync.putHead(commit)))
  }
}

async function posted(
  link: string,
  parts: readonly SentPart[],
  headers?: Record<string, string>,
): Promise<void> {
  await accepted(postForm(link, parts, { query: 'ret-json=1', ...(headers && { headers }) }))
}

async function accepted(reply: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await reply
  assert.equal(status, 200, text)
}

export function randomBytes(random: () => number, size: number): Buffer {
  const bytes = Buffer.alloc(Math.floor(size))
  for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.writeUInt32LE(Math.floor(random() * 2 ** 32), at)
  return bytes
}

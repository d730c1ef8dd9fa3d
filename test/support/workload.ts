import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Reply } from './client.ts'
import { intoRoot, postForm, type SentPart, uploadLink } from './transfer.ts'

// What drives a server under load: calls that fail at a wrong response, and a journal of what was acknowledged. Tests that kill servers, inject faults,
// fail disks and run for hours share them.

/** The assertion has the status in `actual`, by which tests with faults excuse it. */
export function expectOk({ status, text, headers }: Reply): void {
  if (status === 503) assert.match(headers.get('retry-after') ?? '', /^\d+$/, '503 without Retry-After')
  assert.equal(status === 201 ? 200 : status, 200, text.slice(0, 500))
}

/** SHA-256. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The names in the root of a library. */
export async function namesOf(client: Client, library: string): Promise<string[]> {
  const listing = await client.get(`/api2/repos/${library}/dir/`)
  expectOk(listing)
  return listing.body.map((entry: { name: string }) => entry.name)
}

/** Uploads a file into the root of a library. */
export async function sendFile(
  client: Client,
  library: string,
  filename: string,
  bytes: Uint8Array | string,
  more: readonly SentPart[] = [],
): Promise<void> {
  const link = await uploadLink(client, library)
  expectOk(await postForm(link, [intoRoot, ...more, { filename, bytes }]))
}

/** A chunk of a file in the root of a library. */
interface Chunk {
  readonly name: string
  /** The whole file. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly length: number
}

export async function sendChunk(
  client: Client,
  library: string,
  { name, bytes, start, length }: Chunk,
  more: readonly SentPart[] = [],
): Promise<void> {
  const piece = bytes.subarray(start, start + length)
  const link = await uploadLink(client, library)
  const headers = {
    'Content-Range': `bytes ${start}-${start + piece.length - 1}/${bytes.length}`,
    'Content-Disposition': `attachment; filename="${encodeURIComponent(name)}"`,
  }
  const parts = [intoRoot, ...more, { filename: 'part', bytes: piece }]
  expectOk(await postForm(link, parts, { query: 'ret-json=1', headers }))
}

/** How much of an unfinished file in the root of a library has arrived. */
export async function uploadedBytes(client: Client, library: string, name: string): Promise<number> {
  const query = { parent_dir: '/', file_name: name }
  const reply = await client.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)
  expectOk(reply)
  return reply.body.uploadedBytes
}

/** Downloads a file of the root of a library. */
export async function download(client: Client, library: string, name: string): Promise<Buffer> {
  const link = await client.get(`/api2/repos/${library}/file/`, { p: `/${name}` })
  expectOk(link)
  const response = await fetch(link.body)
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(response.status, 200, bytes.toString('utf8', 0, 300))
  return bytes
}

/** Deletes the history of a library that only its trash needs. */
export async function emptyTrash(client: Client, library: string): Promise<void> {
  expectOk(await client.delete(`/api/v2.1/repos/${library}/trash/`, { form: { keep_days: 0 } }))
}

/** A copy or a move of a file of one root to a folder of another library. */
interface Transfer {
  readonly operation: 'copy' | 'move'
  readonly source: string
  readonly target: string
  readonly name: string
  readonly folder?: string
}

/** Starts a background task. Resolves to its id. */
export async function startTask(
  client: Client,
  { operation, source, target, name, folder = '/' }: Transfer,
): Promise<string> {
  const started = await client.post(`/api/v2.1/repos/async-batch-${operation}-item/`, {
    json: {
      src_repo_id: source,
      src_parent_dir: '/',
      src_dirents: [name],
      dst_repo_id: target,
      dst_parent_dir: folder,
    },
  })
  expectOk(started)
  return started.body.task_id
}

/** Whether a background task has ended. Fails if it failed. */
export async function hasEnded(client: Client, task: string): Promise<boolean> {
  const progress = await client.get('/api/v2.1/query-copy-move-progress/', { task_id: task })
  expectOk(progress)
  assert.notEqual(progress.body.failed, true, progress.text)
  return progress.body.done === true || progress.body.successful === true
}

export async function runTask(client: Client, transfer: Transfer, pauseMs: number): Promise<void> {
  const task = await startTask(client, transfer)
  while (!(await hasEnded(client, task))) await delay(pauseMs)
}

/** A file that was sent, and whether the server acknowledged it. */
interface SentFileRecord {
  readonly hash: string
  isAcknowledged: boolean
  isChecked: boolean
}

/** The journal of files that were sent to the root of a library, each once and under a new name. */
export class FileJournal {
  readonly #kind: string
  readonly #files = new Map<string, SentFileRecord>()

  constructor(kind: string) {
    this.#kind = kind
  }

  /** The number of files that were sent. */
  get size(): number {
    return this.#files.size
  }

  /** Before a file is sent. What it returns is to be marked once the file is acknowledged. */
  send(name: string, bytes: Uint8Array): { isAcknowledged: boolean } {
    const record = { hash: hashOf(bytes), isAcknowledged: false, isChecked: false }
    this.#files.set(name, record)
    return record
  }

  /** A file that was acknowledged. */
  pick(random: () => number): string | undefined {
    const known = [...this.#files].filter(([, { isAcknowledged }]) => isAcknowledged)
    return known[Math.floor(random() * known.length)]?.[0]
  }

  expectBytes(name: string, bytes: Uint8Array): void {
    const record = this.#files.get(name) ?? assert.fail(`${this.#kind}: ${name} was never sent`)
    assert.equal(hashOf(bytes), record.hash, `${this.#kind}: ${name} has other bytes`)
  }

  /** What was acknowledged is there, everything else completely or not at all, and nothing twice. Reads a file once. */
  async verify(names: readonly string[], read: (name: string) => Promise<Uint8Array>): Promise<void> {
    assert.equal(new Set(names).size, names.length, `${this.#kind}: a name is listed twice`)
    const found = new Set(names)
    for (const [name, { isAcknowledged }] of this.#files) {
      assert.ok(!isAcknowledged || found.has(name), `${this.#kind}: ${name} was acknowledged and is gone`)
    }
    for (const name of names) {
      const record = this.#files.get(name)
      if (record?.isChecked) continue
      this.expectBytes(name, await read(name))
      if (record !== undefined) record.isChecked = true
    }
  }
}

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { getLibrary } from '../../src/library/libraries.ts'
import type { FileId, LibraryId } from '../../src/objects/ids.ts'
import type { LibraryPath } from '../../src/objects/paths.ts'
import { Tree } from '../../src/tree/tree.ts'
import type { Client, Params, Reply } from './client.ts'
import type { TestServer } from './server.ts'

/** A file part of a form. */
export interface SentFile {
  /** The part's `filename`; omitted if undefined. */
  readonly filename?: string
  readonly bytes: Uint8Array | string
  /** `file` by default. */
  readonly name?: string
  readonly headers?: Record<string, string>
}

export type SentPart = SentFile | readonly [name: string, text: string]

/** A file. Its content is its name by default. */
export function filePart(filename: string, bytes: string | Uint8Array = filename): SentPart {
  return { filename, bytes }
}

/** The field for an upload into the root of the library. */
export const intoRoot: SentPart = ['parent_dir', '/']

export const BOUNDARY = 'carrel-test-boundary-5e1f'

/** Encodes a multipart form, its parts in the given order. */
export function formBytes(parts: readonly SentPart[], boundary = BOUNDARY): Buffer {
  const pieces: (string | Uint8Array)[] = []
  for (const part of parts) {
    pieces.push(`--${boundary}\r\n`)
    if (isText(part)) {
      pieces.push(`Content-Disposition: form-data; name="${part[0]}"\r\n\r\n${part[1]}\r\n`)
      continue
    }
    const filename = part.filename === undefined ? '' : `; filename="${part.filename}"`
    pieces.push(`Content-Disposition: form-data; name="${part.name ?? 'file'}"${filename}\r\n`)
    for (const [name, value] of Object.entries(part.headers ?? {})) pieces.push(`${name}: ${value}\r\n`)
    pieces.push('Content-Type: application/octet-stream\r\n\r\n', part.bytes, '\r\n')
  }
  pieces.push(`--${boundary}--\r\n`)
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}

function isText(part: SentPart): part is readonly [string, string] {
  return Array.isArray(part)
}

export interface SendOptions {
  readonly headers?: Record<string, string>
  readonly query?: string
}

/** Posts a form to an absolute link of the server, without an API token. */
export async function postForm(
  link: string,
  parts: readonly SentPart[],
  { headers = {}, query = '' }: SendOptions = {},
): Promise<Reply> {
  const separator = query === '' ? '' : link.includes('?') ? '&' : '?'
  return postBody(link + separator + query, formBytes(parts), headers)
}

/** Posts bytes to a link, as a multipart form unless the headers say otherwise. */
export async function postBody(
  link: string,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(link, {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
    ...(body instanceof ReadableStream ? { body, duplex: 'half' } : { body: new Uint8Array(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

/** Requests an upload link for a folder. */
export async function uploadLink(client: Client, library: string, folder = '/', query: Params = {}) {
  return linkFrom(client, `/api2/repos/${library}/upload-link/`, { p: folder, ...query })
}

/** Requests an update link. */
export async function updateLink(client: Client, library: string, query: Params = {}) {
  return linkFrom(client, `/api2/repos/${library}/update-link/`, query)
}

async function linkFrom(client: Client, path: string, query: Params): Promise<string> {
  const reply = await client.get(path, query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** A stored file in the response to an upload. */
export interface Uploaded {
  readonly name: string
  readonly id: string
  readonly size: number
}

/** Uploads one file through the web API, creates its folders, and returns its item of the response. */
export async function uploadFile(
  client: Client,
  library: string,
  filePath: string,
  bytes: Uint8Array | string,
  options: { replace?: boolean; lastModify?: string } = {},
): Promise<Uploaded> {
  const slash = filePath.lastIndexOf('/')
  const parts: SentPart[] = [
    ['parent_dir', '/'],
    ['relative_path', filePath.slice(1, Math.max(slash, 1))],
    ['replace', options.replace ? '1' : '0'],
    ...(options.lastModify === undefined ? [] : [['last_modify', options.lastModify] as const]),
    { filename: filePath.slice(slash + 1), bytes },
  ]
  const reply = await postForm(await uploadLink(client, library), parts, { query: 'ret-json=1' })
  assert.equal(reply.status, 200, reply.text)
  return reply.body[0]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Reads a file through the core. */
export async function storedBytes(server: TestServer, library: string, filePath: string): Promise<Buffer> {
  const { core } = server.running.services
  const info = await getLibrary(core, library as LibraryId)
  const tree = new Tree(core.objects, info.key, info.root)
  const entry = await tree.getFile(filePath as LibraryPath)
  const file = await core.objects.getFile(info.key, entry.id as FileId)
  const pieces: Buffer[] = []
  for await (const piece of core.content.read(info.key, file)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The names in a folder. Those of folders end in a slash. */
export async function namesIn(client: Client, library: string, folder = '/'): Promise<string[]> {
  const reply = await client.get(`/api2/repos/${library}/dir/`, { p: folder })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
    .map((entry: { name: string; type: string }) => entry.name + (entry.type === 'dir' ? '/' : ''))
    .toSorted()
}

/** The head commit of a library. */
export async function headOf(client: Client, library: string): Promise<string> {
  return (await client.get(`/api2/repos/${library}/`)).body.head_commit_id
}

/**
 * Polls for an effect that follows a response or a closed connection. Fails after a fixed number of attempts, which take most of a
 * minute, or longer on a busy machine.
 */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (let looks = 0, pauseMs = 5; ; looks += 1, pauseMs = Math.min(pauseMs * 1.5, 200)) {
    try {
      return await check()
    } catch (error) {
      if (looks === 250) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Asserts that aborted uploads left neither temporary files nor reserved bytes. */
export async function expectNothingLeft(server: TestServer): Promise<void> {
  assert.deepEqual(await readdir(path.join(server.data, 'blocks/tmp')), [])
  const { db } = server.running.services
  assert.deepEqual(await db.all('select bytes from quota_reservation'), [])
  assert.deepEqual(await db.all('select received from partial_upload'), [])
  assert.deepEqual(await db.all('select position from staged_block'), [])
}

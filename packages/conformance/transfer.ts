import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Client, type Params, REQUEST_TIMEOUT_MS, type Reply, replyOf } from './client.ts'
import { bodyOf, fetched } from './stage.ts'

/** A file part of a form. */
export interface SentFile {
  /** The part's `filename`; omitted if undefined. */
  readonly filename?: string
  readonly bytes: Uint8Array | string
  /** `file` by default. */
  readonly name?: string
  readonly headers?: Record<string, string>
}

/** A part of a form: a file, or a field. */
export type SentPart = SentFile | readonly [name: string, text: string]

/** A file. Its content is its name by default. */
export function filePart(filename: string, bytes: string | Uint8Array = filename): SentPart {
  return { filename, bytes }
}

/** The field for an upload into the root of the library. */
export const intoRoot: SentPart = ['parent_dir', '/']

/** Encodes a multipart form, its parts in the given order: servers may demand the fields before the file. */
export function formBytes(parts: readonly SentPart[], boundary: string): Buffer {
  const pieces: (string | Uint8Array)[] = []
  for (const part of parts) {
    pieces.push(`--${boundary}\r\n`)
    if (isField(part)) {
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

function isField(part: SentPart): part is readonly [string, string] {
  return Array.isArray(part)
}

export interface SendOptions {
  readonly headers?: Record<string, string>
  readonly query?: string
}

/** Posts a form to an absolute link of the server, without an API token. */
export function postForm(
  link: string,
  parts: readonly SentPart[],
  { headers = {}, query = '' }: SendOptions = {},
): Promise<Reply> {
  const separator = query === '' ? '' : link.includes('?') ? '&' : '?'
  const boundary = `form-${randomUUID()}`
  const type = `multipart/form-data; boundary=${boundary}`
  return postBody(link + separator + query, formBytes(parts, boundary), { 'Content-Type': type, ...headers })
}

/** Posts bytes to a link. */
export async function postBody(
  link: string,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string>,
): Promise<Reply> {
  const sent =
    body instanceof ReadableStream ? ({ body, duplex: 'half' } as const) : { body: new Uint8Array(body) }
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  return replyOf(await fetch(link, { method: 'POST', headers, ...sent, signal }))
}

/** Requests an upload link for a folder. */
export async function uploadLink(
  client: Client,
  library: string,
  folder = '/',
  query: Params = {},
): Promise<string> {
  return bodyOf(await client.get(`/api2/repos/${library}/upload-link/`, { p: folder, ...query }))
}

/** Requests an update link. */
export async function updateLink(client: Client, library: string, query: Params = {}): Promise<string> {
  return bodyOf(await client.get(`/api2/repos/${library}/update-link/`, query))
}

/** A stored file in the response to an upload. */
export interface Uploaded {
  readonly name: string
  readonly id: string
  readonly size: number
}

/** Uploads one file, creates its folders, and returns its item of the response. */
export async function uploadFile(
  client: Client,
  library: string,
  path: string,
  bytes: Uint8Array | string,
  options: { replace?: boolean; lastModify?: string } = {},
): Promise<Uploaded> {
  const slash = path.lastIndexOf('/')
  const parts: SentPart[] = [
    intoRoot,
    ['relative_path', path.slice(1, Math.max(slash, 1))],
    ['replace', options.replace ? '1' : '0'],
    ...(options.lastModify === undefined ? [] : [['last_modify', options.lastModify] as const]),
    filePart(path.slice(slash + 1), bytes),
  ]
  const link = await uploadLink(client, library)
  return bodyOf(await postForm(link, parts, { query: 'ret-json=1' }))[0]
}

/** The content of a file, downloaded by its link. */
export async function storedText(client: Client, library: string, path: string): Promise<string> {
  const reply = await fetched(bodyOf(await client.get(`/api2/repos/${library}/file/`, { p: path })))
  assert.equal(reply.status, 200, `the download of ${path} returns ${reply.status}`)
  return reply.text
}

/** The names in a folder. Those of folders end in a slash. */
export async function namesIn(client: Client, library: string, folder = '/'): Promise<string[]> {
  const entries = bodyOf(await client.get(`/api2/repos/${library}/dir/`, { p: folder }))
  return entries
    .map((entry: { name: string; type: string }) => entry.name + (entry.type === 'dir' ? '/' : ''))
    .toSorted()
}

/** The head commit of a library. */
export async function headOf(client: Client, library: string): Promise<string> {
  return bodyOf(await client.get(`/api2/repos/${library}/`)).head_commit_id
}

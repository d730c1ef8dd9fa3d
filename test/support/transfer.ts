import assert from 'node:assert/strict'
import type { Client, Params, Reply } from './client.ts'

/** A file part of a form. */
export interface SentFile {
  /** As the part's `filename`; none makes it a part without one. */
  readonly filename?: string
  readonly bytes: Uint8Array | string
  /** `file` unless given. */
  readonly name?: string
  readonly headers?: Record<string, string>
}

export type SentPart = SentFile | readonly [name: string, text: string]

export const BOUNDARY = 'carrel-test-boundary-5e1f'

/** The bytes of a multipart form, its parts in the order given. */
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

/** Posts a form to a link; `link` is absolute, as the server hands it out. No API token is sent along. */
export async function postForm(
  link: string,
  parts: readonly SentPart[],
  { headers = {}, query = '' }: SendOptions = {},
): Promise<Reply> {
  const separator = query === '' ? '' : link.includes('?') ? '&' : '?'
  const response = await fetch(link + separator + query, {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
    body: new Uint8Array(formBytes(parts)),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

/** A link to upload into a folder by. */
export async function uploadLink(client: Client, library: string, folder = '/', query: Params = {}) {
  return linkFrom(client, `/api2/repos/${library}/upload-link/`, { p: folder, ...query })
}

/** A link to replace files by. */
export async function updateLink(client: Client, library: string, query: Params = {}) {
  return linkFrom(client, `/api2/repos/${library}/update-link/`, query)
}

async function linkFrom(client: Client, path: string, query: Params): Promise<string> {
  const reply = await client.get(path, query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** A stored file as an upload's answer names it. */
export interface Uploaded {
  readonly name: string
  readonly id: string
  readonly size: number
}

/** Uploads one file through the web API, its folders made as needed, and gives its item of the answer. */
export async function uploadFile(
  client: Client,
  library: string,
  path: string,
  bytes: Uint8Array | string,
  options: { replace?: boolean; lastModify?: string } = {},
): Promise<Uploaded> {
  const slash = path.lastIndexOf('/')
  const parts: SentPart[] = [
    ['parent_dir', '/'],
    ['relative_path', path.slice(1, Math.max(slash, 1))],
    ['replace', options.replace ? '1' : '0'],
    ...(options.lastModify === undefined ? [] : [['last_modify', options.lastModify] as const]),
    { filename: path.slice(slash + 1), bytes },
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

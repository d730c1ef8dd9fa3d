import { createHash, randomBytes } from 'node:crypto'
import { multipartBody, multipartHeaders } from './load/multipart.ts'
import { digits, withNumber } from './load/request-template.ts'
import type { MeasuredServer } from './measured-server.ts'

/** A link without scheme and host, for a request line. */
const pathOf = (link: string) => new URL(link).pathname

/** Requests an upload link for a folder. */
export function uploadPath(server: MeasuredServer, library: string, folder = '/'): Promise<string> {
  return linkPath(server, `/api2/repos/${library}/upload-link/`, folder)
}

/** Requests a reusable download link for a file. */
export function downloadPath(server: MeasuredServer, library: string, file: string): Promise<string> {
  return linkPath(server, `/api2/repos/${library}/file/`, file, { reuse: 1 })
}

async function linkPath(server: MeasuredServer, call: string, p: string, query = {}): Promise<string> {
  const reply = await server.client.get(call, { p, ...query })
  if (reply.status !== 200) throw new Error(`no link for ${p}: ${reply.status} ${reply.text}`)
  return pathOf(String(reply.body))
}

/** Content of file `k` of a request: incompressible, and different in every request. */
export function randomContent(bytes: number, k = 0): string {
  const own = `{n}${digits(k)}`
  const random = randomBytes(bytes - withNumber(own, 0).length).toString('latin1')
  // At the end, so that the hash of the constant part is computed once.
  return random.replaceAll('{', '(') + own
}

/** An upload of several files in one form, each named by fileName. */
export interface UploadShape {
  readonly path: string
  /** Below the folder of the link; may contain placeholders of RequestTemplate. */
  readonly folder?: string
  readonly contents: readonly string[]
}

/** The name of a file of an upload, with the placeholders of RequestTemplate. */
export const fileName = (k: number) => `file-{n}-${digits(k)}.bin`

/** The request that uploads these contents in one form. */
export function uploadRequest({ path, folder, contents }: UploadShape) {
  const texts = { parent_dir: '/', ...(folder !== undefined && { relative_path: folder }) }
  const files = contents.map((content, k) => ({ name: fileName(k), content }))
  return {
    method: 'POST',
    path,
    headers: multipartHeaders,
    body: multipartBody(texts, files),
    anonymous: true,
  } as const
}

/** Throws unless a library has that many files in all its folders. */
export async function expectFiles(server: MeasuredServer, library: string, count: number): Promise<void> {
  const query = { p: '/', recursive: 1, t: 'f' }
  const reply = await server.client.get(`/api/v2.1/repos/${library}/dir/`, query)
  if (reply.status !== 200) throw new Error(`no listing: ${reply.status} ${reply.text}`)
  const { length } = reply.body.dirent_list as unknown[]
  if (length !== count) throw new Error(`${count} files were uploaded, but ${length} are there`)
}

/** Downloads a file and throws unless its bytes have that SHA-1. */
export async function expectContent(
  server: MeasuredServer,
  library: string,
  file: string,
  sha1: string,
): Promise<void> {
  const response = await fetch(server.client.url + (await downloadPath(server, library, file)))
  if (response.status !== 200 || response.body === null) {
    throw new Error(`${file} cannot be downloaded: ${response.status} ${await response.text()}`)
  }
  const hash = createHash('sha1')
  for await (const chunk of response.body) hash.update(chunk)
  if (hash.digest('hex') !== sha1) throw new Error(`${file} was stored with other bytes than were sent`)
}

/** SHA-1 of a content as request `n` sent it. */
export function contentSha1(content: string, n: number): string {
  return createHash('sha1').update(withNumber(content, n), 'latin1').digest('hex')
}

/** Uploads the contents `requests` times into a folder, with several clients. */
export async function fill(
  server: MeasuredServer,
  library: string,
  folder: string,
  contents: readonly string[],
  requests: number,
): Promise<void> {
  const path = await uploadPath(server, library)
  await server.load({
    connections: 2,
    warmUp: { count: 0 },
    measured: { count: requests },
    request: uploadRequest({ path, folder, contents }),
  })
  await expectFiles(server, library, requests * contents.length)
}

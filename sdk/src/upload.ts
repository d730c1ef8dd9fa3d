import type { Connection } from './connection.ts'
import { CarrelError } from './errors.ts'
import type { ResponseOf } from './response-of.ts'
import type { OnProgress, Uploaded } from './types.ts'

/** A file to upload. A `File` of a browser and the result of `fs.openAsBlob` are blobs, which are read when they are sent. */
export interface NewFile {
  readonly name: string
  /** Small files are faster as bytes: a form of many blobs is read one blob at a time. */
  readonly content: Blob | Uint8Array<ArrayBuffer>
  readonly modifiedAt?: Date
}

export interface UploadOptions {
  /** Replace a file of that name. Otherwise the new file gets a free name such as `a (1).txt`. Default: true. */
  readonly replace?: boolean
  readonly onProgress?: OnProgress
  readonly signal?: AbortSignal
}

export interface LargeUploadOptions extends UploadOptions {
  /**
   * The SHA-256 of the whole content. With it, an upload continues where an earlier one of the same path stopped, also one of another
   * process: the server compares the digest with the parts it has.
   */
  readonly sha256?: () => Promise<Uint8Array>
}

/** Where files go: a folder of a library. It and its parents are created by the upload. */
export interface Destination {
  readonly library: string
  readonly folder: string
}

/** Larger files are sent in chunks, so that a lost connection costs one chunk at most. */
const CHUNK_BYTES = 8_000_000

/** How often one upload goes on after the response to its last chunk was lost. */
const MAX_LOSSES = 3

/** Uploads files of one folder through links that it caches. */
export class Uploader {
  readonly #connection: Connection
  readonly #links = new Map<string, Promise<string>>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Sends several files of one folder in one request, which becomes one commit: all or none are stored. */
  async many(
    to: Destination,
    files: readonly NewFile[],
    options: UploadOptions = {},
  ): Promise<readonly Uploaded[]> {
    const total = files.reduce((sum, { content }) => sum + sizeOf(content), 0)
    const stored = await this.#post(to, files, options, {})
    options.onProgress?.(total, total)
    return stored
  }

  /** Sends one file, a large one in chunks. */
  async one(to: Destination, file: NewFile, options: LargeUploadOptions = {}): Promise<Uploaded> {
    const size = sizeOf(file.content)
    if (size <= CHUNK_BYTES) return only(await this.many(to, [file], options))
    const offset = options.sha256 === undefined ? 0 : await this.#storedBytes(to, file)
    if (offset === 0 || offset >= size) return this.#chunks(to, file, 0, options)
    try {
      return await this.#chunks(to, file, offset, options, await options.sha256?.())
    } catch (error) {
      // The parts at the server belong to another content.
      if (!(error instanceof CarrelError) || !/digest/i.test(error.message)) throw error
      return this.#chunks(to, file, 0, options)
    }
  }

  async #chunks(
    to: Destination,
    file: NewFile,
    offset: number,
    options: LargeUploadOptions,
    digest?: Uint8Array,
  ): Promise<Uploaded> {
    const size = sizeOf(file.content)
    let losses = 0
    for (let start = offset; ; ) {
      options.onProgress?.(start, size)
      const end = Math.min(size, start + CHUNK_BYTES)
      const chunk = { ...file, content: file.content.slice(start, end) }
      try {
        const stored = await this.#post(to, [chunk], options, {
          'Content-Range': `bytes ${start}-${end - 1}/${size}`,
          'Content-Disposition': `attachment; filename="${encodeName(file.name)}"`,
          ...(end === size && digest !== undefined && { 'Repr-Digest': `sha-256=:${base64(digest)}:` }),
        })
        start = end
        if (end < size) continue
        options.onProgress?.(size, size)
        return only(stored)
      } catch (error) {
        losses += 1
        if (end < size || losses > MAX_LOSSES || !isLost(error)) throw error
        // The response to the last chunk was lost. The file may be stored, and then the parts are gone.
        const found = await this.#findStored(to, file)
        if (found !== undefined) return found
        start = await this.#storedBytes(to, file)
      }
    }
  }

  /** The file at the server, if its size and time are those of `file`. */
  async #findStored({ library, folder }: Destination, file: NewFile): Promise<Uploaded | undefined> {
    const { name, content, modifiedAt } = file
    try {
      const path = `api/v2.1/repos/${library}/file/` as const
      const query = { p: `${folder.replace(/\/+$/, '')}/${name}` }
      const found = await this.#connection.json('GET', path, { query })
      const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
      const isSame =
        found.size === sizeOf(content) &&
        modifiedAt !== undefined &&
        seconds(modifiedAt) === seconds(new Date(found.mtime))
      return isSame ? { name, id: found.obj_id, size: found.size } : undefined
    } catch (error) {
      if (error instanceof CarrelError && error.kind === 'not-found') return undefined
      throw error
    }
  }

  async #post(
    to: Destination,
    files: readonly NewFile[],
    { replace = true, signal }: UploadOptions,
    headers: Record<string, string>,
  ): Promise<readonly Uploaded[]> {
    const boundary = `carrel-${crypto.randomUUID()}`
    const form = formOf(boundary, to, files, replace)
    const sending = {
      method: 'POST',
      headers: { ...headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body: () => form,
      signal,
      // A file that replaces may be sent twice. Otherwise the second one would get another name.
      isIdempotent: headers['Content-Range'] === undefined ? replace : !isLastChunk(headers['Content-Range']),
    }
    const response = await this.#withLink(to.library, signal, (link) =>
      this.#connection.send(`${link}?ret-json=1`, sending),
    )
    const stored = (await response.json()) as ResponseOf<'POST', `seafhttp/upload-api/${string}`>
    return typeof stored === 'object' && !('success' in stored) ? stored : []
  }

  /** Links expire, and end with the permission. One new link is requested then. */
  async #withLink<T>(
    library: string,
    signal: AbortSignal | undefined,
    work: (link: string) => Promise<T>,
  ): Promise<T> {
    const known = this.#links.get(library)
    if (known !== undefined) {
      try {
        return await work(await known)
      } catch (error) {
        if (!(error instanceof CarrelError) || error.status !== 403) throw error
      }
    }
    const requested = this.#connection.json('GET', `api2/repos/${library}/upload-link/`, {
      query: { p: '/' },
      signal,
    })
    this.#links.set(library, requested)
    requested.catch(() => this.#links.delete(library))
    return work(await requested)
  }

  async #storedBytes({ library, folder }: Destination, { name }: NewFile): Promise<number> {
    try {
      const path = `api/v2.1/repos/${library}/file-uploaded-bytes/` as const
      const query = { parent_dir: folder, file_name: name }
      return (await this.#connection.json('GET', path, { query })).uploadedBytes
    } catch (error) {
      // The folder does not exist yet, so nothing was sent to it.
      if (error instanceof CarrelError && error.kind === 'not-found') return 0
      throw error
    }
  }
}

const sizeOf = (content: NewFile['content']) => (content instanceof Blob ? content.size : content.byteLength)

/** A multipart form, written by hand: `FormData` escapes some characters of file names, and has no time for each file. */
function formOf(
  boundary: string,
  to: Destination,
  files: readonly NewFile[],
  replace: boolean,
): Blob | Uint8Array<ArrayBuffer> {
  const text = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const encoder = new TextEncoder()
  const parts: (Blob | Uint8Array<ArrayBuffer>)[] = []
  const target = text('relative_path', to.folder.replace(/^\/+|\/+$/g, ''))
  parts.push(encoder.encode(text('parent_dir', '/') + target + text('replace', replace ? '1' : '0')))
  for (const { name, content, modifiedAt } of files) {
    const isTime = modifiedAt !== undefined && modifiedAt.getTime() >= 0
    const time = isTime ? text('last_modify', modifiedAt.toISOString()) : ''
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''${encodeName(name)}\r\n`
    parts.push(encoder.encode(`${time}${head}Content-Type: application/octet-stream\r\n\r\n`), content)
    parts.push(encoder.encode('\r\n'))
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`))
  return parts.every((part) => part instanceof Uint8Array) ? joined(parts) : new Blob(parts)
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** The last chunk stores the file, and no second one fits then. */
function isLastChunk(range: string): boolean {
  const [, last, total] = /-(\d+)\/(\d+)$/.exec(range) ?? []
  return Number(last) + 1 === Number(total)
}

const isLost = (error: unknown) =>
  error instanceof CarrelError && (error.kind === 'unreachable' || error.kind === 'busy')

/** Percent-encodes a name for a header. Lone surrogates have no UTF-8. */
const encodeName = (name: string) => encodeURIComponent(name.replace(/\p{Cs}/gu, '\u{fffd}'))

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))

function only([stored]: readonly Uploaded[]): Uploaded {
  if (stored === undefined) throw new CarrelError('server', 200, 'The server did not say what it stored.')
  return stored
}

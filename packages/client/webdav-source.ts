import { createWriteStream, openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { ClientError, EXIT } from './client-error.ts'
import { LISTED_PROPERTIES, readListing } from './dav-listing.ts'
import { type OpenFile, type SourceEvents, type SourceItem, sha256Of } from './local-files.ts'
import { joinRemote } from './remote-path.ts'
import { userAgent } from './session.ts'

const ATTEMPTS = 4
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000

interface WebdavOptions {
  /** The folder that is read. */
  readonly url: URL
  /** Undefined for a server that asks for none. */
  readonly login: { readonly user: string; readonly password: string } | undefined
  readonly signal: AbortSignal
}

/** A folder of a WebDAV server. Large files are downloaded into a temporary folder, so that their upload can be repeated in parts. */
export class WebdavSource implements AsyncDisposable {
  readonly #options: WebdavOptions
  readonly #headers: Readonly<Record<string, string>>
  #temporary: Promise<string> | undefined
  #files = 0

  constructor(options: WebdavOptions) {
    this.#options = options
    const { login } = options
    const basic = login && Buffer.from(`${login.user}:${login.password}`).toString('base64')
    this.#headers = {
      'User-Agent': userAgent(),
      'Accept-Encoding': 'identity',
      ...(basic !== undefined && { Authorization: `Basic ${basic}` }),
    }
  }

  /** Everything below the folder, as content of `folder` in the library. Throws ClientError if the folder itself cannot be listed. */
  async *items(folder: string, events: SourceEvents): AsyncGenerator<SourceItem> {
    yield* this.#itemsIn(withSlash(this.#options.url), folder, events)
  }

  async *#itemsIn(url: URL, folder: string, events: SourceEvents): AsyncGenerator<SourceItem> {
    const folders: { url: URL; name: string }[] = []
    let isEmpty = true
    for await (const child of this.#children(url, events)) {
      isEmpty = false
      const label = `${folder === '/' ? '' : folder}/${child.name}`
      if (child.isFolder) folders.push(child)
      else if (child.size === undefined) events.onSkipped(label, 'the server does not say how large it is')
      else
        yield this.#fileOf(child.url, { folder, name: child.name, label, size: child.size }, child.modifiedAt)
    }
    if (isEmpty && folder !== '/') yield { kind: 'empty-folder', label: folder, path: folder }
    for (const child of folders) {
      const inside = joinRemote(folder, child.name)
      try {
        yield* this.#itemsIn(child.url, inside, events)
      } catch (error) {
        if (!(error instanceof SourceRefusal)) throw error
        events.onFailed(inside, error)
      }
    }
  }

  #fileOf(
    url: URL,
    about: { folder: string; name: string; label: string; size: number },
    modifiedAt: Date | undefined,
  ): SourceItem {
    return {
      kind: 'file',
      ...about,
      modifiedAt,
      bytes: async () => {
        const bytes = await buffer(Readable.fromWeb(await this.#download(url, about.size)))
        if (bytes.length !== about.size) throw changed(about.label)
        return new Uint8Array(bytes)
      },
      open: () => this.#spooled(url, about),
    }
  }

  async #spooled(url: URL, { label, size }: { label: string; size: number }): Promise<OpenFile> {
    this.#temporary ??= mkdtemp(path.join(os.tmpdir(), 'carrel-import-'))
    const file = path.join(await this.#temporary, String(this.#files++))
    const remove = () => rm(file, { force: true })
    try {
      const body = Readable.fromWeb(await this.#download(url, size))
      await pipeline(body, createWriteStream(file, { mode: 0o600 }), { signal: this.#options.signal })
      const content = await openAsBlob(file)
      if (content.size !== size) throw changed(label)
      return { content, sha256: () => sha256Of(file, this.#options.signal), [Symbol.asyncDispose]: remove }
    } catch (error) {
      await remove()
      throw error
    }
  }

  /** The body of a file, of at most one byte more than it should have. */
  async #download(url: URL, size: number): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#request('GET', url, {})
    const announced = response.headers.get('Content-Length')
    if (announced !== null && Number(announced) !== size) {
      await response.body?.cancel()
      throw changed(nameIn(url))
    }
    let left = size + 1
    const limited = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length
        if (left <= 0) throw changed(nameIn(url))
        controller.enqueue(chunk)
      },
    })
    return (response.body ?? new ReadableStream({ start: (stream) => stream.close() })).pipeThrough(limited)
  }

  /** What a folder contains. A server may be hostile or behind a proxy, so only names are taken from its addresses. */
  async *#children(url: URL, events: SourceEvents) {
    const headers = { Depth: '1', 'Content-Type': 'application/xml; charset=utf-8' }
    const response = await this.#request('PROPFIND', url, headers, LISTED_PROPERTIES)
    if (response.status !== 207 || response.body === null) {
      throw new SourceRefusal(`${url.href} is not a WebDAV folder: is this the right URL?`, EXIT.notFound)
    }
    const own = segmentsIn(url.pathname)
    for await (const { href, isFolder, length, modified } of readListing(response.body)) {
      const place = segmentsIn(pathIn(href, url))
      if (own === undefined || place === undefined) {
        events.onSkipped(href, 'its name is not in UTF-8')
        continue
      }
      if (place.length === own.length && own.every((segment, at) => segment === place[at])) continue
      const name = place.at(-1) ?? ''
      if (place.length !== own.length + 1 || !own.every((segment, at) => segment === place[at])) {
        events.onSkipped(href, 'it is not in the folder that was listed')
      } else if (name.includes('/')) events.onSkipped(href, 'its name has a slash')
      else {
        const time = modified === undefined ? Number.NaN : Date.parse(modified)
        yield {
          name,
          isFolder,
          url: new URL(`${encodeURIComponent(name)}${isFolder ? '/' : ''}`, url),
          size: /^\d{1,15}$/.test(length ?? '') ? Number(length) : undefined,
          modifiedAt: Number.isNaN(time) ? undefined : new Date(time),
        }
      }
    }
  }

  /** Repeats what a busy server or a lost connection kept from being answered. */
  async #request(
    method: string,
    url: URL,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Response & { body: ReadableStream<Uint8Array> | null }> {
    const { signal } = this.#options
    for (let attempt = 1, delayMs = FIRST_DELAY_MS; ; attempt += 1, delayMs *= 2) {
      let response: Response | undefined
      try {
        const sent = { method, headers: { ...this.#headers, ...headers }, signal }
        response = await fetch(url, body === undefined ? sent : { ...sent, body })
        if (response.ok) return response
        await response.body?.cancel()
      } catch (error) {
        signal.throwIfAborted()
        if (attempt === ATTEMPTS) {
          throw new ClientError(`${url.host} cannot be reached.`, EXIT.unreachable, { cause: error })
        }
      }
      const isBusy = response === undefined || response.status === 429 || response.status >= 500
      if (response !== undefined && (!isBusy || attempt === ATTEMPTS)) throw refusalOf(response.status, url)
      const wanted = Number(response?.headers.get('Retry-After') ?? 0) * 1000
      await setTimeout(Math.min(MAX_DELAY_MS, Math.max(delayMs, wanted || 0)), undefined, { signal })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#temporary !== undefined) await rm(await this.#temporary, { recursive: true, force: true })
  }
}

/** The source refuses one item. Others may be readable. */
class SourceRefusal extends ClientError {
  override name = 'SourceRefusal'
}

function refusalOf(status: number, url: URL): SourceRefusal {
  if (status === 401) return new SourceRefusal(`${url.host} refuses the user or the password.`, EXIT.signIn)
  if (status === 403) return new SourceRefusal(`${url.host} does not permit to read it.`, EXIT.forbidden)
  if (status === 404) return new SourceRefusal(`${url.host} has no ${nameIn(url)}.`, EXIT.notFound)
  return new SourceRefusal(`${url.host} answered ${status} for ${nameIn(url)}.`)
}

function changed(label: string): ClientError {
  return new ClientError(`${label} has another size than it was listed with: it may have changed meanwhile.`)
}

function withSlash(url: URL): URL {
  const folder = new URL(url)
  folder.search = ''
  folder.hash = ''
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  return folder
}

function pathIn(href: string, base: URL): string {
  return URL.parse(href, base.href)?.pathname ?? ''
}

/** The decoded segments of a path; undefined if they are not UTF-8. */
function segmentsIn(pathname: string): string[] | undefined {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/** The path without the address of the server, which may contain secrets. */
function nameIn(url: URL): string {
  return segmentsIn(url.pathname)?.at(-1) ?? url.pathname
}

import { randomBytes } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'

/** The account and the server that a mix runs against: any server with this API. */
export interface MixTarget {
  readonly url: string
  readonly apiToken: string
}

export interface MixOptions {
  readonly users: number
  readonly ms: number
  /** Divides all sizes of files. 1 in a full run. */
  readonly smaller: number
  /**
   * Once uploads have stored this many bytes, they send the content of earlier ones under new names. A server that stores equal content
   * once then needs no more space, and one that always writes what it receives does the same work.
   */
  readonly maxStoredBytes: number
}

/** Times of one kind of request. */
export interface MixPart {
  readonly what: string
  readonly requests: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

export interface MixResult {
  readonly parts: readonly MixPart[]
  readonly requests: number
  readonly errors: number
  /** The first errors. */
  readonly samples: readonly string[]
  readonly bytes: number
  readonly seconds: number
}

/** Sizes in bytes, log-uniform within a class, with the weight of the class in percent. */
const CLASSES = [
  { what: 'below 1 MB', weight: 84, from: 1e3, to: 1e6 },
  { what: '1 to 10 MB', weight: 12.5, from: 1e6, to: 1e7 },
  { what: '10 to 100 MB', weight: 3, from: 1e7, to: 1e8 },
  { what: 'above 100 MB', weight: 0.8, from: 1e8, to: 2e8 },
] as const
const WEIGHTS = CLASSES.reduce((sum, { weight }) => sum + weight, 0)
/** Of 100 requests of a user; the others are downloads. */
const UPLOADS = 50
const LISTINGS = 10
const MAX_SAMPLES = 3
const BOUNDARY = 'carrel-bench-boundary'
/** Bodies are slices of these bytes, from positions that follow from a seed, so files of different seeds are different. */
const RANDOM = randomBytes(2 ** 20)

interface MixFile {
  readonly kind: string
  readonly size: number
  /** Determines the bytes. */
  readonly seed: number
}

interface Stored extends MixFile {
  readonly path: string
}

/**
 * The customary mix of a file server: users who upload, download and list, each with one request at a time. They work in one library
 * that is created for the run and deleted afterwards.
 */
export async function runMix(target: MixTarget, options: MixOptions): Promise<MixResult> {
  const server = new MixServer(target)
  const library = await server.createLibrary(`Bench ${randomBytes(4).toString('hex')}`)
  try {
    return await new Mix(server, library, options).run()
  } finally {
    await server.call('DELETE', `/api2/repos/${library}/`)
    server.close()
  }
}

class Mix {
  readonly #server: MixServer
  readonly #library: string
  readonly #options: MixOptions
  readonly #times = new Map<string, number[]>()
  readonly #samples: string[] = []
  /** Different content that was stored, by kind. */
  readonly #contents = new Map<string, MixFile[]>()
  #storedBytes = 0
  #errors = 0
  #bytes = 0

  constructor(server: MixServer, library: string, options: MixOptions) {
    this.#server = server
    this.#library = library
    this.#options = options
  }

  async run(): Promise<MixResult> {
    const began = performance.now()
    const until = began + this.#options.ms
    await Promise.all(Array.from({ length: this.#options.users }, (_, user) => this.#user(user, until)))
    const parts = [...this.#times].map(([what, times]) => partOf(what, times)).sort((a, b) => compare(a, b))
    return {
      parts,
      requests: parts.reduce((sum, { requests }) => sum + requests, 0),
      errors: this.#errors,
      samples: this.#samples,
      bytes: this.#bytes,
      seconds: (performance.now() - began) / 1000,
    }
  }

  async #user(user: number, until: number): Promise<void> {
    const folder = `user-${user}`
    const stored: Stored[] = []
    for (let n = 0; performance.now() < until; n += 1) {
      const dice = Math.random() * 100
      if (stored.length === 0 || dice < UPLOADS) {
        const file = this.#chooseFile()
        const name = `file-${n}.bin`
        const isStored = await this.#timed(`upload ${file.kind}`, file.size, () =>
          this.#server.upload(this.#library, folder, name, file),
        )
        if (!isStored) continue
        stored.push({ ...file, path: `/${folder}/${name}` })
        this.#noteStored(file)
      } else if (dice < UPLOADS + LISTINGS) {
        const path = `/api/v2.1/repos/${this.#library}/dir/?p=/${folder}`
        await this.#timed('listing', 0, () => this.#server.call('GET', path))
      } else {
        const file = stored[Math.floor(Math.random() * stored.length)]
        if (file === undefined) continue
        await this.#timed(`download ${file.kind}`, file.size, () =>
          this.#server.download(this.#library, file.path, file.size),
        )
      }
    }
  }

  #chooseFile(): MixFile {
    const { what, size } = this.#chooseSize()
    const earlier = this.#contents.get(what) ?? []
    const repeated =
      this.#storedBytes < this.#options.maxStoredBytes
        ? undefined
        : earlier[Math.floor(Math.random() * earlier.length)]
    return repeated ?? { kind: what, size, seed: Math.floor(Math.random() * 2 ** 32) }
  }

  #noteStored(file: MixFile): void {
    const earlier = this.#contents.get(file.kind) ?? []
    if (earlier.includes(file)) return
    earlier.push(file)
    this.#contents.set(file.kind, earlier)
    this.#storedBytes += file.size
  }

  #chooseSize(): { what: string; size: number } {
    let dice = Math.random() * WEIGHTS
    const chosen = CLASSES.find(({ weight }) => {
      dice -= weight
      return dice < 0
    })
    const { what, from, to } = chosen ?? CLASSES[0]
    return { what, size: Math.ceil((from * (to / from) ** Math.random()) / this.#options.smaller) }
  }

  async #timed(what: string, bytes: number, work: () => Promise<unknown>): Promise<boolean> {
    const began = performance.now()
    try {
      await work()
    } catch (error) {
      this.#errors += 1
      if (this.#samples.length < MAX_SAMPLES) this.#samples.push(`${what}: ${(error as Error).message}`)
      return false
    }
    const times = this.#times.get(what) ?? []
    times.push(performance.now() - began)
    this.#times.set(what, times)
    this.#bytes += bytes
    return true
  }
}

/** The calls of a mix. Links are requested for each transfer, as clients do. */
class MixServer {
  readonly #target: MixTarget
  readonly #module: typeof http | typeof https
  readonly #agent: http.Agent

  constructor(target: MixTarget) {
    this.#target = target
    this.#module = new URL(target.url).protocol === 'https:' ? https : http
    this.#agent = new this.#module.Agent({ keepAlive: true })
  }

  close(): void {
    this.#agent.destroy()
  }

  async createLibrary(name: string): Promise<string> {
    const body = await this.call('POST', '/api2/repos/', new URLSearchParams({ name }))
    return (JSON.parse(body) as { repo_id: string }).repo_id
  }

  async call(method: string, path: string, form?: URLSearchParams): Promise<string> {
    const text = form?.toString() ?? ''
    const headers = {
      Authorization: `Token ${this.#target.apiToken}`,
      ...(form && { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': text.length }),
    }
    const response = await this.#request(
      method,
      new URL(path, this.#target.url),
      headers,
      async (request) => {
        request.end(text)
      },
    )
    return readText(response)
  }

  async upload(library: string, folder: string, name: string, { size, seed }: MixFile): Promise<void> {
    const link = JSON.parse(await this.call('GET', `/api2/repos/${library}/upload-link/?p=/`)) as string
    const field = (key: string, value: string) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`
    const before = `${field('parent_dir', '/')}${field('relative_path', folder)}--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
    const after = `\r\n--${BOUNDARY}--\r\n`
    const headers = {
      'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      'Content-Length': before.length + size + after.length,
    }
    const response = await this.#request('POST', new URL(link), headers, async (request) => {
      request.write(before)
      for (let left = size, state = seed; left > 0; ) {
        // A linear congruential generator (Numerical Recipes).
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        const start = state % RANDOM.length
        const slice = RANDOM.subarray(start, start + left)
        left -= slice.length
        if (!request.write(slice)) await new Promise<void>((resolve) => void request.once('drain', resolve))
      }
      request.end(after)
    })
    await readText(response)
  }

  async download(library: string, path: string, size: number): Promise<void> {
    const query = new URLSearchParams({ p: path })
    const link = JSON.parse(
      await this.call('GET', `/api2/repos/${library}/file/?${query.toString()}`),
    ) as string
    const response = await this.#request('GET', new URL(link), {}, async (request) => {
      request.end()
    })
    let bytes = 0
    for await (const chunk of response) bytes += (chunk as Buffer).length
    if (bytes !== size) throw new Error(`${bytes} bytes instead of ${size}`)
  }

  /** Throws for every status but 200 and 201. */
  async #request(
    method: string,
    url: URL,
    headers: http.OutgoingHttpHeaders,
    send: (request: http.ClientRequest) => Promise<void>,
  ): Promise<IncomingMessage> {
    const request = this.#module.request(url, { method, headers, agent: this.#agent })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      request.once('error', reject)
    })
    // A failed request never drains, so both are waited for together.
    const [response] = await Promise.all([answered, Promise.race([send(request), answered])])
    if (response.statusCode === 200 || response.statusCode === 201) return response
    throw new Error(`${method} ${url.pathname}: ${response.statusCode} ${await readText(response)}`)
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const part of response) text += String(part)
  return text
}

function partOf(what: string, times: readonly number[]): MixPart {
  const sorted = Float64Array.from(times).sort()
  const quantile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    what,
    requests: sorted.length,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  }
}

/** Listings first, then uploads and downloads by size. */
function compare(a: MixPart, b: MixPart): number {
  const rank = ({ what }: MixPart) => {
    const size = CLASSES.findIndex((one) => what.endsWith(one.what))
    return what === 'listing' ? -1 : size + (what.startsWith('download') ? CLASSES.length : 0)
  }
  return rank(a) - rank(b)
}

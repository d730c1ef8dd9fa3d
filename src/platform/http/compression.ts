import { pipeline, Readable, type Transform } from 'node:stream'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib'
import { type Chunks, HttpResponse, type ResponseHeaders } from '../responses/index.ts'

/** Content codings we can produce, in our order of preference: by size saved for the CPU time spent. */
const CODINGS = ['zstd', 'br', 'gzip'] as const
type Coding = (typeof CODINGS)[number]

/** Shorter bodies fit into a packet or two either way. */
const SMALLEST = 1024
/** Bodies in memory up to this size are compressed in one step, whether or not the client reads fast. */
const ONE_STEP = 256 * 1024
/** Longer ones are compressed in slices of this size, so that the thread pool is shared fairly. */
const SLICE = 64 * 1024

const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript)|image\/svg\+xml)/

/**
 * Routes whose responses contain secrets, such as tokens in the URLs of links. The length of a compressed response tells how much of
 * it repeats, so whoever can add text to it and watch the connection could guess them (the BREACH attack).
 */
const SECRET_ROUTE = /link|token|secret|webhook|auth/

// Low levels: they save most of the bytes at a fraction of the CPU time of the default.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 19 } }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }
const GZIP = { level: 4 }

type Done = (error: Error | null, result: Buffer) => void
const oneStep: Record<Coding, (bytes: Buffer, done: Done) => void> = {
  zstd: (bytes, done) => zstdCompress(bytes, ZSTD, done),
  br: (bytes, done) => brotliCompress(bytes, BROTLI, done),
  gzip: (bytes, done) => gzip(bytes, GZIP, done),
}
const streams: Record<Coding, () => Transform> = {
  zstd: () => createZstdCompress(ZSTD),
  br: () => createBrotliCompress(BROTLI),
  gzip: () => createGzip(GZIP),
}

/** What the compression of a response depends on. */
interface Request {
  readonly method: string
  header(name: string): string | undefined
}

/** Compresses responses for clients that ask for it, a limited number at the same time. */
export class Compression {
  readonly #limit: number
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * The response to send instead; the same one if it is not worth it, not wanted, or if too many are being compressed. `pattern` is
   * the path pattern of the route.
   */
  apply(request: Request, pattern: string, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
    if (!isEligible(request, pattern, response)) return response
    const coding = chooseCoding(request.header('accept-encoding'))
    if (coding === undefined || this.#running >= this.#limit) return withVary(response)
    this.#running += 1
    const { body } = response
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) return this.#streamed(response, coding, body)
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    return bytes.length <= ONE_STEP
      ? this.#inOneStep(response, coding, bytes)
      : this.#streamed(response, coding, Readable.from(slicesOf(bytes)))
  }

  #inOneStep(response: HttpResponse, coding: Coding, bytes: Buffer): Promise<HttpResponse> {
    return new Promise((resolve) => {
      oneStep[coding](bytes, (error, result) => {
        this.#running -= 1
        resolve(error === null ? coded(response, coding, result) : withVary(response))
      })
    })
  }

  #streamed(response: HttpResponse, coding: Coding, body: Readable | Chunks): HttpResponse {
    const stream = streams[coding]()
    const source = body instanceof Readable ? body : Readable.from(copiesOf(body))
    // The error of either end destroys the other, and ends the response.
    pipeline(source, stream, () => {
      this.#running -= 1
      if (!(body instanceof Readable)) void body.return()
    })
    return coded(response, coding, stream)
  }
}

function isEligible({ method }: Request, pattern: string, { status, headers, body }: HttpResponse): boolean {
  if (method !== 'GET' || status !== 200) return false
  if ((typeof body === 'string' || Buffer.isBuffer(body)) && body.length < SMALLEST) return false
  if (!COMPRESSIBLE.test(String(headers['Content-Type'] ?? ''))) return false
  if (headers['Content-Encoding'] !== undefined || headers['Accept-Ranges'] !== undefined) return false
  return !SECRET_ROUTE.test(pattern)
}

/** The coding a client prefers (RFC 9110, 12.5.3); undefined for none. */
export function chooseCoding(accepted: string | undefined): Coding | undefined {
  if (accepted === undefined) return undefined
  const weights = new Map<string, number>()
  for (const part of accepted.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const weight = parameters.find((text) => text.startsWith('q='))
    const q = weight === undefined ? 1 : Number(weight.slice(2))
    if (name !== '' && q >= 0 && q <= 1) weights.set(name, q)
  }
  const of = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  let best: Coding | undefined
  for (const coding of CODINGS) if (of(coding) > (best === undefined ? 0 : of(best))) best = coding
  return best !== undefined && of(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

function withVary(response: HttpResponse): HttpResponse {
  const { status, headers, body, release } = response
  return new HttpResponse(status, { ...headers, Vary: varyOf(headers) }, body, release)
}

function coded(response: HttpResponse, coding: Coding, body: Buffer | Readable): HttpResponse {
  const { 'Content-Length': _, ...headers } = response.headers
  const etag = headers['ETag']
  const more: Record<string, string> = { 'Content-Encoding': coding, Vary: varyOf(headers) }
  if (typeof etag === 'string' && etag.startsWith('"')) more['ETag'] = `W/${etag}`
  return new HttpResponse(response.status, { ...headers, ...more }, body, response.release)
}

function varyOf({ Vary }: ResponseHeaders): string {
  const given = Vary === undefined ? '' : String(Vary)
  if (/accept-encoding/i.test(given)) return given
  return given === '' ? 'Accept-Encoding' : `${given}, Accept-Encoding`
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE)
}

/** Copies, because a stream reads ahead and a chunk is only valid until the next one is requested. */
async function* copiesOf(chunks: Chunks): AsyncGenerator<Buffer> {
  for (let step = await chunks.next(); step.done !== true; step = await chunks.next())
    yield Buffer.from(step.value)
}

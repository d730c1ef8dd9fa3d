import { isUtf8 } from 'node:buffer'
import path from 'node:path'
import { Busy, type FairSemaphoreOptions } from '../../base/scheduling/index.ts'
import { type WorkerFailure, WorkerPool, WorkersClosed } from '../workers/index.ts'
import type { Extracted } from './extract-text.ts'
import { formatOf, isMostlyText, isReadableInPart, mayContainPdf } from './formats.ts'
import { defaultLimits, type Limits } from './limits.ts'
import type { ExtractionTask } from './worker-main.ts'

/** Bytes of plain text that may be looked at without a worker: less than a millisecond's work. */
const SIMPLE_BYTES = 128 * 1024

/**
 * The text of a file that is UTF-8 beyond doubt, as most are: a worker would find the same, later and at a hundred times the
 * cost. Undefined for all that leaves a choice, such as escapes and zero bytes, which other charsets have.
 */
function simpleText(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\0-\x08\x0b\x0e-\x1f]/.test(text)) return undefined
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
}

/** All of a file, if it is no longer than expected. */
async function readShort(source: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of source) {
    // A piece may be used again for the next.
    pieces.push(Buffer.from(piece))
    length += piece.length
    if (length > SIMPLE_BYTES) return undefined
  }
  return Buffer.concat(pieces)
}

export type { Extracted } from './extract-text.ts'
export { isExtractable } from './formats.ts'

/** Extracts plain text from files in worker processes, for search and previews. */
export interface TextExtractor {
  /**
   * The text of a file, or a reason that depends only on its bytes and may be cached.
   * `read` is called at most once and stopped early when possible. Workers are shared fairly by key, and none of them reads files of
   * two owners.
   *
   * Rejects with what `read` throws, with the reason of the signal, and with `ExtractorUnavailable`; none of them says
   * anything about the file.
   */
  extract(input: ExtractionInput, options?: { signal?: AbortSignal; key?: string }): Promise<Extracted>
  /** Ends all workers; what they read rejects with `ExtractorUnavailable`. */
  close(): Promise<void>
}

/** A file to be read. */
interface ExtractionInput {
  readonly name: string
  readonly size: number
  /** The account that it belongs to. */
  readonly owner: string
  readonly read: () => AsyncIterable<Buffer>
}

/** Temporary failure: the queue is full, or the server is stopping. */
export class ExtractorUnavailable extends Error {
  override readonly name = 'ExtractorUnavailable'
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 5) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The queue holds 1000 files by default. */
export interface TextExtractorOptions extends Omit<FairSemaphoreOptions, 'slots'> {
  /** Number of worker processes. */
  readonly threads: number
  /** Idle time after which a worker exits. */
  readonly idleMs?: number
  /** Plain text up to this size is first tried without a worker. */
  readonly simpleBytes?: number
  readonly limits?: Partial<Limits>
}

const program = {
  name: 'text extraction',
  entry: path.join(import.meta.dirname, 'worker-main.ts'),
  packages: ['unpdf', 'fflate', 'htmlparser2'],
}

/** Lazy: workers start with the first file. */
export function createTextExtractor(options: TextExtractorOptions): TextExtractor {
  return new SandboxedExtractor(options)
}

class SandboxedExtractor implements TextExtractor {
  readonly #simpleBytes: number
  readonly #limits: Limits
  readonly #workers: WorkerPool<ExtractionTask, Extracted>
  #isClosed = false

  constructor(options: TextExtractorOptions) {
    const { threads, simpleBytes = SIMPLE_BYTES, limits, ...rest } = options
    this.#simpleBytes = simpleBytes
    this.#limits = { ...defaultLimits, ...limits }
    const bounds = { waiting: 1000, ...rest, slots: threads }
    const parse = (result: unknown) => parseExtracted(result, this.#limits)
    this.#workers = new WorkerPool({ program, limits: this.#limits, parse, ...bounds })
  }

  async extract(
    input: ExtractionInput,
    { signal, key = '' }: { signal?: AbortSignal; key?: string } = {},
  ): Promise<Extracted> {
    signal?.throwIfAborted()
    const format = formatOf(input.name)
    if (format === undefined) return { reason: 'is of a type that cannot be read' }
    const maxBytes = isMostlyText(format) ? this.#limits.plainBytes : this.#limits.inputBytes
    const whole = !isReadableInPart(format)
    if (whole && input.size > maxBytes) return { reason: reasonOf('too-large', maxBytes) }
    let { read } = input
    if (format === 'plain' && input.size <= this.#simpleBytes && input.size <= maxBytes) {
      if (this.#isClosed) throw unavailable(new WorkersClosed())
      const bytes = await readShort(read())
      const text = bytes && simpleText(bytes)
      if (text !== undefined && text.length <= this.#limits.textLength) return { text, truncated: false }
      // `read` may be called only once, so a file longer than stated is rejected.
      if (bytes === undefined) return { reason: 'is longer than it said' }
      read = async function* () {
        yield bytes
      }
    }
    const task = { name: input.name, limits: this.#limits }
    // The reader of PDFs is loaded by the first job of a worker or never.
    const origin = `${input.owner} ${mayContainPdf(format) ? 'pdf' : ''}`
    const outcome = await this.#workers
      .run({ key, origin }, { task, read, maxBytes, whole }, signal)
      .catch((error) => Promise.reject(unavailable(error)))
    return 'result' in outcome ? outcome.result : { reason: reasonOf(outcome.failure, maxBytes) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#workers.close()
  }
}

const MAX_REASON = 1000

/** The result of a worker, unless a hostile file took it over and it sent something else. */
function parseExtracted(result: unknown, { textLength }: Limits): Extracted | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  if ('reason' in result)
    return typeof result.reason === 'string' ? { reason: result.reason.slice(0, MAX_REASON) } : undefined
  if (!('text' in result && 'truncated' in result)) return undefined
  const { text, truncated } = result
  const isValid = typeof text === 'string' && text.length <= textLength && typeof truncated === 'boolean'
  return isValid ? { text, truncated } : undefined
}

function unavailable(error: unknown): unknown {
  if (error instanceof Busy) return new ExtractorUnavailable('Too many files wait.', error.retryAfterSeconds)
  if (error instanceof WorkersClosed) return new ExtractorUnavailable('The server is stopping.')
  return error
}

/** Words that follow "The file". */
function reasonOf(failure: WorkerFailure, maxBytes: number): string {
  if (failure === 'too-large') return `is larger than ${Math.round(maxBytes / 1024 ** 2)} MiB`
  if (failure === 'too-long') return 'takes too long to read'
  return failure === 'crashed' ? 'makes its reader crash' : 'needs too much memory to read'
}

import { availableParallelism } from 'node:os'
import path from 'node:path'
import { type FairSemaphoreOptions, VISITORS } from '../../base/scheduling/index.ts'
import { type WorkerJob, WorkerLost, type WorkerOutcome, WorkerPool } from '../workers/index.ts'
import type { WorkerLimits } from '../workers/runtime/index.ts'
import type { ImageDescription } from './image-description.ts'
import type { ImageSource } from './image-formats.ts'
import type { ImageTask } from './image-worker.ts'

/**
 * Result of decoding an image. `undecodable` depends on its bytes only, so it is permanent. `exhausted`: a worker ran out of time
 * or memory, or died. A retry may succeed.
 */
export type ImageOutcome = { readonly images: readonly Buffer[] } | ImageFailure

interface ImageFailure {
  readonly failure: 'undecodable' | 'exhausted'
}

/** A file that is or contains an image. */
interface ImageInput {
  /** The account that it belongs to. A worker reads the files of one. */
  readonly owner: string
  /** Default: `pixels`. */
  readonly source?: ImageSource
  readonly read: () => AsyncIterable<Buffer>
  /** A longer file is undecodable. Of an audio file the beginning is enough. */
  readonly maxBytes: number
}

/** The result of a worker, checked. */
type ParsedResult =
  | { readonly images: readonly Buffer[] }
  | { readonly description: ImageDescription }
  | 'undecodable'
  | 'exhausted'

interface ImagesOptions extends Partial<FairSemaphoreOptions> {
  readonly limits?: Partial<WorkerLimits>
}

const MiB = 2 ** 20

const program = {
  name: 'image',
  entry: path.join(import.meta.dirname, 'image-worker.ts'),
  packages: [
    'sharp',
    'libheif-js/libheif-wasm/libheif.js',
    '@resvg/resvg-wasm',
    '@hyzyla/pdfium',
    'music-metadata',
    'fflate',
    'exifreader',
    'thumbhash',
  ],
  hasAddons: true,
}

const defaultLimits: WorkerLimits = {
  workMs: 10_000,
  timeoutMs: 20_000,
  heapBytes: 128 * MiB,
  processBytes: 640 * MiB,
}

const photographFormats = ['jpeg', 'png', 'gif', 'webp', 'avif', 'heic', 'tiff'] as const
const avatarFormats = ['jpeg', 'png', 'gif'] as const
const PHOTOGRAPH_PIXELS = 64_000_000
const AVATAR_PIXELS = 40_000_000
const MAX_SIDE = 10_000_000
const MAX_THUMBHASH = 40
const MAX_SECONDS = 2 ** 40
const MAX_OFFSET = 14 * 60

/** Decodes images in sandboxed processes, which requesters share fairly. Throws Busy, WorkersClosed and the reason of the signal. */
export class Images implements AsyncDisposable {
  readonly #workers: WorkerPool<ImageTask, ParsedResult>

  constructor({ limits, ...bounds }: ImagesOptions = {}) {
    // A requester gets half of the workers, and so do all link visitors together, so that slow images do not block others.
    const { slots = Math.min(Math.max(availableParallelism(), 2), 4) } = bounds
    const half = Math.ceil(slots / 2)
    this.#workers = new WorkerPool({
      program,
      limits: { ...defaultLimits, ...limits },
      parse: parseResult,
      slots,
      perKey: half,
      waitingPerKey: 250,
      waiting: 1000,
      waitMs: 25_000,
      groups: { [VISITORS]: { slots: half, waiting: 500 } },
      ...bounds,
    })
  }

  /** A JPEG whose longer side has `side` pixels, or fewer if the image is smaller. */
  async fit(requester: string, input: ImageInput, side: number, signal?: AbortSignal): Promise<ImageOutcome> {
    const { owner, source = 'pixels', read, maxBytes } = input
    const task = { source, formats: photographFormats, maxPixels: PHOTOGRAPH_PIXELS, make: { fit: side } }
    const job = { task, read, maxBytes, whole: source !== 'audio' }
    return toImages(await this.#run({ key: requester, owner }, job, signal))
  }

  /** Size, placeholder and date of an image of pixels. */
  async describe(
    requester: string,
    { owner, read, maxBytes }: ImageInput,
    signal?: AbortSignal,
  ): Promise<ImageDescription | ImageFailure> {
    const task = {
      source: 'pixels' as const,
      formats: photographFormats,
      maxPixels: PHOTOGRAPH_PIXELS,
      make: 'description' as const,
    }
    const job = { task, read, maxBytes, whole: true }
    const result = await this.#run({ key: requester, owner }, job, signal)
    if ('failure' in result) return result
    return 'description' in result ? result.description : { failure: 'undecodable' }
  }

  /** Square PNGs without the metadata of the file, which belongs to the requester. */
  async squares(requester: string, bytes: Buffer, sides: readonly number[]): Promise<ImageOutcome> {
    const task = {
      source: 'pixels' as const,
      formats: avatarFormats,
      maxPixels: AVATAR_PIXELS,
      make: { squares: sides },
    }
    const read = async function* () {
      yield bytes
    }
    const job = { task, read, maxBytes: bytes.length, whole: true }
    return toImages(await this.#run({ key: requester, owner: requester }, job))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers.close()
  }

  async #run(
    requester: { readonly key: string; readonly owner: string },
    job: WorkerJob<ImageTask>,
    signal?: AbortSignal,
    attempts = 2,
  ): Promise<Exclude<ParsedResult, string> | ImageFailure> {
    const { key, owner } = requester
    // The reader of audio files is loaded by the first job of a worker or never.
    const origin = `${owner} ${job.task.source === 'audio' ? 'audio' : ''}`
    const outcome = await this.#workers.run({ key, origin }, job, signal).catch((error) => {
      if (error instanceof WorkerLost) return { failure: 'killed' as const }
      throw error
    })
    // Retried, because an idle worker may die just before it gets the job.
    if ('failure' in outcome && outcome.failure === 'killed' && attempts > 1)
      return this.#run(requester, job, signal, attempts - 1)
    return toOutcome(outcome)
  }
}

function toOutcome(outcome: WorkerOutcome<ParsedResult>): Exclude<ParsedResult, string> | ImageFailure {
  if ('failure' in outcome) return { failure: outcome.failure === 'too-large' ? 'undecodable' : 'exhausted' }
  const { result } = outcome
  return typeof result === 'string' ? { failure: result } : result
}

function toImages(result: Exclude<ParsedResult, string> | ImageFailure): ImageOutcome {
  if ('failure' in result) return result
  return { images: 'images' in result ? result.images : [] }
}

const MAX_IMAGES = 16

/** The result of a worker, unless a hostile image took it over and it sent something else. */
function parseResult(result: unknown): ParsedResult | undefined {
  if (result === 'undecodable' || result === 'exhausted') return result
  if (typeof result !== 'object' || result === null) return undefined
  if ('images' in result && Array.isArray(result.images)) {
    const images: unknown[] = result.images
    return images.length <= MAX_IMAGES && images.every((image) => Buffer.isBuffer(image))
      ? { images }
      : undefined
  }
  if (!('description' in result && typeof result.description === 'object')) return undefined
  const description = parseDescription(result.description ?? {})
  return description && { description }
}

function parseDescription(
  found: { readonly [name in keyof ImageDescription]?: unknown },
): ImageDescription | undefined {
  const { width, height, thumbhash, originalAt, utcOffset } = found
  const isInteger = (value: unknown, most: number): value is number =>
    typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= most
  const isValid =
    isInteger(width, MAX_SIDE) &&
    isInteger(height, MAX_SIDE) &&
    Buffer.isBuffer(thumbhash) &&
    thumbhash.length <= MAX_THUMBHASH &&
    (originalAt === undefined || isInteger(originalAt, MAX_SECONDS)) &&
    (utcOffset === undefined || isInteger(utcOffset, MAX_OFFSET))
  return isValid ? { width, height, thumbhash, originalAt, utcOffset } : undefined
}

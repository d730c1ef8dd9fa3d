import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type * as S3Module from '@aws-sdk/client-s3'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import type { BucketAddress } from '../../base/bucket-address.ts'
import { isTransient, ObjectMissing, reasonOf, S3Refused, S3Unavailable, statusOf } from './errors.ts'

/** Ends one attempt of a request: when it makes no progress for a while, and when it takes too long as a whole. */
class Watchdog implements Disposable {
  readonly #controller = new AbortController()
  readonly #whole: NodeJS.Timeout
  readonly #stall: NodeJS.Timeout

  constructor({ stallMs, attemptMs }: { readonly stallMs: number; readonly attemptMs: number }) {
    const end = (reason: string) => () => this.abort(new Error(reason))
    this.#whole = setTimeout(end(`it took longer than ${attemptMs} ms`), attemptMs)
    this.#stall = setTimeout(end(`nothing moved for ${stallMs} ms`), stallMs)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** To be called when bytes moved in either direction. */
  progress(): void {
    this.#stall.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#whole)
    clearTimeout(this.#stall)
  }
}

/** A prefix in a bucket, and how to reach it. */
export interface BucketSettings extends BucketAddress {
  /** Undefined for those of the profile, or the credential chain of the SDK: variables, files, web identity, container, instance metadata. */
  readonly credentials?:
    | {
        readonly accessKeyId: string
        readonly secretAccessKey: string
        /** Of temporary credentials. */
        readonly sessionToken?: string | undefined
      }
    | undefined
}

/** Times in milliseconds. */
export interface BucketLimits {
  /** Until a connection is established. */
  readonly connectMs: number
  /** Without a byte in either direction. It also limits the time to the first byte of a response. */
  readonly stallMs: number
  /** Of one attempt. */
  readonly attemptMs: number
  /** No attempt begins this long after the first one. */
  readonly retryMs: number
}

const LIMITS: BucketLimits = { connectMs: 3000, stallMs: 15_000, attemptMs: 120_000, retryMs: 20_000 }

/** The bytes of an object to be stored. */
interface ObjectBody {
  readonly size: number
  /** Hexadecimal. It is part of the signature, so the service rejects other bytes. */
  readonly sha256: string
  /** Called for each attempt. */
  open(): Uint8Array | AsyncIterable<Uint8Array>
}

/** A stored version of an object. */
export interface ObjectVersion {
  readonly name: string
  /** Its id in the service; `null` as text for an object that was stored without versioning. */
  readonly version: string
  readonly size: number
  /** When it was stored. */
  readonly storedAt: Date
}

/** What of an object is read: all of its current version, unless given. */
interface GetOptions {
  /** `start` up to but not including `end`. */
  readonly range?: { readonly start: number; readonly end: number } | undefined
  readonly version?: string | undefined
}

/** Counters since the start. */
export interface BucketStatistics {
  requests: number
  /** Seconds that successful requests took, in total. */
  seconds: number
  retries: number
  /** Requests that failed after all retries. */
  failures: number
}

const MAX_SOCKETS = 64
/** The longest pause before a retry; the first ones are shorter. */
const MAX_PAUSE_MS = 2000
const FIRST_PAUSE_MS = 100
/** After a failed call, calls are not retried for this long, until one succeeds. */
const DOWN_MS = 10_000

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

type Sdk = typeof S3Module

/** Loads the SDK, which costs some 20 MB of memory, and creates a client. No request is made. */
export async function openBucket(
  settings: BucketSettings,
  limits: Partial<BucketLimits> = {},
): Promise<Bucket> {
  return new Bucket(await import('@aws-sdk/client-s3'), settings, { ...LIMITS, ...limits })
}

/**
 * Objects below a prefix of a bucket of an S3 service. Calls are retried with a random pause, for a limited time. They throw ObjectMissing,
 * S3Refused and S3Unavailable.
 */
export class Bucket implements Disposable {
  readonly place: string
  readonly statistics: BucketStatistics = { requests: 0, seconds: 0, retries: 0, failures: 0 }
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly #encryption: BucketSettings['encryption']
  readonly #limits: BucketLimits
  #failedAtMs = Number.NEGATIVE_INFINITY

  constructor(sdk: Sdk, settings: BucketSettings, limits: BucketLimits) {
    const { bucket, prefix, endpoint, region, pathStyle, credentials, encryption, profile } = settings
    this.place = `s3://${bucket}/${prefix}`
    this.#sdk = sdk
    this.#bucket = bucket
    this.#prefix = prefix
    this.#encryption = encryption
    this.#limits = limits
    const options: S3ClientConfig = {
      region,
      forcePathStyle: pathStyle,
      // Our own retries open the body again, which the SDK cannot do for streams.
      maxAttempts: 1,
      // Older services reject requests with checksum trailers. The signed hash of the payload protects the bytes.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Failures are reported by our own errors. The SDK would print warnings otherwise.
      logger: SILENT,
      // It would cost a round trip for each object.
      expectContinueHeader: false,
      requestHandler: {
        connectionTimeout: limits.connectMs,
        httpAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
        httpsAgent: { maxSockets: MAX_SOCKETS, keepAlive: true },
      },
    }
    if (endpoint !== undefined) options.endpoint = endpoint
    if (profile !== undefined) options.profile = profile
    if (credentials !== undefined) {
      const { sessionToken, ...keys } = credentials
      options.credentials = { ...keys, ...(sessionToken !== undefined && { sessionToken }) }
    }
    this.#client = new sdk.S3Client(options)
  }

  /** Resolves once the object is stored durably. */
  async put(name: string, body: ObjectBody): Promise<void> {
    const { algorithm, keyId } = this.#encryption ?? {}
    await this.#retrying(async (watchdog) => {
      const bytes = body.open()
      const stream = bytes instanceof Uint8Array ? bytes : Readable.from(watched(bytes, watchdog))
      // The SDK pipes the stream into a request and does not look at its errors.
      if (stream instanceof Readable) stream.on('error', (error) => watchdog.abort(new OwnError(error)))
      const command = new this.#sdk.PutObjectCommand({
        ...this.#keyOf(name),
        Body: stream,
        ContentLength: body.size,
        ...(algorithm && { ServerSideEncryption: algorithm }),
        ...(keyId && { SSEKMSKeyId: keyId }),
      })
      command.middlewareStack.add(
        (next) => (args) => {
          const { headers } = args.request as { headers: Record<string, string> }
          headers['x-amz-content-sha256'] = body.sha256
          return next(args)
        },
        { step: 'build', name: 'signedPayloadHash' },
      )
      await this.#client.send(command, { abortSignal: watchdog.signal })
    })
  }

  /** The result of `consume`, which is called with the chunks of each attempt. Its own errors end the call. */
  get<T>(
    name: string,
    consume: (chunks: AsyncIterable<Buffer>) => Promise<T>,
    { range, version }: GetOptions = {},
  ): Promise<T> {
    return this.#retrying(async (watchdog) => {
      const { Body: body } = await this.#client.send(
        new this.#sdk.GetObjectCommand({
          ...this.#keyOf(name),
          ...(range && { Range: `bytes=${range.start}-${range.end - 1}` }),
          ...(version !== undefined && { VersionId: version }),
        }),
        { abortSignal: watchdog.signal },
      )
      watchdog.progress()
      if (!(body instanceof Readable)) throw new Error('the response has no body')
      const stop = () => body.destroy(watchdog.signal.reason as Error)
      watchdog.signal.addEventListener('abort', stop)
      try {
        return await consume(received(body, watchdog))
      } catch (error) {
        throw error instanceof TransferError ? error : new OwnError(error)
      } finally {
        watchdog.signal.removeEventListener('abort', stop)
        body.destroy()
      }
    })
  }

  /** In bytes. */
  async size(name: string): Promise<number> {
    const head = new this.#sdk.HeadObjectCommand(this.#keyOf(name))
    return this.#retrying(
      async ({ signal }) => (await this.#client.send(head, { abortSignal: signal })).ContentLength ?? 0,
    )
  }

  /** Removing an object that does not exist is not an error. */
  async remove(name: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand(this.#keyOf(name))
    try {
      await this.#retrying(({ signal }) => this.#client.send(command, { abortSignal: signal }))
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error
    }
  }

  /** All objects whose names begin with `prefix`, ascending. */
  async *list(prefix: string): AsyncGenerator<{ readonly name: string; readonly size: number }, void> {
    for (let token: string | undefined, hasMore = true; hasMore; hasMore = token !== undefined) {
      const command = new this.#sdk.ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: this.#prefix + prefix,
        ContinuationToken: token,
      })
      const page = await this.#retrying(({ signal }) => this.#client.send(command, { abortSignal: signal }))
      for (const { Key: key = '', Size: size = 0 } of page.Contents ?? []) {
        yield { name: key.slice(this.#prefix.length), size }
      }
      token = page.NextContinuationToken
    }
  }

  /**
   * All versions of the objects whose names begin with `prefix`, also of deleted objects, in the order of the service. A bucket without versioning
   * has the current ones only. The service wants a right of its own for it (`s3:ListBucketVersions`).
   */
  async *listVersions(prefix: string): AsyncGenerator<ObjectVersion, void> {
    for (let marker: readonly [string?, string?] = [], hasMore = true; hasMore; ) {
      const command = new this.#sdk.ListObjectVersionsCommand({
        Bucket: this.#bucket,
        Prefix: this.#prefix + prefix,
        KeyMarker: marker[0],
        VersionIdMarker: marker[1],
      })
      const page = await this.#retrying(({ signal }) => this.#client.send(command, { abortSignal: signal }))
      for (const { Key: key = '', VersionId: version, Size: size = 0, LastModified } of page.Versions ?? []) {
        if (version === undefined) continue
        yield { name: key.slice(this.#prefix.length), version, size, storedAt: LastModified ?? new Date(0) }
      }
      marker = [page.NextKeyMarker, page.NextVersionIdMarker]
      hasMore = page.IsTruncated === true && page.NextKeyMarker !== undefined
    }
  }

  /** Makes one cheap request. Throws if the bucket cannot be used. */
  async reach(): Promise<void> {
    const command = new this.#sdk.HeadBucketCommand({ Bucket: this.#bucket })
    await this.#retrying(({ signal }) => this.#client.send(command, { abortSignal: signal }))
  }

  [Symbol.dispose](): void {
    this.#client.destroy()
  }

  #keyOf(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + name }
  }

  async #retrying<T>(attempt: (watchdog: Watchdog) => Promise<T>): Promise<T> {
    const began = performance.now()
    const { retryMs } = this.#limits
    const isDown = began - this.#failedAtMs < DOWN_MS
    for (let tries = 0; ; tries += 1) {
      const failure = await this.#once(attempt)
      if ('result' in failure) return failure.result
      const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries)
      if (isDown || performance.now() - began + pauseMs > retryMs) {
        this.#failedAtMs = performance.now()
        this.statistics.failures += 1
        throw new S3Unavailable(`${this.place} cannot be reached (${reasonOf(failure.error)}).`, {
          cause: failure.error,
        })
      }
      this.statistics.retries += 1
      await wait(pauseMs)
    }
  }

  /** The result, or an error after which another attempt may succeed. Throws others. */
  async #once<T>(
    attempt: (watchdog: Watchdog) => Promise<T>,
  ): Promise<{ readonly result: T } | { readonly error: unknown }> {
    using watchdog = new Watchdog(this.#limits)
    const began = performance.now()
    this.statistics.requests += 1
    try {
      const result = await attempt(watchdog)
      this.statistics.seconds += (performance.now() - began) / 1000
      this.#failedAtMs = Number.NEGATIVE_INFINITY
      return { result }
    } catch (error) {
      const { aborted: isAborted, reason } = watchdog.signal
      for (const own of [error, reason]) if (own instanceof OwnError) throw own.cause
      if (isAborted) return { error: reason }
      if (error instanceof TransferError) return { error: error.cause }
      if (isTransient(error)) return { error }
      if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') {
        throw new ObjectMissing(`An object is missing in ${this.place}.`, { cause: error })
      }
      throw new S3Refused(`${this.place} cannot be used (${reasonOf(error)}).`, { cause: error })
    }
  }
}

/** An error of the source or the consumer of bytes, which has nothing to do with the service. */
class OwnError extends Error {
  override readonly name = 'OwnError'
  constructor(cause: unknown) {
    super('', { cause })
  }
}

/** The bytes of a response broke off. */
class TransferError extends Error {
  override readonly name = 'TransferError'
}

async function* received(body: Readable, watchdog: Watchdog): AsyncGenerator<Buffer, void> {
  const chunks = body[Symbol.asyncIterator]()
  for (;;) {
    let step: IteratorResult<Buffer>
    try {
      step = await chunks.next()
    } catch (cause) {
      throw new TransferError('a transfer broke off', { cause })
    }
    if (step.done === true) return
    watchdog.progress()
    yield step.value
  }
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  watchdog: Watchdog,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    watchdog.progress()
    yield chunk
  }
}

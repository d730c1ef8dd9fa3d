/** The service has no such object. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing'
}

/** The service could not be reached, or failed, until the time for retries was used up. */
export class S3Unavailable extends Error {
  override readonly name = 'S3Unavailable'

  /** In a few words, such as `ECONNREFUSED`. */
  get reason(): string {
    return reasonOf(this.cause)
  }
}

/** The service refused a request: wrong credentials, no such bucket, or bytes that do not match their hash. Retrying does not help. */
export class S3Refused extends Error {
  override readonly name = 'S3Refused'

  /** In a few words, such as `403 AccessDenied`. */
  get reason(): string {
    return this.cause === undefined ? this.message : reasonOf(this.cause)
  }

  /** The code of the service, such as `AccessDenied`, or the name of the error of the SDK. */
  get code(): string {
    return this.cause instanceof Error ? this.cause.name : ''
  }

  /** Whether the service received other bytes than those that were hashed. */
  get hasWrongBytes(): boolean {
    return WRONG_BYTES.has(this.code)
  }

  /** Of the response; undefined if no request was made. */
  get status(): number | undefined {
    return statusOf(this.cause)
  }
}

/** The status of a response that the SDK made an error of; undefined if there was no response. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined
  const { $metadata: metadata } = error
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}

/** The bytes do not match a hash that was sent with them. */
const WRONG_BYTES: ReadonlySet<string> = new Set([
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
])
/** Credentials or a region that nobody configured. */
const NOT_CONFIGURED: ReadonlySet<string> = new Set(['CredentialsProviderError', 'TokenProviderError'])
/** Errors with a status below 500 that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['RequestTimeout', 'SlowDown', 'TooManyRequests', 'Throttling'])

/** Whether the same request may succeed later: no response, 5xx, 408, 429. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error) || NOT_CONFIGURED.has(error.name)) return false
  const status = statusOf(error)
  return status === undefined || status >= 500 || status === 408 || status === 429 || PASSING.has(error.name)
}

/** The reason in a few words, such as `403 AccessDenied` or `ECONNREFUSED`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const status = statusOf(error)
  if (status !== undefined) return `${status} ${error.name}`
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

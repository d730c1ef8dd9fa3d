/** Why a call failed. */
type ErrorKind =
  /** No response: the server is down, the name does not resolve, or the connection was lost. */
  | 'unreachable'
  /** The token is missing, expired or revoked, or the password is wrong. */
  | 'unauthorized'
  /** The account has a second factor, and the call has no valid one-time code. */
  | 'otp-needed'
  /** The call makes something that outlives the session, and has to be confirmed with the password of the account. */
  | 'confirmation-needed'
  | 'forbidden'
  | 'not-found'
  /** Another change came first, or the name is taken. */
  | 'conflict'
  | 'locked'
  /** The library is encrypted, and this token has not unlocked it. */
  | 'password-needed'
  /** The quota or the disk of the server is full. */
  | 'no-space'
  /** Still busy after all attempts. */
  | 'busy'
  /** The server rejects the input. */
  | 'invalid'
  /** The server failed, or sent something that is not its API. */
  | 'server'

/** A call failed. `message` is the sentence of the server, if it sent one. */
export class CarrelError extends Error {
  override name = 'CarrelError'
  readonly kind: ErrorKind
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined
  /** The account may do this, but not with this token. */
  readonly isOutOfScope: boolean
  /** The JSON of the response; undefined if it had none. */
  readonly body: unknown

  constructor(
    kind: ErrorKind,
    status: number,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number; isOutOfScope?: boolean; body?: unknown } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = status
    this.retryAfterMs = options.retryAfterMs
    this.isOutOfScope = options.isOutOfScope ?? false
    this.body = options.body
  }
}

/** Longest part of a response that becomes a message. */
const MAX_MESSAGE = 300

/** The error of a response with this status, for requests that a program sends without the SDK. */
export function errorForStatus(status: number, message: string): CarrelError {
  return new CarrelError(status === 0 ? 'unreachable' : kindOf(status, message), status, message)
}

/** The error of a response that is not a success. Reads its body. */
export async function errorOf(response: Response): Promise<CarrelError> {
  const text = await response.text().catch(() => '')
  const body = jsonIn(text)
  const message = (messageIn(body) ?? (text.startsWith('<') ? '' : text)).slice(0, MAX_MESSAGE)
  const seconds = /^\d{1,6}$/.exec(response.headers.get('Retry-After') ?? '')?.[0]
  const needsOtp = response.headers.get('X-Seafile-OTP') === 'required'
  const needsPassword = response.headers.has('X-Carrel-Confirmation')
  const ofHeader = needsOtp ? 'otp-needed' : needsPassword ? 'confirmation-needed' : undefined
  return new CarrelError(
    ofHeader ?? kindOf(response.status, message),
    response.status,
    message || `The server answered ${response.status} ${response.statusText}.`,
    {
      body,
      ...(seconds !== undefined && { retryAfterMs: Number(seconds) * 1000 }),
      // RFC 6750, 3.1.
      isOutOfScope: /\berror="insufficient_scope"/.test(response.headers.get('WWW-Authenticate') ?? ''),
    },
  )
}

function kindOf(status: number, message: string): ErrorKind {
  if (/decrypted|Repo is encrypted|lib_need_decrypt/i.test(message)) return 'password-needed'
  switch (status) {
    case 401:
      return 'unauthorized'
    case 403:
      return /\blocked\b/.test(message) ? 'locked' : 'forbidden'
    case 404:
    case 410:
    case 441:
      return 'not-found'
    case 409:
    case 412:
      return 'conflict'
    case 423:
      return 'locked'
    case 429:
    case 502:
    case 503:
    case 504:
      return 'busy'
    case 443:
    case 507:
      return 'no-space'
  }
  return status >= 400 && status < 500 ? 'invalid' : 'server'
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The message of an error body. The API has several shapes for it. */
function messageIn(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (typeof body !== 'object' || body === null) return undefined
  if ('lib_need_decrypt' in body) return 'This library has not been decrypted.'
  for (const name of ['error_msg', 'detail', 'error', 'non_field_errors']) {
    const value = (body as Record<string, unknown>)[name]
    const first: unknown = Array.isArray(value) ? value[0] : value
    if (typeof first === 'string') return first
  }
  return undefined
}

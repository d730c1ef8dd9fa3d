import { Connection, type ConnectionOptions, pause } from './connection.ts'
import { CarrelError } from './errors.ts'

/** What the user of a client needs to know to confirm its sign-in. */
export interface SignInCode {
  /** For example `WDJB-MJHT`. */
  readonly code: string
  /** The page where it is entered. */
  readonly url: string
  /** The page with the code. */
  readonly urlWithCode: string
  readonly expiresInSeconds: number
}

interface SignInByCodeOptions extends Omit<ConnectionOptions, 'token'> {
  /** The name of the program, which the user sees. */
  readonly clientId: string
  /** The name of the machine, which the user sees. */
  readonly deviceName?: string
  /** What the token shall permit: reading, writing, or uploading only. The user decides. Default: `rw`. */
  readonly scope?: 'r' | 'rw' | 'upload'
  /** Shows the code to the user. */
  readonly onCode: (code: SignInCode) => void
  readonly signal?: AbortSignal
}

const FEATURE = 'device-authorization'
const PATH = 'api/v2.1/device-authorization/'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
/** Seconds. A server is not trusted to say less or more. */
const INTERVAL = { min: 1, max: 60 }
const MAX_LIFE = 3600

/** Whether a server offers to sign in by a code. */
export async function offersSignInByCode(
  options: Omit<ConnectionOptions, 'token'> & { readonly signal?: AbortSignal },
): Promise<boolean> {
  const { signal } = options
  try {
    const connection = new Connection(options)
    // Another server may answer anything.
    const info: { features?: unknown } | null = await connection.json('GET', 'api2/server-info/', { signal })
    return Array.isArray(info?.features) && info.features.includes(FEATURE)
  } catch (error) {
    // Older servers have no such call.
    if (error instanceof CarrelError && error.kind === 'not-found') return false
    throw error
  }
}

/**
 * Signs in by a code that the user confirms in a browser (RFC 8628), and resolves to a personal token. Throws `forbidden` if the user denies
 * it, `unauthorized` if the code expires.
 */
export async function signInByCode(options: SignInByCodeOptions): Promise<string> {
  const { clientId, deviceName, scope, signal, onCode } = options
  const connection = new Connection(options)
  const form = { client_id: clientId, device_name: deviceName, scope }
  const codes = await connection.json('POST', PATH, { form, signal })
  const expiresInSeconds = within(1, codes.expires_in, MAX_LIFE)
  const endsAt = performance.now() + expiresInSeconds * 1000
  onCode({
    code: codes.user_code,
    url: codes.verification_uri,
    urlWithCode: codes.verification_uri_complete,
    expiresInSeconds,
  })
  const asked = { grant_type: GRANT, client_id: clientId, device_code: codes.device_code }
  let interval = within(INTERVAL.min, codes.interval, INTERVAL.max)
  while (performance.now() < endsAt) {
    await pause(interval * 1000, signal)
    try {
      const reply = await connection.json('POST', `${PATH}token/`, { form: asked, signal })
      return reply.access_token
    } catch (error) {
      interval = nextInterval(interval, error)
    }
  }
  throw expired()
}

/** Seconds until the next poll. Throws if there is none. */
function nextInterval(interval: number, error: unknown): number {
  if (!(error instanceof CarrelError)) throw error
  // "On encountering a connection timeout, clients MUST unilaterally reduce their polling frequency" (RFC 8628, 3.5).
  if (error.kind === 'unreachable' || error.kind === 'busy') return Math.min(interval * 2, INTERVAL.max)
  if (error.status !== 400) throw error
  switch (error.message) {
    case 'authorization_pending':
      return interval
    case 'slow_down':
      return Math.min(interval + 5, INTERVAL.max)
    case 'access_denied':
      throw new CarrelError('forbidden', 400, 'Access was denied.', { cause: error })
    case 'expired_token':
    case 'invalid_grant':
      throw expired(error)
    default:
      throw error
  }
}

/** The nearest number in a range; the largest one if it is none. */
function within(min: number, value: number, max: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(value, min), max) : max
}

function expired(cause?: unknown): CarrelError {
  return new CarrelError('unauthorized', 400, 'The code has expired or was used already.', { cause })
}

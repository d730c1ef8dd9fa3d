import { Carrel, CarrelError } from '../../sdk/src/index.ts'
import { programVersion } from '../../src/base/version.ts'
import { ClientError, EXIT } from './client-error.ts'
import { Credentials } from './credentials.ts'
import { Libraries } from './remote-path.ts'
import { note } from './terminal.ts'

/** Options of all client commands. */
export interface CommonOptions {
  /** URL of the server, if it is not the one of the last sign-in. */
  readonly server?: string
  readonly json?: true
}

/** What calls of the API need. */
export interface CallContext {
  readonly carrel: Carrel
  readonly libraries: Libraries
  /** For a command: aborted by the first interrupt. */
  readonly signal: AbortSignal
}

/** What a command works with. */
export interface Session extends CallContext {
  readonly url: string
  readonly token: string
}

export const userAgent = (tool = 'carrel') => `${tool}/${programVersion()}`

/** The root URL of a server as it is stored. Throws a usage error. */
export function serverUrl(text: string): string {
  try {
    const url = new URL(/^https?:\/\//i.test(text) ? text : `https://${text}`)
    url.username = ''
    url.password = ''
    return (url.origin + url.pathname).replace(/\/+$/, '')
  } catch (error) {
    throw new ClientError(`"${text}" is not the URL of a server.`, EXIT.usage, { cause: error })
  }
}

/** The URL and token of the sign-in, or of the environment. Throws ClientError if there is none. */
export async function findLogin({
  server,
}: Pick<CommonOptions, 'server'>): Promise<{ url: string; token: string }> {
  const { CARREL_CLIENT_URL: url, CARREL_CLIENT_TOKEN: token } = process.env
  const wanted = server ?? url
  if (token && wanted) return { url: serverUrl(wanted), token }
  const login = await new Credentials(process.env).find(wanted && serverUrl(wanted))
  if (login !== undefined) return login
  throw new ClientError('Sign in first: carrel login URL.', EXIT.signIn)
}

/** The URL of the server alone, for callers whose requests bring a token. Throws ClientError if there is none. */
export async function findServer(options: Pick<CommonOptions, 'server'>): Promise<string> {
  const wanted = options.server ?? process.env['CARREL_CLIENT_URL']
  return wanted ? serverUrl(wanted) : (await findLogin(options)).url
}

/**
 * Runs a client command and resolves to its exit code. An interrupt cancels its transfers, which can be continued by the same
 * command. A second one ends the process.
 */
export async function runClient(
  options: CommonOptions,
  work: (session: Session) => Promise<number | undefined>,
): Promise<number> {
  return reportFailure(options, async (signal) => {
    const { url, token } = await findLogin(options)
    const carrel = new Carrel({ url, token, userAgent: userAgent() })
    return await work({ carrel, libraries: new Libraries(carrel), url, token, signal })
  })
}

/** Prints the failure of a command as one sentence and resolves to its exit code. */
export async function reportFailure(
  { json }: Pick<CommonOptions, 'json'>,
  work: (signal: AbortSignal) => Promise<number | undefined>,
): Promise<number> {
  const interrupt = new AbortController()
  const onSignal = () => {
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted)
    interrupt.abort(new ClientError('Interrupted.', EXIT.interrupted))
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    return (await work(interrupt.signal)) ?? EXIT.ok
  } catch (error) {
    const { sentence, exitCode } = failureOf(error)
    note(sentence)
    if (json) process.stdout.write(`${JSON.stringify({ error: sentence })}\n`)
    return exitCode
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

/** The sentence and the exit code of a failure. An unexpected one is shown with its stack. */
export function failureOf(error: unknown): { sentence: string; exitCode: number } {
  if (error instanceof ClientError) return { sentence: error.message, exitCode: error.exitCode }
  if (error instanceof CarrelError) return { sentence: sentenceFor(error), exitCode: exitCodeFor(error) }
  const { code, path } = error as NodeJS.ErrnoException
  if (code !== undefined && path !== undefined) {
    const exitCode = code === 'ENOENT' ? EXIT.notFound : EXIT.failed
    return { sentence: code === 'ENOENT' ? `There is no ${path}.` : `${path}: ${code}.`, exitCode }
  }
  return { sentence: error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode: 1 }
}

function sentenceFor({ kind, message, isOutOfScope }: CarrelError): string {
  if (isOutOfScope)
    return 'The token of this sign-in may not do that: it reads and writes files only. Sign in with the password of the account: carrel login URL --user E-MAIL.'
  if (kind === 'unauthorized') return `${message} Sign in: carrel login URL.`
  if (kind === 'password-needed') return `${message} Unlock it: carrel unlock LIBRARY.`
  return message
}

function exitCodeFor({ kind }: CarrelError): number {
  switch (kind) {
    case 'unauthorized':
    case 'otp-needed':
    case 'password-needed':
      return EXIT.signIn
    case 'forbidden':
    case 'locked':
      return EXIT.forbidden
    case 'not-found':
      return EXIT.notFound
    case 'conflict':
      return EXIT.conflict
    case 'unreachable':
    case 'busy':
      return EXIT.unreachable
    default:
      return EXIT.failed
  }
}

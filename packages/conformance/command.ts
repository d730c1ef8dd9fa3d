import { randomBytes } from 'node:crypto'
import { Carrel, signIn } from '../../sdk/src/index.ts'
import { programVersion } from '../../src/base/version.ts'
import {
  ClientError,
  EXIT,
  findLogin,
  note,
  readSecret,
  reportFailure,
  serverUrl,
  shown,
  userAgent,
} from '../client/index.ts'
import { RemoteStage } from './remote-stage.ts'
import { statements } from './statements.ts'
import { type Tried, tryStatements } from './try-statements.ts'

export interface ConformanceOptions {
  readonly json?: true
  /** Sign in with the password of this account instead of a stored sign-in. */
  readonly user?: string
  /** Ask for a token instead. */
  readonly token?: true
  /** Only statements whose id starts with this. */
  readonly only?: string
  /** Bytes. */
  readonly maxUpload?: string
}

/** Tries the statements of the documented API at a server and prints a report. */
export function checkConformance(url: string, options: ConformanceOptions): Promise<number> {
  return reportFailure(options, async (signal) => {
    const server = serverUrl(url)
    const wanted = statements.filter(({ id }) => id.startsWith(options.only ?? ''))
    if (wanted.length === 0) throw new ClientError(`No statement starts with "${options.only}".`, EXIT.usage)
    const largestUpload = bytesIn(options.maxUpload)
    await using session = await openSession(server, options, signal)
    const otherToken = process.env['CARREL_CLIENT_OTHER_TOKEN'] || undefined
    const stage = await RemoteStage.open({ url: server, token: session.token, otherToken, largestUpload })
    const results: Tried[] = []
    try {
      for await (const tried of tryStatements(wanted, stage, signal)) {
        results.push(tried)
        if (!options.json) process.stdout.write(linesOf(tried))
      }
    } finally {
      await stage[Symbol.asyncDispose]()
      for (const sentence of stage.left) note(shown(sentence))
    }
    const counts = countsOf(results)
    if (options.json) {
      process.stdout.write(
        `${JSON.stringify({ url: server, ...counts, left: stage.left, statements: results })}\n`,
      )
    } else {
      process.stdout.write(
        `\n${results.length} statements: ${counts.ok} ok, ${counts.different} different, ${counts.notTried} not tried.\n`,
      )
    }
    signal.throwIfAborted()
    return counts.different > 0 ? EXIT.failed : EXIT.ok
  })
}

interface ServerSession extends AsyncDisposable {
  readonly token: string
}

/** A token for the run. One that was issued for it is revoked at its end. */
async function openSession(
  url: string,
  { user: username, token: asksToken }: ConformanceOptions,
  signal: AbortSignal,
): Promise<ServerSession> {
  const lasting = (token: string) => ({ token, [Symbol.asyncDispose]: async () => {} })
  if (asksToken) return lasting(await readSecret('Token'))
  if (username === undefined) return lasting((await findLogin({ server: url })).token)
  const password = await readSecret('Password')
  // As a device of its own: otherwise the server may return a token that other programs use, and signing out would end theirs.
  const device = {
    id: randomBytes(20).toString('hex'),
    name: 'carrel conformance',
    version: programVersion(),
  }
  const token = await signIn({ url, username, password, device, userAgent: userAgent(), signal })
  const carrel = new Carrel({ url, token, userAgent: userAgent() })
  return {
    token,
    [Symbol.asyncDispose]: () =>
      carrel
        .signOut()
        .catch(({ message }: Error) => note(`The sign-in of this run was not revoked: ${shown(message)}`)),
  }
}

function bytesIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const bytes = Number(text)
  if (Number.isSafeInteger(bytes) && bytes > 0 && bytes <= MAX_TRIED_UPLOAD) return bytes
  throw new ClientError(`Give --max-upload in bytes, up to ${MAX_TRIED_UPLOAD}.`, EXIT.usage)
}

/** A larger limit is not tried, because the upload beyond it is in memory. */
const MAX_TRIED_UPLOAD = 500_000_000

function linesOf(tried: Tried): string {
  const line = `${tried.result.padEnd(9)}  ${tried.id}  ${tried.statement}\n`
  switch (tried.result) {
    case 'ok':
      return line
    case 'different':
      return `${line}           expected: ${shown(tried.expected)}\n           got:      ${shown(tried.got)}\n`
    case 'not tried':
      return `${line}           ${tried.reason}\n`
  }
}

function countsOf(results: readonly Tried[]) {
  const count = (result: Tried['result']) => results.filter((tried) => tried.result === result).length
  return { ok: count('ok'), different: count('different'), notTried: count('not tried') }
}

import os from 'node:os'
import {
  Carrel,
  CarrelError,
  offersSignInByCode,
  type SignInCode,
  signIn,
  signInByCode,
} from '../../sdk/src/index.ts'
import { programVersion } from '../../src/base/version.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { Credentials, type TokenStore } from './credentials.ts'
import { readLine, readSecret } from './secret-input.ts'
import { type CommonOptions, findLogin, reportFailure, runClient, serverUrl, userAgent } from './session.ts'
import { note, print } from './terminal.ts'

export interface LoginOptions extends CommonOptions {
  readonly user?: string
  /** Ask for a token instead of a password. */
  readonly token?: true
  /** Sign in by a code that is confirmed in a browser, also without a terminal. */
  readonly device?: true
  readonly otp?: string
  readonly store?: TokenStore
}

/** Signs in at a server. Secrets come from a prompt or from standard input, never from an argument. */
export function login(url: string, options: LoginOptions): Promise<number> {
  return reportFailure(options, async (signal) => {
    const server = serverUrl(url)
    const credentials = new Credentials(process.env)
    const token = await tokenFor(server, options, credentials, signal)
    if (token === '') throw usageError('Give a token that is not empty.')
    const carrel = new Carrel({ url: server, token, userAgent: userAgent() })
    const account = await accountOf(carrel)
    const store = await credentials.add({ url: server, account, token }, options.store)
    const where = store === 'os' ? 'the key store of the operating system' : 'a file that only you can read'
    print(options.json === true, { url: server, account, store }, [
      `Signed in at ${server} as ${account}. The token is in ${where}.`,
    ])
    return EXIT.ok
  })
}

async function tokenFor(
  url: string,
  options: LoginOptions,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<string> {
  if (options.token) return readSecret('Token')
  const isAsked = options.device === true
  const isOpen = options.user === undefined && options.otp === undefined
  if (!isAsked && isOpen && !process.stdin.isTTY) {
    throw usageError(
      'Name the account with --user, pass a token with --token, or sign in by a code with --device.',
    )
  }
  if (isAsked || isOpen) {
    const server = { url, userAgent: userAgent(), signal }
    if (await offersSignInByCode(server)) {
      return signInByCode({ ...server, clientId: 'carrel', deviceName: deviceName(), onCode: showCode })
    }
    if (isAsked)
      throw new ClientError('This server has no sign-in by a code: use --user or --token.', EXIT.usage)
  }
  return signInWithPassword(url, options, await credentials.deviceId(), signal)
}

/** The name of this machine, as long as a server accepts it. */
const deviceName = () => os.hostname().slice(0, 64)

function showCode({ code, url, urlWithCode, expiresInSeconds }: SignInCode): void {
  note(`Open ${url} in a browser and enter the code ${code}`)
  note(`or open ${urlWithCode}`)
  note(`The code is valid for ${Math.ceil(expiresInSeconds / 60)} minutes. Waiting …`)
}

async function signInWithPassword(
  url: string,
  options: LoginOptions,
  deviceId: string,
  signal: AbortSignal,
): Promise<string> {
  const username = options.user ?? (await readLine('E-mail'))
  const password = await readSecret('Password')
  const device = { id: deviceId, name: os.hostname(), version: programVersion() }
  const common = { url, username, password, device, userAgent: userAgent(), signal }
  try {
    return await signIn({ ...common, ...(options.otp && { otp: options.otp }) })
  } catch (error) {
    if (!(error instanceof CarrelError)) throw error
    if (error.kind === 'unauthorized') throw new ClientError(error.message, EXIT.signIn, { cause: error })
    if (error.kind !== 'otp-needed' || !process.stdin.isTTY) throw error
    return signIn({ ...common, otp: await readLine('One-time code') })
  }
}

/** A token of one library may not read its account. It is valid if it lists libraries. */
async function accountOf(carrel: Carrel): Promise<string> {
  try {
    return await carrel.account()
  } catch (error) {
    if (!(error instanceof CarrelError) || error.kind !== 'forbidden') throw error
    await carrel.libraries()
    return ''
  }
}

/** Revokes the token and forgets it. A token that is already invalid is only forgotten. */
export function logout(options: CommonOptions): Promise<number> {
  return reportFailure(options, async () => {
    const { url, token } = await findLogin(options)
    try {
      await new Carrel({ url, token, userAgent: userAgent() }).signOut()
    } catch (error) {
      const isOver =
        error instanceof CarrelError && (error.kind === 'unauthorized' || error.kind === 'forbidden')
      if (!isOver) throw error
    }
    await new Credentials(process.env).remove(url)
    print(options.json === true, { url }, [`Signed out at ${url}.`])
    return EXIT.ok
  })
}

/** Unlocks an encrypted library for this sign-in. */
export function unlock(library: string, options: CommonOptions): Promise<number> {
  return runClient(options, async ({ carrel, libraries }) => {
    const { id, name } = await libraries.get(library.replace(/:$/, ''))
    await carrel.unlock(id, await readSecret(`Password of ${name}`))
    print(options.json === true, { library: id }, [`Unlocked ${name} for an hour.`])
    return EXIT.ok
  })
}

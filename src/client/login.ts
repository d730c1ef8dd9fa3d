import os from 'node:os'
import { Carrel, CarrelError, signIn } from '../../sdk/src/index.ts'
import { programVersion } from '../version.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { Credentials, type TokenStore } from './credentials.ts'
import { readLine, readSecret } from './secret-input.ts'
import { type CommonOptions, findLogin, reportFailure, runClient, serverUrl, userAgent } from './session.ts'
import { print } from './terminal.ts'

export interface LoginOptions extends CommonOptions {
  readonly user?: string
  /** Ask for a token instead of a password. */
  readonly token?: true
  readonly otp?: string
  readonly store?: TokenStore
}

/** Signs in at a server. Secrets come from a prompt or from standard input, never from an argument. */
export function login(url: string, options: LoginOptions): Promise<number> {
  return reportFailure(options, async (signal) => {
    const server = serverUrl(url)
    const credentials = new Credentials(process.env)
    const token = options.token
      ? await readSecret('Token')
      : await signInWithPassword(server, options, await credentials.deviceId(), signal)
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

async function signInWithPassword(
  url: string,
  options: LoginOptions,
  deviceId: string,
  signal: AbortSignal,
): Promise<string> {
  if (options.user === undefined && !process.stdin.isTTY) {
    throw usageError('Name the account with --user, or pass a token with --token.')
  }
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

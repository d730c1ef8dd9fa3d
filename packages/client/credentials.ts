import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { parseOutsideJson } from '../../src/base/json.ts'
import { ClientError } from './client-error.ts'

/** Where tokens are stored: a file that only its owner can read, or the key store of the operating system. */
export type TokenStore = 'file' | 'os'

/** A sign-in at one server. */
interface Login {
  readonly url: string
  readonly account: string
  /** Undefined if it is in the key store of the operating system. */
  readonly token?: string
}

interface Stored {
  /** URL of the server that commands use unless told otherwise. */
  readonly current?: string
  /** 40 hexadecimal digits that distinguish this machine among the devices of an account. */
  readonly deviceId?: string
  readonly logins: readonly Login[]
}

/** The sign-ins of this user, in `client.json` of the configuration folder. */
export class Credentials {
  readonly #file: string

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#file = path.join(folderFor(environment), 'client.json')
  }

  /** The sign-in at a server, or the current one, with its token; undefined if there is none. */
  async find(url: string | undefined): Promise<(Login & { token: string }) | undefined> {
    const { current, logins } = await this.#read()
    const login = logins.find((one) => one.url === (url ?? current))
    if (login === undefined) return undefined
    const token = login.token ?? (await keyStore()?.find(login.url))
    return token === undefined ? undefined : { ...login, token }
  }

  async deviceId(): Promise<string> {
    const stored = await this.#read()
    if (stored.deviceId !== undefined) return stored.deviceId
    const deviceId = Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')
    await this.#write({ ...stored, deviceId })
    return deviceId
  }

  /** Stores a sign-in and makes it the current one. Resolves to where its token is. */
  async add(login: Login & { token: string }, wanted: TokenStore | undefined): Promise<TokenStore> {
    const stored = await this.#read()
    const { url, account, token } = login
    const isInKeyStore = wanted !== 'file' && (await keyStore()?.add(url, account, token)) === true
    if (wanted === 'os' && !isInKeyStore) {
      throw new ClientError('There is no key store of the operating system here: use --store file.')
    }
    const others = stored.logins.filter((one) => one.url !== url)
    const added = isInKeyStore ? { url, account } : login
    await this.#write({ ...stored, current: url, logins: [...others, added] })
    return isInKeyStore ? 'os' : 'file'
  }

  async remove(url: string): Promise<void> {
    const stored = await this.#read()
    const logins = stored.logins.filter((one) => one.url !== url)
    const { current: _current, ...rest } = stored
    await this.#write({ ...rest, logins, ...(logins[0] && { current: logins[0].url }) })
    await keyStore()?.remove(url)
  }

  async #read(): Promise<Stored> {
    try {
      const found = parseOutsideJson(await readFile(this.#file, 'utf8')) as Partial<Stored>
      return { ...found, logins: Array.isArray(found.logins) ? found.logins : [] }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { logins: [] }
      throw new ClientError(`${this.#file} cannot be read: remove it and sign in again.`, 1, { cause: error })
    }
  }

  /** Written aside and renamed, so that the file is never half written nor readable by others. */
  async #write(stored: Stored): Promise<void> {
    const folder = path.dirname(this.#file)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const aside = `${this.#file}.${process.pid}.tmp`
    await rm(aside, { force: true })
    try {
      await using handle = await open(aside, 'wx', 0o600)
      await handle.writeFile(`${JSON.stringify(stored, null, 2)}\n`)
      await handle.sync()
    } catch (error) {
      await rm(aside, { force: true })
      throw error
    }
    await rename(aside, this.#file)
  }
}

function folderFor(environment: Readonly<Record<string, string | undefined>>): string {
  const { CARREL_CLIENT_FOLDER: own, XDG_CONFIG_HOME: config, APPDATA: roaming } = environment
  if (own) return own
  if (config) return path.join(config, 'carrel')
  if (process.platform === 'win32' && roaming) return path.join(roaming, 'carrel')
  return path.join(os.homedir(), '.config', 'carrel')
}

interface KeyStore {
  /** False if the store is not available, for example without a desktop session. */
  add(url: string, account: string, token: string): Promise<boolean>
  find(url: string): Promise<string | undefined>
  remove(url: string): Promise<void>
}

/** Secrets are passed by standard input: other users can read the arguments of a process. */
function keyStore(): KeyStore | undefined {
  if (process.platform === 'linux') {
    const names = (url: string) => ['service', 'carrel', 'url', url]
    return {
      add: async (url, _account, token) =>
        (await run('secret-tool', ['store', '--label', `Carrel at ${url}`, ...names(url)], token)).ok,
      find: async (url) => outputOf(await run('secret-tool', ['lookup', ...names(url)])),
      remove: async (url) => void (await run('secret-tool', ['clear', ...names(url)])),
    }
  }
  if (process.platform === 'darwin') {
    return {
      // Interactive mode, because it reads its commands from standard input.
      add: async (url, account, token) =>
        (
          await run(
            'security',
            ['-i'],
            `add-generic-password -U -s "carrel ${url}" -a "${account}" -w "${token}"\n`,
          )
        ).ok,
      find: async (url) =>
        outputOf(await run('security', ['find-generic-password', '-s', `carrel ${url}`, '-w'])),
      remove: async (url) => void (await run('security', ['delete-generic-password', '-s', `carrel ${url}`])),
    }
  }
  return undefined
}

function outputOf({ ok, output }: { ok: boolean; output: string }): string | undefined {
  const token = output.replace(/\n$/, '')
  return ok && token !== '' ? token : undefined
}

/** A program that is missing or hangs counts as failed. */
async function run(
  program: string,
  args: readonly string[],
  input = '',
): Promise<{ ok: boolean; output: string }> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 20_000 })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  try {
    const [output, [code]] = await Promise.all([
      text(child.stdout),
      once(child, 'close') as Promise<[number | null]>,
    ])
    return { ok: code === 0, output }
  } catch {
    return { ok: false, output: '' }
  }
}

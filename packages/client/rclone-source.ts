import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ClientError, EXIT } from './client-error.ts'
import { WebdavSource } from './webdav-source.ts'

const START_SECONDS = 60
const LOOK_MS = 100
const MAX_MESSAGE = 1000

/**
 * A remote of rclone, which knows some seventy kinds of storage. rclone serves it over WebDAV to this process only: on the loopback interface, with a random
 * password that is not among its arguments.
 */
export async function openRclone(
  remote: string,
  signal: AbortSignal,
): Promise<AsyncDisposable & { readonly source: WebdavSource }> {
  const port = await freePort()
  const login = { user: 'carrel', password: randomBytes(24).toString('base64url') }
  const url = new URL(`http://127.0.0.1:${port}/`)
  const args = ['serve', 'webdav', remote, '--addr', url.host, '--read-only', '--log-level', 'ERROR']
  const child = spawn('rclone', args, {
    env: { ...process.env, RCLONE_USER: login.user, RCLONE_PASS: login.password },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_MESSAGE)
  })
  const ended = once(child, 'close').then(
    () => (said.trim() === '' ? 'it has ended' : said.trim()),
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'it is not installed' : error.message),
  )
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    await untilReady(url, ended, signal)
  } catch (error) {
    await stop()
    throw error
  }
  const source = new WebdavSource({ url, login, signal })
  return {
    source,
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]()
      await stop()
    },
  }
}

/** Resolves when the port answers. Throws ClientError if rclone ends before. */
async function untilReady(url: URL, ended: Promise<string>, signal: AbortSignal): Promise<void> {
  let failure: string | undefined
  void (async () => {
    failure = await ended
  })()
  for (let looks = 0; looks < (START_SECONDS * 1000) / LOOK_MS; looks += 1) {
    signal.throwIfAborted()
    const response = await fetch(url, { method: 'OPTIONS', signal }).catch(() => undefined)
    await response?.body?.cancel()
    if (failure !== undefined) throw new ClientError(`rclone cannot be used: ${failure}.`)
    if (response !== undefined) return
    await setTimeout(LOOK_MS, undefined, { signal })
  }
  throw new ClientError('rclone does not answer.', EXIT.unreachable)
}

/** rclone of Debian does not say which port it chose, so one is chosen for it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

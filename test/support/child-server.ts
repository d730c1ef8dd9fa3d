import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { environment, program } from './command.ts'
import { observeExchanges } from './exchanges.ts'
import { plainSettings } from './plain-settings.ts'
import { ADMIN } from './server.ts'

/** A server in a child process, which can be killed. */
export interface ChildServer extends AsyncDisposable {
  readonly url: string
  readonly process: ChildProcess
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

export interface ChildServerOptions {
  /** Mounts a tmpfs of this size as the data folder, visible to this server only. */
  readonly diskMegabytes?: number
  /** Limit of open descriptors. */
  readonly openFiles?: number
  /** What to start, by default the program of these sources. */
  readonly from?: readonly string[]
}

/** Starts `carrel serve` on a free port over a data folder. */
export async function spawnServer(
  data: string,
  env: Record<string, string> = {},
  { diskMegabytes, openFiles, from = program }: ChildServerOptions = {},
): Promise<ChildServer> {
  const around = [
    ...(diskMegabytes === undefined ? [] : withDisk(data, diskMegabytes)),
    ...(openFiles === undefined
      ? []
      : ['sh', '-c', 'ulimit -n "$1" && shift && exec "$@"', 'sh', String(openFiles)]),
  ]
  const [command, ...parts] = [...around, process.execPath, ...from, 'serve']
  const child = spawn(command, parts, {
    env: {
      ...environment,
      PATH: process.env['PATH'] ?? '',
      CARREL_TEST_POISON: process.env['CARREL_TEST_POISON'] ?? '',
      CARREL_DATA: data,
      CARREL_PORT: '0',
      CARREL_RATE_LIMIT: 'off',
      CARREL_UNSAFE_STORAGE: 'allow',
      CARREL_LOG: 'error',
      CARREL_TEST_RESERVE_MB: '0',
      CARREL_TEST_FREEZE_ROWS: process.env['CARREL_TEST_FREEZE_ROWS'] ?? '',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      ...plainSettings(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  // The server must not outlive a test that crashes or is stopped.
  const onExit = () => child.kill('SIGKILL')
  if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143))
  process.once('exit', onExit)
  void exited.then(() => process.off('exit', onExit))
  const url = await readyUrl(child)
  observeExchanges(url)
  // Leaving the loop over the lines paused the stream. A full pipe would block the child.
  child.stdout.resume()
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const [code] = (await exited) as [number | null]
    return code
  }
  return {
    url,
    process: child,
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL')
    },
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}

/** Whether this machine permits mounting a tmpfs. */
export function canHaveDisk(folder: string): boolean {
  const [program, ...parts] = [...withDisk(folder, 1), 'true']
  return spawnSync(program, parts).status === 0
}

/** A command prefix that mounts a tmpfs at a folder in a mount namespace of its own. The process id stays the same. */
function withDisk(folder: string, megabytes: number): [string, ...string[]] {
  const options = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount']
  const script = 'mount -t tmpfs -o "size=$1m" carrel "$2" && shift 2 && exec "$@"'
  return ['unshare', ...options, 'sh', '-c', script, 'sh', String(megabytes), folder]
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: child.stdout })) {
    const entry: unknown = line.startsWith('{') ? JSON.parse(line) : undefined
    if (typeof entry === 'object' && entry !== null && 'url' in entry && typeof entry.url === 'string') {
      return entry.url
    }
  }
  throw new Error('the server ended before it was ready')
}

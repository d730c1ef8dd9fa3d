import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { ADMIN } from './server.ts'

// As bin/hand-over.cjs starts it.
const PROGRAM = ['--max-semi-space-size=16', path.join(import.meta.dirname, '../../src/main.mjs')]

/** A server in a process of its own, so that it can be killed like one. */
export interface ChildServer extends AsyncDisposable {
  readonly url: string
  readonly process: ChildProcess
  /** As a power cut would, as far as the process is concerned. */
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

/** Starts `carrel serve` on a free port over a data folder. */
export async function spawnServer(data: string, env: Record<string, string> = {}): Promise<ChildServer> {
  const child = spawn(process.execPath, [...PROGRAM, 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      CARREL_DATA: data,
      CARREL_PORT: '0',
      CARREL_RATE_LIMIT: 'off',
      CARREL_LOG: 'error',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  // A test that dies must not leave its server behind.
  const onExit = () => child.kill('SIGKILL')
  process.once('exit', onExit)
  void exited.then(() => process.off('exit', onExit))
  const url = await readyUrl(child)
  // Leaving the loop over its lines paused the stream; a child nobody listens to would fill the pipe.
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

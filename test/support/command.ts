import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

/** Arguments and variables with which the launcher starts Node. */
export const { program, environment } = createRequire(import.meta.url)('../../bin/hand-over.cjs') as {
  program: readonly string[]
  environment: Readonly<Record<string, string>>
}

/** Exit code and output of a command. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  /** Additional environment variables. */
  readonly env?: Record<string, string>
  /** Standard input; empty by default. */
  readonly input?: string
}

/** Runs a `carrel` command to its end. */
export async function carrel(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const child = start(args, options)
  child.stdin.end(options.input ?? '')
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, stdout, stderr }
}

/** A running `carrel serve`. Disposal kills it. */
export interface Serving extends AsyncDisposable {
  readonly child: ChildProcess
  readonly url: string
  /** Log entries up to the one that says it is ready. */
  readonly lines: readonly Record<string, unknown>[]
  /** Sends the signal and resolves to the exit status. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Starts `carrel serve` on a free port and resolves once it has logged its address. */
export async function serve(args: readonly string[], options: CommandOptions = {}): Promise<Serving> {
  const child = start(['serve', '--port', '0', ...args], options)
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const lines: Record<string, unknown>[] = []
  const errors = text(child.stderr)
  for await (const line of createInterface({ input: child.stdout })) {
    const fields = JSON.parse(line) as Record<string, unknown>
    lines.push(fields)
    if (typeof fields['url'] === 'string') break
  }
  const url = lines.at(-1)?.['url']
  if (typeof url !== 'string') throw new Error(`carrel serve ended before it was ready: ${await errors}`)
  child.stdout.resume()
  return {
    child,
    url,
    lines,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, by] = await ended
      return { code, signal: by }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts a `carrel` command. */
export function start(args: readonly string[], { env = {} }: CommandOptions = {}) {
  // The settings of the test run are not inherited.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CARREL_') || name === 'CARREL_TEST_FREEZE_ROWS',
  )
  return spawn(process.execPath, [...program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // The PostgreSQL of the test run does not flush.
    env: { ...environment, ...Object.fromEntries(inherited), CARREL_UNSAFE_STORAGE: 'allow', ...env },
  })
}

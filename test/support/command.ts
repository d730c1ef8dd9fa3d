import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { ServerBundle } from '../../bin/test-bundle.ts'
import type { CommandMessage, CommandRequest } from './command-host.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const SOURCE = path.join(ROOT, 'src/programs/cli/run.ts')

const launcher = createRequire(import.meta.url)('../../bin/hand-over.cjs') as {
  program: readonly string[]
  environment: Readonly<Record<string, string>>
}

/** Variables with which the launcher starts Node. */
export const { environment } = launcher

/** Arguments with which the launcher starts Node: what users run, from the sources. */
export const sourceProgram = launcher.program

/** The bundle of the sources that the test run made. Not used in a copy of the sources, which a test has changed. */
const bundled = bundleOf(process.env['CARREL_TEST_BUNDLE'])

/** As `sourceProgram`, from the bundle of the test run if there is one, which starts in half the time. */
export const program = bundled === undefined ? sourceProgram : [...sourceProgram.slice(0, -1), bundled.main]

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
  /** What to start, by default `program`. */
  readonly from?: readonly string[]
}

/**
 * Runs a `carrel` command to its end, in a process that has run others before: starting one takes most of the time of a command.
 * Commands that read input, or with variables that only take effect at the start of a process, have a process of their own.
 */
export async function carrel(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const needsProcess = options.input !== undefined || options.env?.['LD_PRELOAD'] !== undefined
  return needsProcess ? carrelProcess(args, options) : hosts.run(args, environmentFor(options))
}

/** Runs a `carrel` command to its end in a process of its own. */
export async function carrelProcess(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
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
export function start(args: readonly string[], options: CommandOptions = {}) {
  return spawn(process.execPath, [...(options.from ?? program), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environmentFor(options),
  })
}

function environmentFor({ env = {} }: CommandOptions): Record<string, string> {
  // The settings of the test run are not inherited.
  const inherited = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && (!name.startsWith('CARREL_') || name === 'CARREL_TEST_FREEZE_ROWS'),
  )
  // The PostgreSQL of the test run does not flush.
  return { ...environment, ...Object.fromEntries(inherited), CARREL_UNSAFE_STORAGE: 'allow', ...env }
}

/** Processes that run commands, as many as commands run at once. They end with this process, which does not count their CPU time. */
class CommandHosts {
  readonly #idle: ChildProcess[] = []

  async run(args: readonly string[], env: Record<string, string>): Promise<Outcome> {
    const host = this.#idle.pop() ?? this.#spawn()
    host.ref()
    host.channel?.ref()
    const output = { stdout: '', stderr: '' }
    const { promise, resolve } = Promise.withResolvers<number | null>()
    const onMessage = (message: CommandMessage) => {
      if ('code' in message) resolve(message.code)
      else output[message.stream] += message.text
    }
    host.on('message', onMessage).once('exit', resolve)
    host.send({ args, env } satisfies CommandRequest)
    const code = await promise
    host.off('message', onMessage).off('exit', resolve)
    if (host.connected) {
      host.unref()
      host.channel?.unref()
      this.#idle.push(host)
    }
    return { code, ...output }
  }

  #spawn(): ChildProcess {
    const flags = program.slice(0, -1)
    const host = path.join(import.meta.dirname, 'command-host.ts')
    return spawn(process.execPath, [...flags, host, bundled?.run ?? SOURCE], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: environmentFor({}),
    })
  }
}

const hosts = new CommandHosts()

function bundleOf(setting: string | undefined): ServerBundle | undefined {
  if (setting === undefined) return undefined
  const bundle = JSON.parse(setting) as ServerBundle
  return bundle.main.startsWith(path.join(ROOT, path.sep)) ? bundle : undefined
}

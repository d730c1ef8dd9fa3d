import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { pathToFileURL } from 'node:url'
import type { run as runCarrel } from '../../src/programs/cli/run.ts'

// A process that runs `carrel` commands one after another, so that they load their modules once: see command.ts. Its argument is the
// file that exports them, the source or a bundle. Between two commands everything is restored that a command leaves to the end of its
// process: variables and signal handlers.

/** A command to run. */
export interface CommandRequest {
  readonly args: readonly string[]
  /** All environment variables. */
  readonly env: Readonly<Record<string, string>>
}

export type CommandMessage =
  | { readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly code: number }

// A long command gives way to everything else on the machine. Beside other tests it would stand still for minutes.
os.setPriority = () => undefined
syncBuiltinESMExports()

const [, , file = ''] = process.argv
const { run } = (await import(pathToFileURL(file).href)) as { run: typeof runCarrel }

process.on('disconnect', () => process.exit())
process.on('message', ({ args, env }: CommandRequest) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  void runCommand(args)
})

async function runCommand(args: readonly string[]): Promise<void> {
  const code = await run(args)
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
  process.stdout.removeAllListeners('error')
  send({ code })
}

for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    send({ stream, text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() })
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
}

function send(message: CommandMessage): void {
  process.send?.(message)
}

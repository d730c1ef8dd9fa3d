import { CommanderError } from 'commander'
import { CommandError } from './command-error.ts'
import { createProgram } from './program.ts'

/** Runs one command and resolves to its exit code: 0 done, 1 failed, 2 not written as it must be. */
export async function run(args: readonly string[]): Promise<number> {
  // A reader of our output who goes away is no failure of ours.
  process.stdout.on('error', () => {})
  const outcome = { exitCode: 0 }
  try {
    await createProgram((exitCode) => {
      outcome.exitCode = exitCode
    }).parseAsync(args, { from: 'user' })
    return outcome.exitCode
  } catch (error) {
    // Commander has said already what is wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    await report(error, args.includes('--json'))
    return error instanceof CommandError ? error.exitCode : 1
  }
}

// The rooms that errors come from are imported only now, as commands import theirs: help and
// mistakes in typing are answered at once.
async function report(error: unknown, json: boolean): Promise<void> {
  const { sentenceFor } = await import('./failure.ts')
  const sentence = sentenceFor(error)
  const stack = error instanceof Error ? error.stack : String(error)
  const text = sentence ?? `Carrel stopped because of an error nobody expected; please report it.\n${stack}`
  process.stderr.write(`${text}\n`)
  if (json) process.stdout.write(`${JSON.stringify({ error: sentence ?? String(error) })}\n`)
}

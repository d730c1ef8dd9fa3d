import { CommanderError } from 'commander'
import { createProgram } from './program.ts'

/** Runs one command and resolves to its exit code: 0 success, 1 failure, 2 usage error, 3 data folder in use. Some commands have others. */
export async function run(args: readonly string[]): Promise<number> {
  // A closed output pipe is not an error.
  process.stdout.on('error', () => {})
  const outcome = { exitCode: 0 }
  try {
    await createProgram((exitCode) => {
      outcome.exitCode = exitCode
    }).parseAsync(args, { from: 'user' })
    return outcome.exitCode
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return report(error, args.includes('--json'))
  }
}

// Imported on demand, as are the commands, so that help and usage errors are fast.
async function report(error: unknown, json: boolean): Promise<number> {
  const { exitCodeFor, sentenceFor, textFor } = await import('./failure.ts')
  const sentence = sentenceFor(error)
  process.stderr.write(`${textFor(error)}\n`)
  if (json) process.stdout.write(`${JSON.stringify({ error: sentence ?? String(error) })}\n`)
  return exitCodeFor(error)
}

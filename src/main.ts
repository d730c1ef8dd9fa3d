import module from 'node:module'
import path from 'node:path'
import { nodeProblem } from './cli/node-version.ts'

// Everything else is imported after the check: an older Node could not even read it.
const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  // Code compiled at an earlier start is taken from here: the start takes half the time and memory. Where
  // the folder cannot be written, nothing is kept and nothing is lost.
  module.enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/carrel'))
  const { run } = await import('./cli/run.ts')
  const code = await run(process.argv.slice(2))
  // What was printed goes out first; a forgotten timer must not keep a command from ending.
  process.stdout.write('', () => process.exit(code))
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

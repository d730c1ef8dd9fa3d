import module from 'node:module'
import path from 'node:path'
import nodeFlags from '../bin/node-flags.cjs'

// Started by its own name, it starts again as the launcher would, in this same process where that can be.
if (!nodeFlags.every((flag) => process.execArgv.includes(flag))) {
  const { handOver, program } = await import('../bin/hand-over.cjs')
  handOver([...process.execArgv, ...program, ...process.argv.slice(2)])
  // Where it is another process, that one does the work, and this one ends with it.
  await new Promise(() => {})
}

// JavaScript, and the only file that is: what makes JavaScript of TypeScript takes 17 MB, and is not loaded as
// long as all our files were compiled at an earlier start. Where the folder cannot be written, nothing is kept and
// nothing is lost. An older Node knows no such cache.
const cache = path.join(import.meta.dirname, '../node_modules/.cache/carrel')
module.enableCompileCache?.(cache)
// Threads know of the cache by this alone.
process.env.NODE_COMPILE_CACHE ??= cache

// Everything else is imported after the check: an older Node could not even read it.
const { nodeProblem } = await import('./cli/node-version.ts')
const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  const { run } = await import('./cli/run.ts')
  const code = await run(process.argv.slice(2))
  // What was printed goes out first; a forgotten timer must not keep a command from ending.
  process.stdout.write('', () => process.exit(code))
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

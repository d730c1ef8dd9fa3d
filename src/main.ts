import { nodeProblem } from './cli/node-version.ts'

// Everything else is imported after the check: an older Node could not even read it.
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

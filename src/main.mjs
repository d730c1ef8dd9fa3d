import module from 'node:module'
import path from 'node:path'
import { environment, handOver, hasSecrets, ownArguments, program } from '../bin/hand-over.cjs'
import nodeFlags from '../bin/node-flags.cjs'

const args = ownArguments()
// Started without the launcher, or with secrets as arguments: run again with the launcher's flags and variables, by exec in this process where possible.
const hasFlags = nodeFlags.every((flag) => process.execArgv.includes(flag))
const isBare = !hasFlags || Object.keys(environment).some((name) => process.env[name] === undefined)
if (isBare || hasSecrets(process.argv.slice(2))) {
  handOver([...process.execArgv, ...program, ...args])
  // Without exec a child process does the work, and this one exits with it.
  await new Promise(() => {})
}

// The only JavaScript file. The TypeScript compiler takes 17 MB and is not loaded while the compile cache has all other files.
// If the folder is not writable, there is no cache. Older versions of Node have none either.
const cache = path.join(import.meta.dirname, '../node_modules/.cache/carrel')
module.enableCompileCache?.(cache)
// Worker threads find the cache only through the environment.
process.env.NODE_COMPILE_CACHE ??= cache

// Everything else is imported after the check, because an older Node could not parse it.
const { nodeProblem } = await import('./programs/cli/node-version.ts')
const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  const { run } = await import('./programs/cli/run.ts')
  const code = await run(args)
  // Exit after the output is flushed. An explicit exit, so that a leftover timer does not keep the process alive.
  process.stdout.write('', () => process.exit(code))
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

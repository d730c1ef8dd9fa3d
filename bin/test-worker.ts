import './test-scopes.ts'
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

// A process that runs test files one after another, so that they share the modules they load. Each file is a suite: its top-level
// hooks apply to its own tests only. The reporter `test-events.mjs` sends the results to the runner.

/** Longer than an orderly exit takes. */
const WATCH_MS = 3000

const [, , ...files] = process.argv
// A static import would load it before `test-scopes.ts`.
const { describe } = await import('node:test')

// The runner may be killed. Its processes must not outlive it.
process.on('disconnect', () => process.exit(1))
process.channel?.unref()
// A test that blocks the event loop never sees that. A thread does.
const isOrphan = `process.ppid !== ${process.ppid}`
const watch = `setInterval(() => { if (${isOrphan}) process.kill(process.pid, 'SIGKILL') }, ${WATCH_MS})`
new Worker(watch, { eval: true }).unref()

// node:test ends the run when the event loop is empty, which it may be between two files.
const keepAlive = setInterval(() => {}, 60_000)
for (const file of files) {
  const [startedAt, cpuBefore] = [performance.now(), cpuSeconds()]
  await describe(file, async () => {
    await import(pathToFileURL(file).href)
  })
  const seconds = (performance.now() - startedAt) / 1000
  process.send?.({ type: 'file', name: file, seconds, cpuSeconds: cpuSeconds() - cpuBefore })
}
clearInterval(keepAlive)
// Otherwise the process writes what it has compiled while it exits, after its last test: 6 to 10 s for each of four processes on two cores without a cache.
flushCompileCache()

/** Of this process and of its children that have ended. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + secondsOfChildren()
}

/** `cutime` and `cstime`, in 1/100 s. */
function secondsOfChildren(): number {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) / 100
}

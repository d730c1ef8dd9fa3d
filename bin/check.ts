import { spawn } from 'node:child_process'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')

const checks = [
  { name: 'format', command: ['@biomejs/biome/bin/biome', 'ci', '--colors=off', '.'] },
  { name: 'lint', command: ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.'] },
  { name: 'types', command: ['typescript/bin/tsc', '-p', '.'] },
  { name: 'types of the web app', command: ['typescript/bin/tsc', '-p', 'web'] },
  { name: 'types of the web unit tests', command: ['typescript/bin/tsc', '-p', 'test/web/unit'] },
]

/** Runs all format, lint and type checks. Resolves to the names of those that failed. */
export async function runChecks(signal?: AbortSignal): Promise<string[]> {
  const failed: string[] = []
  for (const { name, command } of checks) {
    if (signal?.aborted) return [...failed, `${name}, not started`]
    const [script = '', ...args] = command
    const startedAt = performance.now()
    const { code, output } = await outputOf([path.join(root, 'node_modules', script), ...args], signal)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`check ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)`)
    if (code === 0) continue
    console.log(output)
    failed.push(name)
  }
  return failed
}

function outputOf(args: string[], signal?: AbortSignal): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], signal })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', (error) => resolve({ code: null, output: String(error) }))
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }))
  })
}

if (import.meta.main) {
  const failed = await runChecks()
  process.exitCode = failed.length === 0 ? 0 : 1
}

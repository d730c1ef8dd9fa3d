import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Tier } from './test-plan.ts'

const root = path.join(import.meta.dirname, '..')

/** Writes the files that are not in git, among them types that the sources are checked with. */
export async function writeBuiltFiles(signal?: AbortSignal): Promise<void> {
  const { code, output } = await outputOf(
    ['--no-warnings', path.join(root, 'bin/generate.ts'), '--built'],
    signal,
  )
  if (code !== 0) throw new Error(`The files that are built could not be written: ${output}`)
}

/** The lint rules that need types take as much CPU time as a tenth of the fast tier, so `npm test` leaves them to the deep tier. */
const checks: readonly { name: string; tier: Tier; command: readonly string[] }[] = [
  { name: 'format', tier: 'fast', command: ['@biomejs/biome/bin/biome', 'ci', '--colors=off', '.'] },
  { name: 'lint', tier: 'deep', command: ['oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.'] },
  { name: 'types', tier: 'fast', command: ['typescript/bin/tsc', '-p', '.'] },
  { name: 'types of the web app', tier: 'fast', command: ['typescript/bin/tsc', '-p', 'web'] },
  {
    name: 'types of the web unit tests',
    tier: 'fast',
    command: ['typescript/bin/tsc', '-p', 'test/web/unit'],
  },
]

/** Runs the format, lint and type checks of some tiers. Resolves to the names of those that failed. */
export async function runChecks(tiers: readonly Tier[], signal?: AbortSignal): Promise<string[]> {
  const failed: string[] = []
  for (const { name, command } of checks.filter(({ tier }) => tiers.includes(tier))) {
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
  await writeBuiltFiles()
  const failed = await runChecks(['fast', 'deep'])
  process.exitCode = failed.length === 0 ? 0 : 1
}

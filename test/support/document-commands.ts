import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const ROOT = path.join(import.meta.dirname, '../..')

/** A code block of a document. */
export interface CodeBlock {
  /** Behind the fence, such as `sh run`. Empty without one. */
  readonly mark: string
  readonly code: string
}

/** All code blocks of a document. */
export function codeBlocks(page: string): CodeBlock[] {
  const source = readFileSync(path.join(ROOT, page), 'utf8')
  return [...source.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, mark = '', code = '']) => ({
    mark,
    code,
  }))
}

/** The contents of the code blocks of a document with this mark. */
export function markedBlocks(page: string, mark: string): string[] {
  return codeBlocks(page)
    .filter((block) => block.mark === mark)
    .map(({ code }) => code)
}

/** Where commands run. */
interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { ...surroundings, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, output: stdout + stderr }
}

/** Runs commands in a shell, which stops at the first that fails. */
export function runScript(script: string, surroundings: Surroundings) {
  return runProgram('bash', ['-euo', 'pipefail', '-c', script], surroundings)
}

/** A server that commands started. Disposal stops it and waits until all its processes have ended. */
interface StartedServer extends AsyncDisposable {
  readonly url: string
}

/** Runs commands of which the last one is a server, on a free port. Resolves once it is ready. */
export async function startByScript(script: string, { cwd, env }: Surroundings): Promise<StartedServer> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: { ...env, CARREL_PORT: '0', CARREL_UNSAFE_STORAGE: 'allow' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: npm and shells pass signals on in different ways.
    detached: true,
  })
  const closed = once(child, 'close')
  const errors = text(child.stderr)
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"(https?:[^"]+)"/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return {
      url,
      async [Symbol.asyncDispose]() {
        stopGroup(child)
        await closed
      },
    }
  }
  throw new Error(`The server ended before it was ready: ${await errors}`)
}

function stopGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGTERM')
}

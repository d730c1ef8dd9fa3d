import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { ExportError } from './export-report.ts'

const MAX_MESSAGE = 2000

// By default git refuses names that only Windows treats as special, such as one with a backslash.
const FLAGS = ['-c', 'core.protectNTFS=false', '-c', 'core.protectHFS=false', '-c', 'core.quotePath=false']

/** Runs one git command to its end. Throws ExportError. */
export async function git(gitDir: string, args: readonly string[], workTree?: string): Promise<string> {
  const tree = workTree === undefined ? [] : [`--work-tree=${workTree}`]
  try {
    const options = { env: environment(), maxBuffer: 2 ** 24 }
    const all = [...FLAGS, `--git-dir=${gitDir}`, ...tree, ...args]
    return (await promisify(execFile)('git', all, options)).stdout
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    throw failed(code, stderr, error)
  }
}

/**
 * The environment without the settings of the user and the machine, because hooks, templates and filters must not change the export, and without
 * variables that name another repository.
 */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(inherited),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  }
}

function failed(code: unknown, stderr: string, cause?: unknown): ExportError {
  if (code === 'ENOENT') {
    return new ExportError('git is not installed: install it, or export without --history.', { cause })
  }
  const said = stderr.trim().slice(-MAX_MESSAGE)
  return new ExportError(`git failed: ${said || `exit code ${String(code)}`}`, { cause })
}

/** A running `git fast-import`, to which commands are written with backpressure. */
export class FastImport {
  readonly #child: ChildProcessByStdio<Writable, null, Readable>
  /** Rejects if git fails. */
  readonly #ended: Promise<void>

  constructor(gitDir: string) {
    // Blobs above 16 MiB are streamed into the pack instead of being held in memory.
    const args = ['fast-import', '--quiet', '--done', '--date-format=raw', '--big-file-threshold=16m']
    this.#child = spawn('git', [...FLAGS, `--git-dir=${gitDir}`, ...args], {
      env: environment(),
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    let stderr = ''
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_MESSAGE)
    })
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', (error: NodeJS.ErrnoException) => reject(failed(error.code, stderr, error)))
      this.#child.once('close', (code) => (code === 0 ? resolve() : reject(failed(code, stderr))))
    })
    this.#ended.catch(() => {}) // It is thrown where it is awaited.
    this.#child.stdin.on('error', () => {}) // git has ended, and says why.
  }

  /** Throws ExportError if git has failed. */
  async write(data: string | Uint8Array): Promise<void> {
    const { stdin } = this.#child
    if (stdin.write(data)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    stdin.once('drain', resolve)
    try {
      await Promise.race([promise, this.#ended.then(tooEarly)])
    } finally {
      stdin.off('drain', resolve)
    }
  }

  /** Resolves when everything is in the repository. */
  async finish(): Promise<void> {
    this.#child.stdin.end('done\n')
    await this.#ended
  }

  /** Ends git without completing the repository. */
  async abort(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended.catch(() => {})
  }
}

function tooEarly(): never {
  throw new ExportError('git ended before the history was complete: try again.')
}

/** A path in the quoted form of fast-import, in which every byte can be written. */
export function quotedPath(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replace(/[\u0000-\u001f\u007f]/g, octal)
  return `"${escaped}"`
}

const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`

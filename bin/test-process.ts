import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Readable } from 'node:stream'

/** How long a process may take to end after its last test, and after SIGTERM. */
const EXIT_GRACE_MS = 20_000
const KILL_GRACE_MS = 5000
const MAX_OUTPUT_CHARACTERS = 200_000

/** The result of a test or a suite. */
export interface TestResult {
  readonly type: 'result'
  readonly ok: boolean
  readonly name: string
  /** 0 for a file, which is a suite of its own. */
  readonly nesting: number
  readonly kind: 'test' | 'suite' | undefined
  readonly ms: number
  /** True or a reason for tests that are skipped or to be done. */
  readonly skipped: string | boolean | undefined
  /** Undefined for a suite that failed because one of its tests did. */
  readonly error: string | undefined
}

/** What a file of tests took, from loading it on. */
export interface FileReport {
  readonly name: string
  readonly seconds: number
  /** Of the process and its children that have ended. */
  readonly cpuSeconds: number
}

type Message =
  | TestResult
  | { readonly type: 'start'; readonly name: string; readonly nesting: number }
  | { readonly type: 'stop'; readonly nesting: number }
  | { readonly type: 'note'; readonly text: string }
  | ({ readonly type: 'file' } & FileReport)
  | { readonly type: 'end' }

export interface ProcessReport {
  readonly results: readonly TestResult[]
  readonly files: readonly FileReport[]
  /** Diagnostics and whatever the process printed. */
  readonly output: string
  /** Why the process itself failed, and what it was doing then. */
  readonly failure: string | undefined
}

export interface ProcessOptions {
  readonly files: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** For each file. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/**
 * Runs test files in a process group of their own, and always ends: if a file takes longer than the deadline, the group is sent
 * SIGTERM, then SIGKILL. That is a failure like any other.
 */
export function runTestProcess({ files, env, deadlineMs, signal }: ProcessOptions): Promise<ProcessReport> {
  const { promise, resolve } = Promise.withResolvers<ProcessReport>()
  const [worker, reporter] = ['test-worker.ts', 'test-events.mjs'].map((name) =>
    path.join(import.meta.dirname, name),
  )
  const child = spawn(process.execPath, [`--test-reporter=${reporter}`, worker ?? '', ...files], {
    // Without the variable that `node --test` sets, which would make the child a part of that run.
    env: { ...env, NODE_TEST_CONTEXT: undefined },
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const results: TestResult[] = []
  const reports: FileReport[] = []
  const output = new Output()
  const running: string[] = []
  let hasEnded = false
  let failure: string | undefined

  const stop = (reason: string) => {
    failure ??= running.length > 0 ? `${reason}, in: ${running.join(' > ')}` : reason
    signalGroup(child.pid, 'SIGTERM')
    setTimeout(() => {
      signalGroup(child.pid, 'SIGKILL')
      settle()
    }, KILL_GRACE_MS)
  }
  const onDeadline = () => stop(`did not end within ${deadlineMs / 1000} s`)
  let deadline = setTimeout(onDeadline, deadlineMs)
  const onAbort = () => stop(String(signal.reason))
  signal.addEventListener('abort', onAbort)
  let exitDeadline: NodeJS.Timeout | undefined

  child.on('message', (message: Message) => {
    if (message.type === 'start') running.splice(message.nesting, Infinity, message.name)
    if (message.type === 'file') {
      reports.push(message)
      clearTimeout(deadline)
      deadline = setTimeout(onDeadline, deadlineMs)
    }
    if (message.type === 'note') output.add(`${message.text}\n`)
    if (message.type === 'stop') running.splice(message.nesting)
    if (message.type === 'result') results.push(message)
    if (message.type !== 'end') return
    hasEnded = true
    const reason = `did not exit within ${EXIT_GRACE_MS / 1000} s after its last test, though its event loop was empty`
    exitDeadline = setTimeout(() => stop(reason), EXIT_GRACE_MS)
  })
  output.read(child.stdout)
  output.read(child.stderr)

  const settle = () => {
    clearTimeout(deadline)
    clearTimeout(exitDeadline)
    signal.removeEventListener('abort', onAbort)
    resolve({ results, files: reports, output: output.text, failure })
  }
  child.once('error', (error) => {
    failure ??= String(error)
    settle()
  })
  // `exit` and not `close`: a grandchild may keep the pipes open.
  child.once('exit', (code, by) => {
    signalGroup(child.pid, 'SIGKILL')
    const isReported = results.some(({ ok }) => !ok)
    if (!hasEnded || by !== null || (code !== 0 && !isReported)) {
      failure ??= `ended early (${by ?? `exit code ${code}`})${running.length > 0 ? `, in: ${running.join(' > ')}` : ''}`
    }
    // What was printed last may still be on its way.
    setTimeout(settle, 50)
  })
  return promise
}

/** The end of what a process prints. */
class Output {
  text = ''

  read(stream: Readable | null): void {
    stream?.setEncoding('utf8')
    stream?.on('data', (chunk: string) => this.add(chunk))
  }

  add(chunk: string): void {
    this.text = (this.text + chunk).slice(-MAX_OUTPUT_CHARACTERS)
  }
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkerLimits } from './runtime/index.ts'

/** The program of a worker process. */
export interface WorkerProgram {
  /** As in "a text extraction worker". */
  readonly name: string
  /** The module that calls `serveWorker`. The worker may read its folder. */
  readonly entry: string
  /** Import specifiers of the packages it loads. */
  readonly packages: readonly string[]
  /** Whether they have native code. The permission model does not restrict it; the limits of the process do. */
  readonly hasAddons?: boolean
}

// V8 reserves 512 MiB for code, and threads have stacks. RLIMIT_DATA also counts reserved memory that is never used.
const RESERVED_BYTES = 2 ** 30

/**
 * Starts a process that can read its own code and no other file, write no file and start no process. It has an empty
 * environment and no descriptors but stderr and the IPC channel. Its low priority lets requests run first.
 */
export function startSandboxed(program: WorkerProgram, limits: WorkerLimits): ChildProcess {
  const folders = [
    path.dirname(program.entry),
    path.join(import.meta.dirname, 'runtime'),
    ...packageFolders(program.packages),
  ]
  const flags = [
    `--max-old-space-size=${Math.ceil(limits.heapBytes / 1024 ** 2)}`,
    '--permission',
    '--allow-worker',
    ...(program.hasAddons ? ['--allow-addons'] : []),
    '--disable-warning=SecurityWarning',
    ...folders.flatMap((folder) => [
      `--allow-fs-read=${folder}`,
      `--allow-fs-read=${path.join(folder, '*')}`,
    ]),
  ]
  const child = fork(program.entry, [String(limits.processBytes)], {
    ...withKernelLimits(flags, limits),
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  try {
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  } catch {
    // The process has exited, or the system denies it.
  }
  return child
}

/**
 * On Linux a shell sets kernel limits and then execs the worker: memory, for allocations faster than the watchdog (RLIMIT_DATA),
 * no writes to files (RLIMIT_FSIZE), no core dumps with the content of files (RLIMIT_CORE).
 */
function withKernelLimits(
  flags: readonly string[],
  { processBytes }: WorkerLimits,
): { execPath?: string; execArgv: string[] } {
  const shell = '/bin/sh'
  if (process.platform !== 'linux' || !existsSync(shell)) return { execArgv: [...flags] }
  const kibibytes = Math.ceil((processBytes + RESERVED_BYTES) / 1024)
  const script = `ulimit -d ${kibibytes}; ulimit -f 0; ulimit -c 0; exec "$0" "$@"`
  return { execPath: shell, execArgv: ['-c', script, process.execPath, ...flags] }
}

// The folders of module resolution, and the real locations of the packages: node_modules may be a symbolic link.
function packageFolders(packages: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const name of packages) {
    const entry = fileURLToPath(import.meta.resolve(name))
    folders.add(entry.slice(0, entry.lastIndexOf(path.join('node_modules', name)) + 'node_modules'.length))
  }
  for (let folder = import.meta.dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    folders.add(path.join(folder, 'node_modules'))
  }
  return [...folders]
}

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants, getPriority, setPriority } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  EXIT_UNSEALED,
  isFiltered,
  MEMORY_FILE,
  SECCOMP_CALL,
  startFilter,
  type WorkerLimits,
} from './runtime/index.ts'

/** The program of a worker process. */
export interface WorkerProgram {
  /** As in "a text extraction worker". */
  readonly name: string
  /** The module that calls `serveWorker`. The worker may read its folder. */
  readonly entry: string
  /** Import specifiers of the packages it loads. */
  readonly packages: readonly string[]
  /** Whether they have native code. The permission model does not restrict it; the kernel does. */
  readonly hasAddons?: boolean
}

// V8 reserves 512 MiB for code, and threads have stacks. RLIMIT_DATA also counts reserved memory that is never used.
const RESERVED_BYTES = 2 ** 30
const SECCOMP_ACTIONS = '/proc/sys/kernel/seccomp/actions_avail'

/** How the kernel confines workers, with calls through the FFI package. */
interface KernelConfinement {
  readonly addon: string
  /** The seccomp filter for the start. */
  readonly filter: Buffer
  /** The number of the call that installs it. */
  readonly call: number
}

let found: KernelConfinement | { readonly problem: string } | undefined
let hasStarted = false

/** Why the kernel does not confine workers on this machine; undefined if it does, as far as that is known before the first one. */
export function sealProblem(): string | undefined {
  found ??= findConfinement()
  return 'problem' in found ? found.problem : undefined
}

/** Called when a worker has started, or could not because of `problem`. Once one was confined, workers are never started without. */
export function noteStart(problem: string | undefined): void {
  if (problem === undefined) hasStarted = true
  if (problem === undefined || hasStarted) return
  found = { problem }
  process.emitWarning(`Worker processes are not confined by the kernel: ${problem}.`)
}

/**
 * Starts a process that can read its own code and no other file, write no file and start no process. It has an empty
 * environment and no descriptors but the pipes to the server. Before its first job it seals itself (`seal`) where the kernel can
 * confine it. Its low priority lets requests run first.
 */
export function startSandboxed(program: WorkerProgram, limits: WorkerLimits): ChildProcess {
  found ??= findConfinement()
  const confinement = 'problem' in found ? undefined : found
  const folders = [
    path.dirname(program.entry),
    path.join(import.meta.dirname, 'runtime'),
    ...packageFolders(program.packages),
  ]
  const command = [
    process.execPath,
    '--disable-sigusr1',
    `--max-old-space-size=${Math.ceil(limits.heapBytes / 1024 ** 2)}`,
    '--permission',
    '--allow-worker',
    // Without the kernel, native code is loaded only where the program needs it.
    ...(program.hasAddons || confinement ? ['--allow-addons'] : []),
    '--disable-warning=SecurityWarning',
    `--allow-fs-read=${MEMORY_FILE}`,
    ...folders.flatMap((folder) => [
      `--allow-fs-read=${folder}`,
      `--allow-fs-read=${path.join(folder, '*')}`,
    ]),
    program.entry,
    String(limits.processBytes),
  ]
  const [file = '', ...args] = confinement ? confined(command, limits, confinement) : command
  const child = spawn(file, args, { env: {}, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
  try {
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + 5))
  } catch {
    // The process has exited, or the system denies it.
  }
  return child
}

/**
 * A first program sets what has to be in force before Node starts, and then replaces itself with the worker: the filter for the start,
 * and kernel limits on memory, for allocations faster than the watchdog (RLIMIT_DATA), on writes to files (RLIMIT_FSIZE) and on core
 * dumps with the content of files (RLIMIT_CORE).
 */
function confined(
  command: readonly string[],
  { processBytes }: WorkerLimits,
  { addon, filter, call }: KernelConfinement,
): string[] {
  const limits = { 2: processBytes + RESERVED_BYTES, 1: 0, 4: 0 }
  const input = { addon, limits, filter: filter.toString('base64'), call, command: [...command, addon] }
  return [process.execPath, '--disable-sigusr1', '--no-warnings', '-e', CONFINE, JSON.stringify(input)]
}

/** Runs without our modules, because loading them would take longer than all the rest. */
const CONFINE = `
const input = JSON.parse(process.argv[1])
const ffi = require(input.addon)
const library = ffi.load(null)
const check = (what, returned) => {
  if (returned === 0) return
  process.stderr.write('the kernel refused ' + what)
  process.exit(${EXIT_UNSEALED})
}
const setrlimit = library.func('int setrlimit(int resource, const uint64_t *limit)')
for (const [resource, most] of Object.entries(input.limits))
  check('a limit', setrlimit(Number(resource), [most, most]))
const filter = Buffer.from(input.filter, 'base64')
const program = Buffer.alloc(16)
program.writeUInt16LE(filter.length / 8, 0)
program.writeBigUInt64LE(ffi.address(filter), 8)
const PR_SET_NO_NEW_PRIVS = 38
const prctl = library.func('int prctl(int option, long a, long b, long c, long d)')
check('to keep privileges from it', prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
const seccomp = library.func('long syscall(long number, long operation, long flags, void *program)')
check('a seccomp filter', seccomp(input.call, 1, 0, program))
const F_SETFD = 2
check('the pipe', library.func('int fcntl(int fd, int command, int value)')(3, F_SETFD, 0))
process.execve(input.command[0], input.command, {})
`

function findConfinement(): KernelConfinement | { readonly problem: string } {
  const { platform, arch } = process
  if (platform !== 'linux' || !isFiltered(arch))
    return { problem: `there is no filter for ${platform} ${arch}` }
  try {
    const actions = readFileSync(SECCOMP_ACTIONS, 'utf8').split(/\s/)
    if (!actions.includes('errno')) return { problem: 'the kernel has no seccomp filters' }
  } catch {
    return { problem: 'the kernel has no seccomp filters' }
  }
  try {
    const manifest = createRequire(import.meta.url).resolve(`@koromix/koffi-linux-${arch}/package.json`)
    const addon = path.join(manifest, `../${isMusl() ? 'musl' : 'linux'}_${arch}/koffi.node`)
    return { addon, filter: startFilter(arch), call: SECCOMP_CALL[arch] }
  } catch {
    return { problem: `the package @koromix/koffi-linux-${arch} is not installed` }
  }
}

/** Whether this process uses musl, the C library of Alpine Linux. */
function isMusl(): boolean {
  return readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
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

import { createRequire } from 'node:module'
import { isFiltered, jobFilter, SECCOMP_CALL } from './seccomp-filter.ts'

/** The part of the FFI package that is used. */
interface Ffi {
  load(library: null): { func(declaration: string): (...values: unknown[]) => number }
  address(buffer: Buffer): bigint
}

const PR_SET_DUMPABLE = 4
const SECCOMP_SET_MODE_FILTER = 1
/** Applies the filter to all threads of the process, also to those of V8 and of native code. */
const SECCOMP_FILTER_FLAG_TSYNC = 1
/** `nobody`, who owns no files. */
const NOBODY = 65_534

let filter: Buffer | undefined

/**
 * Restricts this process for the rest of its life. As root it becomes `nobody`, where the system permits that. With `addon`, the FFI
 * package, it installs the kernel filter: then it can compute, allocate and use the descriptors that are open, and nothing else.
 */
export function seal(addon: string | undefined): void {
  if (addon === undefined) return dropRoot()
  const { arch, pid } = process
  if (!isFiltered(arch)) throw new Error(`There is no filter for ${arch}.`)
  const ffi = createRequire(import.meta.url)(addon) as Ffi
  const library = ffi.load(null)
  const prctl = library.func('int prctl(int option, long a, long b, long c, long d)')
  const seccomp = library.func('long syscall(long number, long operation, long flags, void *program)')
  // Not a local variable: the kernel reads it by its address, of which the garbage collector does not know.
  filter = jobFilter(arch, pid)
  const program = Buffer.alloc(16) // `struct sock_fprog`
  program.writeUInt16LE(filter.length / 8, 0)
  program.writeBigUInt64LE(ffi.address(filter), 8)
  dropRoot()
  // No core dumps, and no other process of this user may attach to it.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) !== 0) throw new Error('The process stays dumpable.')
  if (seccomp(SECCOMP_CALL[arch], SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) !== 0)
    throw new Error('The kernel refused the filter.')
}

function dropRoot(): void {
  if (process.getuid?.() !== 0) return
  try {
    process.setgroups?.([])
    process.setgid?.(NOBODY)
    process.setuid?.(NOBODY)
  } catch {
    // A container may lack the privilege, or the user.
  }
}

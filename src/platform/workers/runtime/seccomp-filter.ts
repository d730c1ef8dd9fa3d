/** The processor architectures whose system calls are known here, in the order of the numbers below. */
const ARCHITECTURES = ['x64', 'arm64'] as const
type Architecture = (typeof ARCHITECTURES)[number]

/** `AUDIT_ARCH_…` of the kernel. */
const AUDIT: { readonly [A in Architecture]: number } = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** The number of a system call on each architecture; -1 where there is no such call. */
type CallNumbers = readonly [x64: number, arm64: number]

/** Calls that concern memory, threads, time, the process itself and descriptors that are open already. Frequent ones are first. */
const ALLOWED: { readonly [name: string]: CallNumbers } = {
  read: [0, 63],
  write: [1, 64],
  futex: [202, 98],
  mmap: [9, 222],
  munmap: [11, 215],
  mprotect: [10, 226],
  madvise: [28, 233],
  getrusage: [98, 165],
  pread64: [17, 67],
  clock_gettime: [228, 113],
  clock_getres: [229, 114],
  clock_nanosleep: [230, 115],
  nanosleep: [35, 101],
  gettimeofday: [96, 169],
  epoll_wait: [232, -1],
  epoll_pwait: [281, 22],
  epoll_pwait2: [441, 441],
  epoll_ctl: [233, 21],
  epoll_create1: [291, 20],
  eventfd2: [290, 19],
  pipe2: [293, 59],
  poll: [7, -1],
  ppoll: [271, 73],
  readv: [19, 65],
  writev: [20, 66],
  close: [3, 57],
  brk: [12, 214],
  mremap: [25, 216],
  // V8 protects its compiled code with memory protection keys where the processor has them.
  pkey_alloc: [330, 289],
  pkey_mprotect: [329, 288],
  pkey_free: [331, 290],
  membarrier: [324, 283],
  sched_yield: [24, 124],
  sched_getaffinity: [204, 123],
  getcpu: [309, 168],
  getrandom: [318, 278],
  getpid: [39, 172],
  gettid: [186, 178],
  getppid: [110, 173],
  getuid: [102, 174],
  geteuid: [107, 175],
  getgid: [104, 176],
  getegid: [108, 177],
  getcwd: [79, 17],
  uname: [63, 160],
  sysinfo: [99, 179],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  set_robust_list: [273, 99],
  set_tid_address: [218, 96],
  rseq: [334, 293],
  exit: [60, 93],
  exit_group: [231, 94],
}

const KILL: CallNumbers = [62, 129]
const TGKILL: CallNumbers = [234, 131]
const CLONE: CallNumbers = [56, 220]
const CLONE3: CallNumbers = [435, 435]
const PRCTL: CallNumbers = [157, 167]
const FCNTL: CallNumbers = [72, 25]
const IOCTL: CallNumbers = [16, 29]
const PRLIMIT64: CallNumbers = [302, 261]
const IO_URING_SETUP: CallNumbers = [425, 425]

const CLONE_THREAD = 0x10000
/** `CLONE_NEWTIME`, `CLONE_NEWNS`, and the other namespaces. */
const CLONE_NAMESPACES = 0x7e020080
const PR_SET_NAME = 15
const PR_SET_VMA = 0x53564d41
/** `F_GETFD` to `F_SETFL`. Without `F_SETOWN` and `F_SETSIG`, by which a descriptor sends signals to another process. */
const FCNTL_COMMANDS = [1, 2, 3, 4]
/** `FIONBIO`. Without `FIOSETOWN`. */
const IOCTL_COMMANDS = [0x5421]

// Instructions of classic BPF (linux/bpf_common.h), and results of a filter (linux/seccomp.h).
const LOAD = 0x20
const AND = 0x54
const JUMP_IF_EQUAL = 0x15
const RETURN = 0x06
const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const errno = (number: number) => 0x00050000 | number
const EPERM = errno(1)
const ENOSYS = errno(38)

/** Offsets in `struct seccomp_data`. The architectures are little-endian, so the low half of an argument is first. */
const NUMBER_AT = 0
const ARCHITECTURE_AT = 4
const lowHalf = (argument: number) => 16 + 8 * argument

/** One `struct sock_filter`. */
interface Instruction {
  readonly code: number
  readonly value: number
  /** How many instructions are skipped if the comparison holds, and if not. */
  readonly ifTrue?: number
  readonly ifFalse?: number
}

const load = (offset: number): Instruction => ({ code: LOAD, value: offset })
const result = (value: number): Instruction => ({ code: RETURN, value })

/** The number of the call `seccomp`. */
export const SECCOMP_CALL: { readonly [A in Architecture]: number } = { x64: 317, arm64: 277 }

/** Whether there is a filter for the architecture. */
export function isFiltered(architecture: string): architecture is Architecture {
  return ARCHITECTURES.some((known) => known === architecture)
}

/**
 * The filter for the start of a worker process. Its event loops then have no io_uring, by which system calls would go past the
 * second filter.
 */
export function startFilter(architecture: Architecture): Buffer {
  const number = IO_URING_SETUP[ARCHITECTURES.indexOf(architecture)] ?? -1
  return encode([
    ...onlyOn(architecture),
    { code: JUMP_IF_EQUAL, value: number, ifFalse: 1 },
    result(ENOSYS),
    result(ALLOW),
  ])
}

/**
 * The filter of a worker process from its first job on, as an array of `struct sock_filter`. It lists what is allowed, so calls of later kernels are
 * denied. There is no way to open a file or a socket, to start a process, or to signal another than `pid`, which is the process itself.
 * A denied call fails with EPERM, because libraries try some without need, for example to find the time zone.
 */
export function jobFilter(architecture: Architecture, pid: number): Buffer {
  const index = ARCHITECTURES.indexOf(architecture)
  const numberOf = (numbers: CallNumbers) => numbers[index] ?? -1
  /** The call is decided by `rules`; all others skip them. */
  const when = (numbers: CallNumbers, rules: readonly Instruction[]): Instruction[] => [
    { code: JUMP_IF_EQUAL, value: numberOf(numbers), ifFalse: rules.length },
    ...rules,
  ]
  const allowed = Object.values(ALLOWED).filter((numbers) => numberOf(numbers) !== -1)
  return encode([
    ...onlyOn(architecture),
    ...allowed.flatMap((numbers) => when(numbers, [result(ALLOW)])),
    ...when(KILL, ifOneOf(0, [pid])),
    ...when(TGKILL, ifOneOf(0, [pid])),
    ...when(CLONE, [
      load(lowHalf(0)),
      { code: AND, value: CLONE_THREAD | CLONE_NAMESPACES },
      ...ifEqual(CLONE_THREAD),
    ]),
    // Its arguments are in memory, where a filter cannot read them. The C library then uses `clone`.
    ...when(CLONE3, [result(ENOSYS)]),
    ...when(PRCTL, ifOneOf(0, [PR_SET_NAME, PR_SET_VMA])),
    ...when(FCNTL, ifOneOf(1, FCNTL_COMMANDS)),
    ...when(IOCTL, ifOneOf(1, IOCTL_COMMANDS)),
    // The limits of the process itself, which it may read.
    ...when(PRLIMIT64, [
      load(lowHalf(0)),
      ...unless(0),
      load(lowHalf(2)),
      ...unless(0),
      load(lowHalf(2) + 4),
      ...ifEqual(0),
    ]),
    result(EPERM),
  ])
}

/** Loads the number of the call. Calls of another architecture, such as the 32-bit ones, have other numbers and end the process. */
function onlyOn(architecture: Architecture): Instruction[] {
  return [
    load(ARCHITECTURE_AT),
    { code: JUMP_IF_EQUAL, value: AUDIT[architecture], ifTrue: 1 },
    result(KILL_PROCESS),
    load(NUMBER_AT),
  ]
}

/** Allows the call if the low half of an argument is one of `values`. */
function ifOneOf(argument: number, values: readonly number[]): Instruction[] {
  return [
    load(lowHalf(argument)),
    ...values.flatMap((value): Instruction[] => [{ code: JUMP_IF_EQUAL, value, ifFalse: 1 }, result(ALLOW)]),
    result(EPERM),
  ]
}

function ifEqual(value: number): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, value, ifFalse: 1 }, result(ALLOW), result(EPERM)]
}

/** Denies the call unless the loaded value is `value`. */
function unless(value: number): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, value, ifTrue: 1 }, result(EPERM)]
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}

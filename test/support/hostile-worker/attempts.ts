// What hostile code in a worker process may try. Each attempt returns what it got out of it, or throws.
import { execFileSync } from 'node:child_process'
import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import inspector from 'node:inspector'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'

/** Where the attempts are aimed at. */
export interface Targets {
  /** A server of the test on 127.0.0.1, with TCP and with UDP, and one on a UNIX socket. */
  readonly port: number
  readonly socket: string
  /** A file that only the test reads, and a folder it may write to. */
  readonly secret: string
  readonly folder: string
  /** The FFI addon, for what native code may try. */
  readonly addon: string
}

type Native = (declaration: string) => (...values: unknown[]) => number

let native: Native = () => () => {
  throw new Error('no native code')
}
let errno = () => 0
let openBefore: readonly string[] = []
let thread: Worker | undefined

/** Called before the sandbox is closed: a program may load what it likes, and start threads, until its first job. */
export async function loadNative({ addon }: Targets): Promise<void> {
  thread = new Worker(THREAD, { eval: true })
  await once(thread, 'message')
  const ffi = createRequire(import.meta.url)(addon) as {
    load(library: null): { func: Native }
    errno(): number
  }
  native = (declaration) => ffi.load(null).func(declaration)
  errno = () => ffi.errno()
  const readlink = native('long readlink(const char *path, _Out_ uint8_t *buffer, size_t size)')
  openBefore = Array.from({ length: 64 }, (_, descriptor) => {
    const target = Buffer.alloc(200)
    const length = readlink(`/proc/self/fd/${descriptor}`, target, target.length)
    return length > 0 ? target.toString('utf8', 0, length) : ''
  }).filter((target) => target !== '')
}

/** A call of the C library that reports failure by -1. */
function call(declaration: string, ...values: unknown[]): unknown {
  const returned = native(declaration)(...values)
  if (returned === -1) throw Object.assign(new Error('refused'), { code: `errno ${errno()}` })
  return returned
}

const parent = process.ppid

/** By name. */
export const attempts: { readonly [name: string]: (targets: Targets) => unknown } = {
  'signal the server': () => process.kill(parent, 0),
  'send the server SIGUSR1': () => process.kill(parent, 'SIGUSR1'),
  'signal its process group': () => process.kill(0, 0),
  'signal every process': () => process.kill(-1, 0),
  'connect by TCP': async ({ port }) => once(connect({ host: '127.0.0.1', port }), 'connect'),
  'connect to a UNIX socket': async ({ socket }) => once(connect(socket), 'connect'),
  'listen on TCP': async () => once(createServer().listen(0), 'listening'),
  'listen on a UNIX socket': ({ folder }) => once(createServer().listen(`${folder}/mine`), 'listening'),
  'resolve a name': async ({ port }) => {
    const resolver = new Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([`127.0.0.1:${port}`])
    return resolver.resolve4('example.org')
  },
  'look up a name': () => lookup('localhost'),
  'start a program': () => execFileSync(process.execPath, ['-v']),
  'read a file of the test': ({ secret }) => readFileSync(secret, 'utf8'),
  'read /etc/passwd': () => readFileSync('/etc/passwd', 'utf8'),
  'read the environment of the server': () => readFileSync(`/proc/${parent}/environ`),
  'read its own code': () => readFileSync(import.meta.filename),
  'write a file': ({ folder }) => writeFileSync(`${folder}/written`, 'x'),
  'open the inspector': () => inspector.open(0),
  'reach internals': ({ secret }) => {
    const internals = process as unknown as { binding(name: string): { open(...args: unknown[]): unknown } }
    return internals.binding('fs').open(secret, 0, 0o666, undefined, {})
  },
  'signal the server from a thread': () => inThread(`process.kill(${parent}, 0)`),
  'connect from a thread': ({ port }) =>
    inThread(
      `const socket = require('node:net').connect({ host: '127.0.0.1', port: ${port} })
       return new Promise((resolve, reject) => socket.on('connect', () => resolve('connected')).on('error', reject))`,
    ),
  'native: signal the server': () => call('int kill(int pid, int signal)', parent, 0),
  'native: signal a thread of the server': () =>
    call('long syscall(long number, long pid, long tid, long signal)', numbers().tgkill, parent, parent, 0),
  'native: queue a signal': () => call('int sigqueue(int pid, int signal, long value)', parent, 0, 0),
  'native: have a descriptor signal the server': () =>
    call('int fcntl(int fd, int command, long value)', 0, 8, parent),
  'native: open a process descriptor': () =>
    call('long syscall(long number, long pid, long flags)', 434, parent, 0),
  'native: create a socket': () => call('int socket(int domain, int type, int protocol)', 2, 1, 0),
  'native: create a UNIX socket': () => call('int socket(int domain, int type, int protocol)', 1, 1, 0),
  'native: create a pair of sockets': () =>
    call('int socketpair(int domain, int type, int protocol, _Out_ int *pair)', 1, 1, 0, [0, 0]),
  'native: read a file of the test': ({ secret }) => call('int open(const char *path, int flags)', secret, 0),
  'native: read the memory of the server': () =>
    call('int open(const char *path, int flags)', `/proc/${parent}/mem`, 0),
  'native: write a file': ({ folder }) =>
    call('int open(const char *path, int flags, int mode)', `${folder}/native`, 0o101, 0o600),
  'native: find out whether a file exists': ({ secret }) =>
    call('int access(const char *path, int mode)', secret, 0),
  'native: remove a file': ({ secret }) => call('int unlink(const char *path)', secret),
  'native: trace the server': () =>
    call('long ptrace(int request, int pid, long address, long data)', 16, parent, 0, 0),
  'native: read the memory of the server by its id': () =>
    call(
      'long syscall(long n, long pid, void *a, long b, void *c, long d, long e)',
      numbers().vm,
      parent,
      Buffer.alloc(16),
      1,
      Buffer.alloc(16),
      1,
      0,
    ),
  'native: change the limits of the server': () =>
    call('int prlimit(int pid, int resource, const uint64_t *limit, void *old)', parent, 7, [1, 1], null),
  'native: start a program': () =>
    call('int execv(const char *path, char **arguments)', '/bin/true', ['/bin/true', null]),
  'native: create a process': () =>
    call('long syscall(long n, long flags, long stack)', numbers().clone, 17, 0),
  'native: create a namespace': () => call('int unshare(int flags)', 0x10000000),
  'native: create a file in memory': () => call('int memfd_create(const char *name, int flags)', 'x', 0),
  'native: create a ring for calls': () =>
    call('long syscall(long n, long entries, void *parameters)', 425, 4, Buffer.alloc(120)),
  'native: load a program for the kernel': () =>
    call(
      'long syscall(long n, long command, void *attributes, long size)',
      numbers().bpf,
      0,
      Buffer.alloc(64),
      64,
    ),
  'native: become root': () => call('int setuid(int user)', 0),
  'native: become traceable': () =>
    call('int prctl(int option, long a, long b, long c, long d)', 4, 1, 0, 0, 0),
}

/** What is not an attempt: the descriptors that the process was given. */
export function descriptors(): readonly string[] {
  return openBefore
}

/** The user and whether it belongs to other groups. */
export function identity(): unknown {
  return { user: process.getuid?.(), group: process.getgid?.(), environment: Object.keys(process.env) }
}

function numbers() {
  return process.arch === 'x64'
    ? { tgkill: 234, vm: 310, clone: 56, bpf: 321 }
    : { tgkill: 131, vm: 270, clone: 220, bpf: 280 }
}

const THREAD = `const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (code) => {
    new Function('require', 'return (async () => {' + code + '})()')(require).then(
      (got) => parentPort.postMessage({ got }),
      (error) => parentPort.postMessage({ refused: String(error.code) }),
    )
  })
  parentPort.postMessage('started')`

async function inThread(code: string): Promise<unknown> {
  if (thread === undefined) throw new Error('no thread')
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage(code)
  const [answer] = (await once(thread, 'message')) as [{ got?: unknown; refused?: string }]
  if (answer.refused !== undefined) throw Object.assign(new Error('refused'), { code: answer.refused })
  return answer.got
}

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { IoShim } from './io-shim.ts'

/** Kinds of calls. The numbers are those of `io-shim/io-shim.c`. */
const OPERATIONS = {
  /** Any `open`. */
  open: 1,
  /** `open` with O_CREAT. */
  create: 2,
  write: 4,
  /** `fsync` and `fdatasync` of a file. */
  sync: 8,
  /** `fsync` of a folder. */
  syncFolder: 16,
  rename: 32,
  unlink: 64,
  truncate: 128,
  allocate: 256,
  mkdir: 512,
  read: 1024,
  link: 2048,
}

const ACTIONS = { fail: 0, short: 1, hold: 2, kill: 3 }

export type Operation = keyof typeof OPERATIONS

/** What happens to which calls. */
export interface Fault {
  readonly operations: readonly Operation[]
  /** Pattern of the path below the data folder, as of fnmatch(3). `*` also matches slashes. A rename matches by either path. */
  readonly path: string
  /**
   * The code of the error, or `short`: a write stores half of its bytes and says so. `hold`: the call waits until the fault is removed.
   * `kill`: SIGKILL before the call.
   */
  readonly effect: keyof typeof os.constants.errno | 'short' | 'hold' | 'kill'
  /** How many matching calls pass before; 0 unless given. */
  readonly skip?: number
  /** How many calls fail; all unless given. */
  readonly count?: number
}

/** A fault that is in force until it is removed. */
export interface InjectedFault extends Disposable {
  /** How many calls failed, were shortened or held. */
  readonly hits: number
  /** How many calls matched, those that passed included. */
  readonly seen: number
  /** Resolves once a call was hit. Rejects after 30 s. */
  whenHit(): Promise<void>
  remove(): void
}

const MAX_RULES = 32
const PATTERN_BYTES = 224
const RULE_BYTES = 32 + PATTERN_BYTES
const FOREVER = 0xffff_ffff
const SEEN_AT = 20
const HIT_AT = 24
/** After the rules: whether the gate is closed, and the processes with their operations, as `struct shared`. */
const GATE_AT = MAX_RULES * RULE_BYTES
const SLOTS_AT = GATE_AT + 8
const MAX_SLOTS = 64
const SLOT_BYTES = 8

/**
 * Makes file operations below a data folder fail, in servers that run with `env`. Faults begin and end while a server runs: the rules are
 * in a file that the servers have mapped.
 */
export class FaultInjector implements AsyncDisposable {
  /** Environment of the servers, for `spawnServer`. */
  readonly env: Record<string, string>
  readonly #shim: IoShim
  readonly #fd: number
  readonly #used = new Set<number>()

  private constructor(shim: IoShim, file: string, env: Record<string, string>) {
    this.#shim = shim
    this.env = env
    this.#fd = openSync(file, 'r+')
  }

  /** Check `cannotBuildShim` before. */
  static async create(data: string): Promise<FaultInjector> {
    const shim = await IoShim.build()
    const file = path.join(shim.folder, 'faults')
    await writeFile(file, Buffer.alloc(SLOTS_AT + MAX_SLOTS * SLOT_BYTES))
    return new FaultInjector(shim, file, { ...shim.environment(data), IO_SHIM_FAULTS: file })
  }

  /** A folder that lives as long as this, for files of the test. */
  get folder(): string {
    return this.#shim.folder
  }

  inject(fault: Fault): InjectedFault {
    const index = Array.from({ length: MAX_RULES }, (_, at) => at).find((at) => !this.#used.has(at))
    if (index === undefined) throw new Error(`There are at most ${MAX_RULES} faults at a time.`)
    this.#used.add(index)
    const start = index * RULE_BYTES
    const bytes = encode(fault)
    // The mask of operations is written last, because it makes the rule active.
    writeSync(this.#fd, bytes, 4, RULE_BYTES - 4, start + 4)
    writeSync(this.#fd, bytes, 0, 4, start)
    const counter = (at: number) => {
      const number = Buffer.alloc(4)
      readSync(this.#fd, number, 0, 4, start + at)
      return number.readUInt32LE()
    }
    let final: { hits: number; seen: number } | undefined
    const remove = () => {
      if (final !== undefined) return
      writeSync(this.#fd, Buffer.alloc(4), 0, 4, start)
      final = { hits: counter(HIT_AT), seen: counter(SEEN_AT) }
      this.#used.delete(index)
    }
    return {
      get hits() {
        return final?.hits ?? counter(HIT_AT)
      },
      get seen() {
        return final?.seen ?? counter(SEEN_AT)
      },
      async whenHit() {
        const deadline = performance.now() + 120_000
        while (counter(HIT_AT) === 0) {
          if (performance.now() > deadline) throw new Error(`No call was hit by ${JSON.stringify(fault)}`)
          await delay(2)
        }
      },
      remove,
      [Symbol.dispose]: remove,
    }
  }

  /**
   * Ends a server by SIGKILL while no process is between an operation and its record, so that the recording agrees with the disk. The
   * operations of all other processes wait meanwhile.
   */
  async killBetweenCalls(server: { kill(): Promise<void> }): Promise<void> {
    this.#setGate(1)
    try {
      while (this.#isBusy()) await delay(1)
      await server.kill()
    } finally {
      this.#setGate(0)
    }
  }

  #setGate(closed: 0 | 1): void {
    writeSync(this.#fd, Uint8Array.of(closed, 0, 0, 0), 0, 4, GATE_AT)
  }

  /** Whether an operation of a living process is not recorded yet. */
  #isBusy(): boolean {
    const slots = Buffer.alloc(MAX_SLOTS * SLOT_BYTES)
    readSync(this.#fd, slots, 0, slots.length, SLOTS_AT)
    for (let at = 0; at < slots.length; at += SLOT_BYTES) {
      const process = slots.readUInt32LE(at)
      if (process !== 0 && slots.readUInt32LE(at + 4) > 0 && isAlive(process)) return true
    }
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    closeSync(this.#fd)
    await this.#shim[Symbol.asyncDispose]()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

/** A rule as `struct rule` of io-shim.c. */
function encode({ operations, path: pattern, effect, skip = 0, count = FOREVER }: Fault): Buffer {
  const bytes = Buffer.alloc(RULE_BYTES)
  const isAction = effect === 'short' || effect === 'hold' || effect === 'kill'
  bytes.writeUInt32LE(
    operations.reduce((mask, operation) => mask | OPERATIONS[operation], 0),
    0,
  )
  bytes.writeUInt32LE(isAction ? ACTIONS[effect] : ACTIONS.fail, 4)
  bytes.writeInt32LE(isAction ? 0 : os.constants.errno[effect], 8)
  bytes.writeUInt32LE(skip, 12)
  bytes.writeUInt32LE(count, 16)
  if (Buffer.byteLength(pattern) >= PATTERN_BYTES) throw new Error(`The pattern ${pattern} is too long.`)
  bytes.write(pattern, 32)
  return bytes
}

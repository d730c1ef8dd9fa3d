import { DomainError } from '../../base/errors.ts'
import type { LibraryInfo } from '../registry/index.ts'
import {
  type ConsumerParts,
  type DerivedModule,
  type DerivedPosition,
  ModuleConsumer,
} from './derived-module.ts'
import { type Companion, DerivedTransaction } from './derived-rows.ts'

// Debounce: commits in quick succession are processed together. While the process is busy, the delay grows.
const WAKE_DELAY_MS = 40
const MAX_DELAY_MS = 2000
const BUSY = 0.5
// Concurrent libraries in the background, in total and per owner, so that a large library does not delay
// others.
const LIBRARIES_AT_ONCE = 8
const LIBRARIES_OF_ONE_OWNER = 2

interface ConsumerOptions extends ConsumerParts {
  /** Called when background processing fails. The next wake or catchUp retries. */
  readonly onError: (error: unknown) => void
}

/**
 * Processes the commits of each library for all modules with derived data (I3). It never delays a write. What the modules derive from
 * commits in quick succession is written in one transaction.
 */
export class CommitConsumer {
  readonly #options: ConsumerOptions
  readonly #modules: Pick<ModuleConsumer, 'catchUp' | 'isActive' | 'stop'>[] = []
  #companion: Companion | undefined
  readonly #woken = new Map<number, LibraryInfo>()
  /** Libraries whose debounce delay has passed, in processing order. */
  readonly #due = new Map<number, LibraryInfo>()
  /** Libraries being processed in the background, with their owners. */
  readonly #busy = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: ConsumerOptions) {
    this.#options = options
  }

  /** Adds a module. */
  add<P extends DerivedPosition>(module: DerivedModule<P>): ModuleConsumer<P> {
    const consumer = new ModuleConsumer(this.#options, module)
    this.#modules.push(consumer)
    return consumer
  }

  /** Sets the only companion. */
  accompany(companion: Companion): void {
    this.#companion = companion
  }

  /** Schedules background processing of a library. */
  wake(library: LibraryInfo): void {
    if (this.#stopped) return
    this.#woken.set(library.key, library)
    this.#timer ??= this.#wait(MAX_DELAY_MS)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await Promise.all(this.#modules.map((module) => module.stop()))
  }

  #wait(longestMs: number): NodeJS.Timeout {
    const began = performance.eventLoopUtilization()
    const onTime = () => {
      const isBusy = performance.eventLoopUtilization(began).utilization > BUSY
      const leftMs = longestMs - WAKE_DELAY_MS
      if (isBusy && leftMs > 0) {
        this.#companion?.onDelay()
        this.#timer = this.#wait(leftMs)
      } else this.#followWoken()
    }
    return setTimeout(onTime, WAKE_DELAY_MS).unref()
  }

  #followWoken(): void {
    this.#timer = undefined
    for (const [key, library] of this.#woken) this.#due.set(key, library)
    this.#woken.clear()
    this.#followDue()
  }

  #followDue(): void {
    for (const [key, library] of this.#due) {
      if (this.#stopped || this.#busy.size >= LIBRARIES_AT_ONCE) return
      const owners = [...this.#busy.values()].filter((owner) => owner === library.ownerKey)
      if (this.#busy.has(key) || owners.length >= LIBRARIES_OF_ONE_OWNER) continue
      this.#due.delete(key)
      this.#busy.set(key, library.ownerKey)
      void this.#followBehind(library).finally(() => {
        this.#busy.delete(key)
        this.#followDue()
      })
    }
  }

  async #followBehind(library: LibraryInfo): Promise<void> {
    const companion = this.#companion
    const transaction = new DerivedTransaction((db) =>
      db === companion?.db ? companion.take(library.key) : undefined,
    )
    const active = this.#modules.filter(({ isActive }) => isActive)
    await Promise.all(
      active.map(async (module) => {
        try {
          await module.catchUp(library, transaction)
        } catch (error) {
          if (module.isActive && !isGone(error)) this.#options.onError(error)
        }
      }),
    )
  }
}

/** Whether the error is that the library was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof DomainError && error.fault.code === 'library-not-found'
}

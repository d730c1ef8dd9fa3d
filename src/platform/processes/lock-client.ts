import type { ProcessLocks } from '../database/index.ts'
import type { LockRequest, LockTable } from './lock-table.ts'

type LockOptions = Parameters<ProcessLocks['lock']>[1]
type GrantedLock = Awaited<ReturnType<ProcessLocks['lock']>>

/** From a process to the table. */
export type LockCall =
  | ({ readonly kind: 'lock' } & LockRequest)
  | { readonly kind: 'unlock'; readonly id: number; readonly name: string }

/** From the table to a process. */
export interface LockGrant {
  readonly kind: 'granted'
  readonly id: number
  /** Names of all other locks that are held or waited for. */
  readonly taken: readonly string[]
}

interface Pending {
  readonly resolve: (granted: GrantedLock) => void
  readonly timer: NodeJS.Timeout
  readonly name: string
}

/** The locks of a table in another process. */
export class LockClient implements ProcessLocks {
  readonly #send: (call: LockCall) => void
  readonly #pending = new Map<number, Pending>()
  #lastId = 0

  constructor(send: (call: LockCall) => void) {
    this.#send = send
  }

  lock(name: string, { timeoutMs, after }: LockOptions): Promise<GrantedLock> {
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<GrantedLock>()
    const timer = setTimeout(() => {
      this.#pending.delete(id)
      this.#send({ kind: 'unlock', id, name })
      reject(new Error(`The lock "${name}" was not granted in ${timeoutMs / 1000} s.`))
    }, timeoutMs)
    this.#pending.set(id, { resolve, timer, name })
    this.#send({ kind: 'lock', id, name, after })
    return promise
  }

  /** To be called with each message of the table. */
  onGrant({ id, taken }: LockGrant): void {
    const pending = this.#pending.get(id)
    // The request was withdrawn at the same time. The table has been told.
    if (pending === undefined) return
    this.#pending.delete(id)
    clearTimeout(pending.timer)
    const { name } = pending
    pending.resolve({
      wasFree: (other) => !taken.includes(other),
      release: () => this.#send({ kind: 'unlock', id, name }),
    })
  }
}

/** Carries out a call of a process. */
export function onLockCall(
  table: LockTable,
  owner: object,
  call: LockCall,
  reply: (grant: LockGrant) => void,
): void {
  if (call.kind === 'unlock') table.release(owner, call)
  else table.request(owner, call, (taken) => reply({ kind: 'granted', id: call.id, taken }))
}

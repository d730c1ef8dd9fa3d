import { access, constants } from 'node:fs/promises'
import type { DiskReserve } from './disk-reserve.ts'
import { isOfDatabase, storageFault } from './storage-faults.ts'

/** A failed write counts for this long. */
const UNWRITABLE_MS = 30_000

/** What is wrong with the disk of the data folder, for `/readyz`. */
type DiskState = 'ok' | 'full' | 'read-only' | 'unwritable' | 'failed'

/** Observes the disk: errors of requests, the reserve, and whether the data folder can be written. */
export class DiskHealth {
  readonly #directory: string
  readonly #reserve: DiskReserve
  #failedAtMs = Number.NEGATIVE_INFINITY
  #fullAtMs = Number.NEGATIVE_INFINITY
  #hasFailed = false

  constructor(directory: string, reserve: DiskReserve) {
    this.#directory = directory
    this.#reserve = reserve
  }

  /** To be called when nothing may be acknowledged any more. */
  fail(): void {
    this.#hasFailed = true
  }

  /** The fault behind an error of a store, which is noted. */
  readonly faultOf = (error: unknown): ReturnType<typeof storageFault> => {
    const fault = storageFault(error)
    if (fault?.code === 'disk-unwritable') this.#failedAtMs = performance.now()
    if (fault?.code !== 'disk-full') return fault
    // A deletion needs the database. It found no space, although the reserve is released by now.
    if (!isOfDatabase(error)) return { ...fault, canDelete: this.#reserve.canDelete }
    // The disk of a database server has no reserve that could tell.
    this.#fullAtMs = performance.now()
    return fault
  }

  async state(): Promise<DiskState> {
    if (this.#hasFailed) return 'failed'
    try {
      await access(this.#directory, constants.W_OK)
    } catch {
      return 'read-only'
    }
    if (performance.now() - this.#failedAtMs < UNWRITABLE_MS) return 'unwritable'
    const isFull = this.#reserve.isFull || performance.now() - this.#fullAtMs < UNWRITABLE_MS
    return isFull ? 'full' : 'ok'
  }
}

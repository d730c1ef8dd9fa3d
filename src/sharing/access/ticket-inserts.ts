import { type Database, writeIfSpace } from '../../platform/database/index.ts'
import { insertTickets, type TicketRow } from './ticket-store.ts'

interface Waiting {
  readonly hash: Uint8Array
  readonly ticket: TicketRow
  readonly resolve: (isWritten: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Batches the tickets of one event loop turn into one transaction, because a transaction costs more than a
 * row. A ticket lost in a power failure is simply requested again, so SQLite does not flush it. PostgreSQL waits for its standbys: after a failover clients
 * go on without a request that failed, and use the tickets they have.
 */
export class TicketInserts {
  readonly #db: Database
  #waiting: Waiting[] = []

  constructor(db: Database) {
    this.#db = db
  }

  /** Resolves to true once the ticket is visible to readers, or to false if the disk is full. */
  add(hash: Uint8Array, ticket: TicketRow): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#begin)
      this.#waiting.push({ hash, ticket, resolve, reject })
    })
  }

  readonly #begin = (): void => {
    const some = this.#waiting
    this.#waiting = []
    void this.#write(some)
  }

  async #write(some: readonly Waiting[]): Promise<void> {
    let isWritten: boolean
    try {
      isWritten = await writeIfSpace(this.#db, (tx) => insertTickets(tx, some), 'replicated')
    } catch (error) {
      // Retried one by one, so that a ticket of a deleted library does not fail the others.
      if (some.length > 1) await Promise.all(some.map((one) => this.#write([one])))
      else some[0]?.reject(error)
      return
    }
    for (const { resolve } of some) resolve(isWritten)
  }
}

import { type Database, writeIfSpace } from '../database/index.ts'
import { insertTickets, type TicketRow } from './ticket-store.ts'

interface Waiting {
  readonly hash: Uint8Array
  readonly ticket: TicketRow
  readonly resolve: (isWritten: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes the tickets of one turn of the event loop in one transaction, which takes longer than the row of a ticket.
 * Lost in a power cut, a ticket is simply asked for again.
 */
export class TicketInserts {
  readonly #db: Database
  #waiting: Waiting[] = []

  constructor(db: Database) {
    this.#db = db
  }

  /** Resolves once the ticket can be presented, or to false if the disk is full. */
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
      isWritten = await writeIfSpace(this.#db, (tx) => insertTickets(tx, some))
    } catch (error) {
      // One for a library that is gone by now must not fail the others.
      if (some.length > 1) await Promise.all(some.map((one) => this.#write([one])))
      else some[0]?.reject(error)
      return
    }
    for (const { resolve } of some) resolve(isWritten)
  }
}

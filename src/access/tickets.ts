import { hash, randomUUID } from 'node:crypto'
import type { Database } from '../database/database.ts'
import type { Library } from '../library/library.ts'
import { type FileId, idToBytes } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'

/** What a ticket opens. */
export type TicketOperation = 'download' | 'download-blocks'

export interface TicketWish {
  readonly operation: TicketOperation
  readonly path: LibraryPath
  readonly objectId: FileId
  /** False: the first use burns it. */
  readonly reusable: boolean
}

/** Hands out tickets: opaque texts that open one transfer for a while. Only their hashes are kept. */
export class Tickets {
  readonly #db: Database
  readonly #now: () => number
  readonly #lifeSeconds: number

  constructor(db: Database, now: () => number, lifeSeconds: number) {
    this.#db = db
    this.#now = now
    this.#lifeSeconds = lifeSeconds
  }

  async issue(library: Library, wish: TicketWish): Promise<string> {
    const ticket = randomUUID()
    const row = [
      hash('sha256', ticket, 'buffer'),
      wish.operation,
      library.info.key,
      library.actor.key,
      wish.path,
      idToBytes(wish.objectId),
      wish.reusable ? 1 : 0,
      this.#now() + this.#lifeSeconds,
    ]
    // Lost in a power cut, a ticket is simply asked for again.
    await this.#db.write((tx) => tx.insert('ticket', COLUMNS, [row]), { durable: false })
    return ticket
  }

  /** Start-up and upkeep: tickets nobody can use any more. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => tx.run('delete from ticket where expires_at <= ?', this.#now()), {
      durable: false,
    })
  }
}

const COLUMNS = [
  'hash',
  'operation',
  'library_key',
  'account_key',
  'path',
  'object_id',
  'reusable',
  'expires_at',
]

import { hash, randomUUID } from 'node:crypto'
import type { Database } from '../database/database.ts'
import { writeIfSpace } from '../database/spare-write.ts'
import { fail } from '../errors.ts'
import type { ScopedTokens } from '../identity/scoped-tokens.ts'
import type { Library } from '../library/library.ts'
import type { FsId } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { Access } from './access.ts'
import { TicketInserts } from './ticket-inserts.ts'
import { deleteTicket, deleteTicketsBefore, findTicket, type TicketRow } from './ticket-store.ts'

const MOST_REMEMBERED = 10_000

/** What a ticket opens. */
export type TicketOperation =
  | 'download'
  | 'view'
  | 'download-blocks'
  | 'upload'
  | 'upload-blocks'
  | 'update'
  | 'update-blocks'
  | 'archive'

export interface TicketWish {
  readonly operation: TicketOperation
  /** The file or folder it is bound to. */
  readonly path: LibraryPath
  /** The object it delivers, whatever becomes of the path. */
  readonly objectId?: FsId
  /** When that object became the content of the path, Unix seconds. */
  readonly modifiedAt?: number
  /** False: the first use burns it. */
  readonly reusable: boolean
  /** The link it is given out by: it ends with it, and when it expires. */
  readonly link?: { readonly key: number; readonly expiresAt: number | undefined } | undefined
}

/** A ticket presented, with its library opened anew for the account it was issued to. */
export interface TicketUse {
  readonly operation: TicketOperation
  readonly path: LibraryPath
  readonly objectId: FsId | undefined
  readonly modifiedAt: number | undefined
  readonly library: Library
  /** Whether a link gave it out, so that its holder need have no account. */
  readonly isOfLink: boolean
  /** To be called when the answer starts. False if it was a one-time ticket somebody else used first. */
  burn(): Promise<boolean>
}

/** Hands out tickets: opaque texts that open one transfer for a while. Only their hashes are kept. */
export class Tickets {
  readonly #db: Database
  readonly #access: Access
  readonly #scopedTokens: ScopedTokens
  readonly #now: () => number
  readonly #lifeSeconds: number
  readonly #inserts: TicketInserts
  /** Tickets used before. Only their end can change what they say; accounts and libraries are looked up each time. */
  readonly #reusable = new Map<string, TicketRow>()
  /** What a full disk could not take: files can be read all the same. */
  readonly #unwritten = new Map<string, TicketRow>()
  /** Used up, though a full disk still has them. */
  readonly #burnt = new Set<string>()

  constructor(
    db: Database,
    access: Access,
    scopedTokens: ScopedTokens,
    now: () => number,
    lifeSeconds: number,
  ) {
    this.#db = db
    this.#access = access
    this.#scopedTokens = scopedTokens
    this.#now = now
    this.#lifeSeconds = lifeSeconds
    this.#inserts = new TicketInserts(db)
  }

  async issue(library: Library, wish: TicketWish): Promise<string> {
    const ticket = randomUUID()
    const row: TicketRow = {
      operation: wish.operation,
      libraryKey: library.info.key,
      subKey: library.info.sub?.key,
      accountKey: library.actor.key,
      scopedTokenKey: library.actor.scope?.tokenKey,
      path: wish.path,
      objectId: wish.objectId,
      modifiedAt: wish.modifiedAt,
      reusable: wish.reusable,
      expiresAt: Math.min(this.#now() + this.#lifeSeconds, wish.link?.expiresAt ?? Number.MAX_SAFE_INTEGER),
      linkKey: wish.link?.key,
    }
    if (!(await this.#inserts.add(hashOf(ticket), row))) remember(this.#unwritten, ticket, row)
    return ticket
  }

  /**
   * Throws ticket-not-found for what is unknown, expired or used up, and for a ticket whose account or
   * library is gone; permission-denied if the account may no longer read the library.
   */
  async present(ticket: string): Promise<TicketUse> {
    const found = this.#find(ticket)
    const row = (found instanceof Promise ? await found : found) ?? fail({ code: 'ticket-not-found' })
    const opened = await this.#open(row)
    // Visitors of a link act as its maker, but take nothing away (one door: EditableLibrary).
    const library = row.linkKey === undefined ? opened : opened?.addingOnly()
    const { operation, path, objectId, modifiedAt, reusable } = row
    return {
      operation,
      path,
      objectId,
      modifiedAt,
      library: library ?? fail({ code: 'ticket-not-found' }),
      isOfLink: row.linkKey !== undefined,
      burn: async () => reusable || this.#burn(ticket),
    }
  }

  async #burn(ticket: string): Promise<boolean> {
    if (this.#unwritten.has(ticket)) return this.#unwritten.delete(ticket)
    if (this.#burnt.has(ticket)) return false
    let isMine = true
    const isWritten = await writeIfSpace(this.#db, async (tx) => {
      isMine = await deleteTicket(tx, hashOf(ticket))
    })
    if (isWritten) return isMine
    isMine = !this.#burnt.has(ticket)
    if (this.#burnt.size === MOST_REMEMBERED) this.#burnt.clear()
    this.#burnt.add(ticket)
    return isMine
  }

  /** The library of a ticket in use, opened anew. Undefined if account, library or scoped token are gone. */
  async reopen({ actor, info, right }: Library): Promise<Library | undefined> {
    const scopedTokenKey = actor.scope?.tokenKey
    const keys = { accountKey: actor.key, libraryKey: info.key, subKey: info.sub?.key, scopedTokenKey }
    const opened = await this.#open(keys)
    return right.addsOnly ? opened?.addingOnly() : opened
  }

  async #open(
    row: Pick<TicketRow, 'accountKey' | 'libraryKey' | 'subKey' | 'scopedTokenKey'>,
  ): Promise<Library | undefined> {
    if (row.scopedTokenKey === undefined) return this.#access.openByKey(row.accountKey, row)
    const actor = await this.#scopedTokens.findActor(row.scopedTokenKey)
    return actor && this.#access.openWithin(actor, row)
  }

  /** Not a promise if it was used before. */
  #find(ticket: string): TicketRow | undefined | Promise<TicketRow | undefined> {
    const known = this.#reusable.get(ticket) ?? this.#unwritten.get(ticket)
    if (known === undefined) return this.#lookUp(ticket)
    return known.expiresAt > this.#now() ? known : undefined
  }

  async #lookUp(ticket: string): Promise<TicketRow | undefined> {
    if (this.#burnt.has(ticket)) return undefined
    const row = await findTicket(this.#db, hashOf(ticket), this.#now())
    // A ticket of a link can end with the link at any time.
    if (row?.reusable !== true || row.linkKey !== undefined) return row
    remember(this.#reusable, ticket, row)
    return row
  }

  /** Start-up and upkeep: tickets nobody can use any more. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteTicketsBefore(tx, this.#now()), { durable: false })
  }
}

function remember(rows: Map<string, TicketRow>, ticket: string, row: TicketRow): void {
  if (rows.size === MOST_REMEMBERED) rows.clear()
  rows.set(ticket, row)
}

function hashOf(ticket: string): Buffer {
  return hash('sha256', ticket, 'buffer')
}

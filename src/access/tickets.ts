import { hash, randomUUID } from 'node:crypto'
import { type Database, DatabaseError, writeIfSpace } from '../database/index.ts'
import { DomainError, fail } from '../errors.ts'
import { type CredentialOrigins, credentialOriginOf } from '../identity/index.ts'
import type { Library } from '../library/index.ts'
import { type FsId, isWithin, type LibraryPath } from '../objects/index.ts'
import type { Access } from './access.ts'
import { findLinkState } from './link-store.ts'
import { TicketInserts } from './ticket-inserts.ts'
import { bindTicket, deleteTicket, deleteTicketsBefore, findTicket, type TicketRow } from './ticket-store.ts'

const MOST_IN_MEMORY = 10_000

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

export interface TicketOptions {
  readonly operation: TicketOperation
  /** The file or folder it is bound to. */
  readonly path: LibraryPath
  /** The one file an update ticket replaces, if it is known; otherwise the first one within `path` that it is used for. */
  readonly target?: LibraryPath | undefined
  /** The object it delivers, whatever becomes of the path. */
  readonly objectId?: FsId
  /** When that object became the content of the path, Unix seconds. */
  readonly modifiedAt?: number
  /** False: the first use burns it. */
  readonly reusable: boolean
  /** The link it is given out by: it ends with it, and when it is changed or expires. */
  readonly link?: TicketLink | undefined
}

/** A link that gives out tickets, and how it was when it did. */
export interface TicketLink {
  readonly key: number
  readonly epoch: number
  readonly expiresAt: number | undefined
  /** The API token of the visitor of a link for named people: what they were given ends with their session. */
  readonly visitorTokenKey: number | undefined
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
  /** The link it was given out by. */
  readonly linkKey: number | undefined
  /** To be called when the answer starts. False if it was a one-time ticket somebody else used first. */
  burn(): Promise<boolean>
  /** Binds an update ticket to the file it replaces. Throws permission-denied for any but the first file. */
  bind(target: LibraryPath): Promise<void>
  /** The library as the ticket opens it by now: for what took a while. Throws as present. */
  reopen(): Promise<Library>
}

/**
 * Hands out tickets: opaque texts that open one transfer for a while. Only their hashes are stored, with what they were
 * derived from. Each use reads the ticket and checks its origin, link and library anew: nothing is cached.
 */
export class Tickets {
  readonly #db: Database
  readonly #access: Access
  readonly #origins: CredentialOrigins
  readonly #now: () => number
  readonly #lifeSeconds: number
  readonly #inserts: TicketInserts
  /** Tickets a full disk could not take: files can be read all the same. They are checked as those in the database are. */
  readonly #unwritten = new Map<string, TicketRow>()
  /** Used up, though a full disk still has them. */
  readonly #burnt = new Set<string>()

  constructor(
    db: Database,
    access: Access,
    origins: CredentialOrigins,
    now: () => number,
    lifeSeconds: number,
  ) {
    this.#db = db
    this.#access = access
    this.#origins = origins
    this.#now = now
    this.#lifeSeconds = lifeSeconds
    this.#inserts = new TicketInserts(db)
  }

  /** Throws permission-denied if the caller was signed out, or the library went, while it was issued. */
  async issue(library: Library, options: TicketOptions): Promise<string> {
    const ticket = randomUUID()
    const { link } = options
    const origin = credentialOriginOf(library.actor)
    const row: TicketRow = {
      operation: options.operation,
      libraryKey: library.info.key,
      libraryEpoch: library.info.epoch,
      subKey: library.info.sub?.key,
      // A link does not end with the sign-ins of who made it.
      origin:
        link === undefined ? origin : { ...origin, epoch: undefined, apiTokenKey: link.visitorTokenKey },
      path: options.path,
      target: options.target,
      objectId: options.objectId,
      modifiedAt: options.modifiedAt,
      reusable: options.reusable,
      expiresAt: Math.min(this.#now() + this.#lifeSeconds, link?.expiresAt ?? Number.MAX_SAFE_INTEGER),
      link: link && { key: link.key, epoch: link.epoch },
    }
    if (!(await this.#insert(ticket, row))) this.#keepInMemory(ticket, row)
    return ticket
  }

  /**
   * Throws ticket-not-found for what is unknown, expired or used up, and for a ticket whose origin, link or
   * library has ended; permission-denied if the account may no longer read the library.
   */
  async present(ticket: string): Promise<TicketUse> {
    const row = await this.#find(ticket)
    const library = await this.#open(row)
    const { operation, path, objectId, modifiedAt, reusable } = row
    return {
      operation,
      path,
      objectId,
      modifiedAt,
      library,
      isOfLink: row.link !== undefined,
      linkKey: row.link?.key,
      burn: async () => reusable || this.#burn(ticket),
      bind: (target) => this.#bind(ticket, row, target),
      reopen: async () => this.#open(await this.#find(ticket)),
    }
  }

  /** Whether a ticket would open something now. */
  async isValid(ticket: string): Promise<boolean> {
    try {
      await this.#open(await this.#find(ticket))
      return true
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  async #insert(ticket: string, row: TicketRow): Promise<boolean> {
    try {
      return await this.#inserts.add(hashOf(ticket), row)
    } catch (error) {
      // Its token, link or library is gone by now.
      if (error instanceof DatabaseError && error.reason === 'foreign-key')
        fail({ code: 'permission-denied' })
      throw error
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
    if (this.#burnt.size === MOST_IN_MEMORY) this.#burnt.clear()
    this.#burnt.add(ticket)
    return isMine
  }

  async #bind(ticket: string, row: TicketRow, target: LibraryPath): Promise<void> {
    if (!isWithin(target, row.path)) fail({ code: 'permission-denied' })
    const kept = this.#unwritten.get(ticket)
    const bound = kept === undefined ? row.target : kept.target
    if (bound === target) return
    if (bound !== undefined) fail({ code: 'permission-denied' })
    if (kept !== undefined) this.#unwritten.set(ticket, { ...kept, target })
    else {
      const isBound = await this.#db.write((tx) => bindTicket(tx, hashOf(ticket), target), { durable: false })
      if (!isBound) fail({ code: 'permission-denied' })
    }
  }

  /** Opens what a ticket opens, for whom it was issued to. */
  async #open(row: TicketRow): Promise<Library> {
    const [actor, isLinked] = await Promise.all([this.#origins.findActor(row.origin), this.#isLinked(row)])
    const opened = actor && isLinked ? await this.#access.reopen(actor, row) : undefined
    const library = opened ?? fail({ code: 'ticket-not-found' })
    // Visitors of a link act as its maker, but can only add (one door: EditableLibrary).
    return row.link === undefined ? library : library.addingOnly()
  }

  /** Whether the link that gave it out is as it was. */
  async #isLinked({ link }: TicketRow): Promise<boolean> {
    if (link === undefined) return true
    const state = await findLinkState(this.#db, link.key)
    return state?.isActive === true && state.epoch === link.epoch
  }

  async #find(ticket: string): Promise<TicketRow> {
    const kept = this.#unwritten.get(ticket)
    const row = kept ?? (this.#burnt.has(ticket) ? undefined : await findTicket(this.#db, hashOf(ticket)))
    return row !== undefined && row.expiresAt > this.#now() ? row : fail({ code: 'ticket-not-found' })
  }

  /** Start-up and periodic job: tickets nobody can use any more. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteTicketsBefore(tx, this.#now()), { durable: false })
  }

  #keepInMemory(ticket: string, row: TicketRow): void {
    if (this.#unwritten.size === MOST_IN_MEMORY) this.#unwritten.clear()
    this.#unwritten.set(ticket, row)
  }
}

function hashOf(ticket: string): Buffer {
  return hash('sha256', ticket, 'buffer')
}

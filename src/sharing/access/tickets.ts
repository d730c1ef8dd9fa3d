import { hash, randomUUID } from 'node:crypto'
import { DomainError, fail } from '../../base/errors.ts'
import type { FsId } from '../../base/objects/index.ts'
import { isWithin, type LibraryPath } from '../../base/paths/index.ts'
import { type MaybePromise, TwoGenerationCache, whenReady } from '../../base/scheduling/index.ts'
import type { Library, LibraryCore } from '../../libraries/library/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type CredentialOrigins, credentialOriginOf } from '../../people/credentials/index.ts'
import { type Database, DatabaseError, writeIfSpace } from '../../platform/database/index.ts'
import type { Access } from './access.ts'
import type { Sender } from './link.ts'
import { findLinkState } from './link-store.ts'
import { TicketInserts } from './ticket-inserts.ts'
import { bindTicket, deleteTicket, deleteTicketsBefore, findTicket, type TicketRow } from './ticket-store.ts'

const MAX_IN_MEMORY = 10_000
const MAX_HASHES = 2000
/** Of a UUID. */
const TICKET_LENGTH = 36
/** Operations that need the key of an encrypted library. Archives have a sealed key of their own. */
const decrypting: ReadonlySet<TicketOperation> = new Set(['download', 'view', 'upload', 'update'])

/** The operation that a ticket permits. */
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
  /**
   * The only file an update ticket replaces, if known. Otherwise the first one within `path` that it is used
   * for.
   */
  readonly target?: LibraryPath | undefined
  /** The object it delivers, even if the path changes. */
  readonly objectId?: FsId
  /** Time when that object became the content of the path, Unix seconds. */
  readonly modifiedAt?: number
  /** If false, the first use consumes it. */
  readonly reusable: boolean
  /** The link that issued it. The ticket ends when the link is deleted, changed or expires. */
  readonly link?: TicketLink | undefined
  /** The visitor of an upload link, if it asks who they are. */
  readonly sender?: Sender | undefined
}

/** The link that issued a ticket, with its epoch at that time. */
export interface TicketLink {
  readonly key: number
  readonly epoch: number
  readonly expiresAt: number | undefined
  /** The API token of the visitor, if the link is for named people. The ticket ends with it. */
  readonly visitorTokenKey: number | undefined
}

/** A presented ticket. Its library was opened again for the account it was issued to. */
export interface TicketUse {
  readonly operation: TicketOperation
  readonly path: LibraryPath
  readonly objectId: FsId | undefined
  readonly modifiedAt: number | undefined
  readonly library: Library
  /** Whether a link issued it. Its holder may then have no account. */
  readonly isOfLink: boolean
  /** The link that issued it. */
  readonly linkKey: number | undefined
  /** The visitor of an upload link, if it asks who they are. */
  readonly sender: Sender | undefined
  /** Call it when the response starts. False if another request already used the one-time ticket. */
  consume(): MaybePromise<boolean>
  /** Binds an update ticket to the file it replaces. Throws permission-denied for any other file. */
  bind(target: LibraryPath): Promise<void>
  /** Opens the library again with the current permission, for long transfers. Throws as present. */
  reopen(): Promise<Library>
}

/**
 * Issues tickets: opaque short-lived credentials for one transfer. Only their hashes are stored, with their
 * origin. Each use reads the ticket and checks its origin, link and library again: nothing is cached.
 */
export class Tickets {
  readonly #db: Database
  readonly #access: Access
  readonly #origins: CredentialOrigins
  readonly #now: () => number
  readonly #lifeSeconds: number
  readonly #keys: LibraryCore['keys']
  readonly #inserts: TicketInserts
  /**
   * Tickets that a full disk could not store, so that files can still be read, by their hashes in hex. They are checked like stored
   * ones.
   */
  readonly #unwritten = new Map<string, TicketRow>()
  /** Consumed tickets that a full disk could not delete. */
  readonly #consumed = new Set<string>()

  constructor(
    db: Database,
    access: Access,
    origins: CredentialOrigins,
    now: () => number,
    lifeSeconds: number,
    keys: LibraryCore['keys'],
  ) {
    this.#db = db
    this.#access = access
    this.#origins = origins
    this.#now = now
    this.#lifeSeconds = lifeSeconds
    this.#keys = keys
    this.#inserts = new TicketInserts(db)
  }

  /** The form in which tickets are stored, also by other modules. */
  static readonly hashOf = ticketHash

  /** Throws permission-denied if the caller's credential was revoked, or the library deleted, meanwhile. */
  async issue(library: Library, options: TicketOptions): Promise<string> {
    const ticket = randomUUID()
    const { link } = options
    const origin = credentialOriginOf(library.actor)
    const row: TicketRow = {
      operation: options.operation,
      libraryKey: library.info.key,
      libraryEpoch: library.info.epoch,
      subKey: library.info.sub?.key,
      // A link outlives the sessions of its creator.
      origin:
        link === undefined ? origin : { ...origin, epoch: undefined, apiTokenKey: link.visitorTokenKey },
      path: options.path,
      target: options.target,
      objectId: options.objectId,
      modifiedAt: options.modifiedAt,
      reusable: options.reusable,
      expiresAt: Math.min(this.#now() + this.#lifeSeconds, link?.expiresAt ?? Number.MAX_SAFE_INTEGER),
      link: link && { key: link.key, epoch: link.epoch },
      sender: options.sender,
    }
    if (!(await this.#insert(ticket, row))) this.#keepInMemory(ticket, row)
    else if (decrypting.has(options.operation)) await this.#keys.passTo(library, ticket)
    return ticket
  }

  /**
   * Throws ticket-not-found for an unknown, expired or consumed ticket, and for one whose origin, link or
   * library has ended; permission-denied if the account may no longer read the library.
   */
  present(ticket: string): MaybePromise<TicketUse> {
    return whenReady(this.#find(ticket), (row) =>
      whenReady(this.#openFor(ticket, row), (library) => this.#useOf(ticket, row, library)),
    )
  }

  #useOf(ticket: string, row: TicketRow, library: Library): TicketUse {
    const { operation, path, objectId, modifiedAt, reusable } = row
    return {
      operation,
      path,
      objectId,
      modifiedAt,
      library,
      isOfLink: row.link !== undefined,
      linkKey: row.link?.key,
      sender: row.sender,
      consume: () => reusable || this.#consume(ticket),
      bind: (target) => this.#bind(ticket, row, target),
      reopen: async () => this.#openFor(ticket, await this.#find(ticket)),
    }
  }

  /** Whether a ticket is valid now. */
  async isValid(ticket: string): Promise<boolean> {
    try {
      await this.#open(await this.#find(ticket))
      return true
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  /** The library of a ticket that is valid now, by its hash. For work that continues without its holder. */
  async findLibrary(hash: Uint8Array): Promise<Library | undefined> {
    const row = await this.#read(hash)
    if (row === undefined || row.expiresAt <= this.#now()) return undefined
    try {
      return await this.#open(row)
    } catch (error) {
      if (error instanceof DomainError) return undefined
      throw error
    }
  }

  async #insert(ticket: string, row: TicketRow): Promise<boolean> {
    try {
      return await this.#inserts.add(ticketHash(ticket), row)
    } catch (error) {
      // Its token, link or library was deleted meanwhile.
      if (error instanceof DatabaseError && error.reason === 'foreign-key')
        fail({ code: 'permission-denied' })
      throw error
    }
  }

  async #consume(ticket: string): Promise<boolean> {
    if (this.#unwritten.delete(memoryKey(ticketHash(ticket)))) return true
    if (this.#consumed.has(ticket)) return false
    let isMine = true
    const isWritten = await writeIfSpace(this.#db, async (tx) => {
      isMine = await deleteTicket(tx, ticketHash(ticket))
    })
    if (isWritten) return isMine
    isMine = !this.#consumed.has(ticket)
    if (this.#consumed.size === MAX_IN_MEMORY) this.#consumed.clear()
    this.#consumed.add(ticket)
    return isMine
  }

  async #bind(ticket: string, row: TicketRow, target: LibraryPath): Promise<void> {
    if (!isWithin(target, row.path)) fail({ code: 'permission-denied' })
    const kept = this.#unwritten.get(memoryKey(ticketHash(ticket)))
    const bound = kept === undefined ? row.target : kept.target
    if (bound === target) return
    if (bound !== undefined) fail({ code: 'permission-denied' })
    if (kept !== undefined) this.#unwritten.set(memoryKey(ticketHash(ticket)), { ...kept, target })
    else {
      const isBound = await this.#db.write((tx) => bindTicket(tx, ticketHash(ticket), target), {
        durable: 'replicated',
      })
      if (!isBound) fail({ code: 'permission-denied' })
    }
  }

  /** As `#open`, for the holder of the ticket, which may open the key of an encrypted library. */
  #openFor(ticket: string, row: TicketRow): MaybePromise<Library> {
    return whenReady(this.#open(row), (library) => {
      this.#keys.noteTicket(library, ticket)
      return library
    })
  }

  /** Opens the library of a ticket for the account it was issued to. */
  #open(row: TicketRow): MaybePromise<Library> {
    const { link } = row
    if (link === undefined)
      return whenReady(this.#origins.findActor(row.origin), (one) => this.#openAs(one, row))
    return this.#openLinked(row, link)
  }

  #openAs(actor: Account | undefined, row: TicketRow): MaybePromise<Library> {
    const opened = actor && this.#access.reopen(actor, row)
    return whenReady(opened, (library) => library ?? fail({ code: 'ticket-not-found' }))
  }

  /** Visitors of a link act as its creator, but may only add (see EditableLibrary). */
  async #openLinked(
    row: TicketRow,
    link: { readonly key: number; readonly epoch: number },
  ): Promise<Library> {
    const [actor, state] = await Promise.all([
      this.#origins.findActor(row.origin),
      findLinkState(this.#db, link.key),
    ])
    // The link must be unchanged.
    if (state?.isActive !== true || state.epoch !== link.epoch) fail({ code: 'ticket-not-found' })
    return (await this.#openAs(actor, row)).addingOnly()
  }

  #find(ticket: string): MaybePromise<TicketRow> {
    const read = this.#consumed.has(ticket) ? undefined : this.#read(ticketHash(ticket))
    return whenReady(read, (row) =>
      row !== undefined && row.expiresAt > this.#now() ? row : fail({ code: 'ticket-not-found' }),
    )
  }

  #read(hash: Uint8Array): MaybePromise<TicketRow | undefined> {
    const kept = this.#unwritten.size === 0 ? undefined : this.#unwritten.get(memoryKey(hash))
    return kept ?? findTicket(this.#db, hash)
  }

  /** Deletes expired tickets, at the start and as maintenance. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteTicketsBefore(tx, this.#now()), { durable: false })
  }

  #keepInMemory(ticket: string, row: TicketRow): void {
    if (this.#unwritten.size === MAX_IN_MEMORY) this.#unwritten.clear()
    this.#unwritten.set(memoryKey(ticketHash(ticket)), row)
  }
}

const memoryKey = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** Hashes of tickets that came lately: a client that reads a file in ranges sends the same one each time. What is cached says nothing about validity. */
const hashes = new TwoGenerationCache<string, Buffer>(MAX_HASHES, () => 1)

/** The form in which a ticket is stored. The bytes are shared. */
function ticketHash(ticket: string): Buffer {
  const known = hashes.get(ticket)
  if (known !== undefined) return known
  const made = hash('sha256', ticket, 'buffer')
  // A copy, because the text of a request may retain its whole URL.
  if (ticket.length === TICKET_LENGTH) hashes.set(Buffer.from(ticket).toString(), made)
  return made
}

import { hash } from 'node:crypto'
import {
  type Guest,
  guestOf,
  type Reservation,
  type TicketOperation,
  type TicketUse,
  type UploadSource,
} from '../access/index.ts'
import type { DataKey } from '../content/index.ts'
import type { Transaction } from '../database/index.ts'
import { fail } from '../errors.ts'
import { boundaryOf, type HttpRequest, MultipartStream, type RequestBody } from '../http/index.ts'
import type { EditableLibrary, Library } from '../library/index.ts'
import type { LibraryPath } from '../objects/index.ts'
import type { TransferServices } from './services.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import { uploadError } from './upload-errors.ts'
import { type ChunkRange, readChunkRange } from './upload-range.ts'

/** Bytes of a text in a form: a path, at most. */
const LONGEST_TEXT = 64 * 1024

/**
 * One request that brings bytes, from the moment its head was found in order. Disposing gives back
 * what was set aside for it and removes what it left on the way.
 */
export class UploadSession implements AsyncDisposable {
  readonly request: HttpRequest
  readonly library: Library
  /** What the ticket is bound to. */
  readonly ticketPath: LibraryPath
  /** Whether a link gave out the ticket. */
  readonly isOfLink: boolean
  /** Where its chunks come from, and whose bytes they are. */
  readonly source: UploadSource
  readonly guest: Guest
  /** What the chunks of somebody without an account belong together by; undefined for the holder of an account. */
  readonly visitor: string | undefined
  readonly range: ChunkRange | undefined
  readonly form: MultipartStream
  /** What the library is encrypted with; undefined for a plain one, and for blocks, which come encrypted. */
  readonly dataKey: DataKey | undefined
  /** Of the whole file, announced in the head of the request. */
  readonly fileDigest: AnnouncedDigest | undefined
  readonly #services: TransferServices
  readonly #use: TicketUse
  readonly #bodyDigest: AnnouncedDigest | undefined
  /** What else is to be let go of; most requests have nothing. */
  #owned: AsyncDisposableStack | undefined
  #reservation: Reservation | undefined
  /** Bytes that came in so far, of a body that did not say how long it is. */
  #received = 0

  private constructor(services: TransferServices, request: HttpRequest, use: TicketUse, head: CheckedHead) {
    this.#services = services
    this.#use = use
    this.request = request
    // A visitor of a link spends the share of their address, not that of the account that made the link.
    if (!use.isOfLink) request.chargeTo(String(use.library.actor.key))
    this.library = use.library
    this.ticketPath = use.path
    this.isOfLink = use.isOfLink
    this.source = sourceOf(use)
    this.guest = guestOf(use.library, use.isOfLink)
    this.visitor = use.isOfLink ? head.ticketHash : undefined
    this.range = head.range
    this.fileDigest = AnnouncedDigest.read(request.headers['repr-digest'])
    this.#bodyDigest = AnnouncedDigest.read(request.headers['content-digest'])
    this.#reservation = head.reservation
    this.dataKey = head.dataKey
    // What was begun with the key ends with it, however long it takes.
    if (head.dataKey !== undefined) this.#things().use(head.dataKey.lease())
    this.form = new MultipartStream((lend) => this.#read(lend, head), head.boundary, {
      malformed,
      maxTextBytes: LONGEST_TEXT,
    })
  }

  /**
   * Checks the head of a request in the order clients rely on: ticket, operation, library, range, quota,
   * size, form. Throws refusals, ticket-not-found, permission-denied, quota-exceeded, password-needed.
   */
  static async open(
    services: TransferServices,
    request: HttpRequest,
    body: RequestBody,
    ticket: string,
    operation: TicketOperation | BlockOperations,
  ): Promise<UploadSession> {
    const use = await services.tickets.present(ticket)
    const takesBlocks = Array.isArray(operation)
    if (takesBlocks ? !operation.includes(use.operation) : use.operation !== operation) {
      throw uploadError(403, 'Operation does not match access token.')
    }
    const { info } = use.library
    if (info.status === 'read-only') throw uploadError(403, 'Repo status not writable.')
    const range = readChunkRange(request.headers['content-range'])
    const declared = range?.total ?? lengthOf(request)
    const guest = guestOf(use.library, use.isOfLink)
    const reservation =
      declared === undefined ? undefined : await reserve(services, use, guest, declared, range)
    try {
      const room = declared === undefined ? await services.quotas.roomLeft(info, guest) : undefined
      const { upload: limit } = services.transferLimits
      if (limit !== undefined && declared !== undefined && declared > limit) throw tooLarge()
      // Blocks come as the client encrypted them; a file is encrypted here.
      const dataKey = takesBlocks ? undefined : services.core.keys.keyFor(use.library)
      const boundary = multipartBoundary(request.headers['content-type'])
      if (boundary === undefined) throw uploadError(400, 'Wrong boundary in url')
      const ticketHash = hash('sha256', ticket)
      const head = { body, boundary, range, declared, reservation, room, limit, dataKey, ticketHash }
      return new UploadSession(services, request, use, head)
    } catch (error) {
      await reservation?.[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Has something disposed of with the session, whatever becomes of it. */
  own<T extends AsyncDisposable>(thing: T): T {
    return this.#things().use(thing)
  }

  /**
   * To be called after the last byte. Throws a refusal if the body is not the one that was announced, and
   * quota-exceeded for one whose length nobody knew before. Not a promise when there is nothing to wait for.
   */
  checkBody(): Promise<void> | undefined {
    this.#bodyDigest?.check()
    return this.#reservation === undefined ? this.#reserve() : undefined
  }

  async #reserve(): Promise<void> {
    const { library, guest } = this
    this.#reservation = await this.#services.quotas.reserve(library.info, this.#received, { guest })
  }

  /**
   * The library to be changed at `path`, as the ticket opens it now: the right may have ended while bytes were coming in.
   * Throws permission-denied, ticket-not-found.
   */
  async editable(path: LibraryPath): Promise<EditableLibrary> {
    const library = await this.#use.reopen()
    if (library.info.status === 'read-only') throw uploadError(403, 'Repo status not writable.')
    return library.editable(path)
  }

  /** Binds an update ticket to the file it replaces. Throws permission-denied for another one than the first. */
  bind(target: LibraryPath): Promise<void> {
    return this.#use.bind(target)
  }

  /** Of the bytes set aside; undefined where nothing is limited. */
  get reservationKey(): number | undefined {
    return this.#reservation?.key
  }

  /** Gives back what was set aside, as part of the commit. */
  async settle(tx: Transaction): Promise<void> {
    await this.#reservation?.settle(tx)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.disposeAsync()
    await this.#reservation?.[Symbol.asyncDispose]()
  }

  #things(): AsyncDisposableStack {
    this.#owned ??= new AsyncDisposableStack()
    return this.#owned
  }

  #read(lend: boolean, head: CheckedHead): Buffer | undefined | Promise<Buffer | undefined> {
    const piece = head.body.read(lend)
    return piece instanceof Promise ? piece.then((come) => this.#see(come, head)) : this.#see(piece, head)
  }

  /** Every byte of the body, in order. */
  #see(piece: Buffer | undefined, { declared, limit, room }: CheckedHead): Buffer | undefined {
    if (piece === undefined) return undefined
    this.#bodyDigest?.update(piece)
    if (declared !== undefined) return piece
    this.#received += piece.length
    if (room !== undefined && this.#received >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })
    if (limit !== undefined && this.#received > limit) throw tooLarge()
    return piece
  }
}

/** The operations that bring blocks instead of files. */
type BlockOperations = readonly ('upload-blocks' | 'update-blocks')[]

interface CheckedHead {
  readonly body: RequestBody
  readonly boundary: string
  readonly range: ChunkRange | undefined
  /** Bytes; undefined for a body that does not say. */
  readonly declared: number | undefined
  readonly reservation: Reservation | undefined
  readonly room: { left: number; limit: number } | undefined
  /** Most bytes of an upload. */
  readonly limit: number | undefined
  readonly dataKey: DataKey | undefined
  readonly ticketHash: string
}

function sourceOf({ library, linkKey = 0 }: TicketUse): UploadSource {
  return { libraryKey: library.info.key, accountKey: library.actor.key, linkKey }
}

/** Of a chunk what is still to come of its file: the rest is stored. One at the start may replace what came before. */
function reserve(
  { quotas }: TransferServices,
  use: TicketUse,
  guest: Guest,
  declared: number,
  range: ChunkRange | undefined,
): Promise<Reservation> {
  const { info } = use.library
  if (range === undefined) return quotas.reserve(info, declared, { guest })
  const restarted = range.start === 0 ? { restarted: { ...sourceOf(use), total: range.total } } : {}
  return quotas.reserve(info, range.total - range.start, { guest, ...restarted })
}

function lengthOf({ headers }: HttpRequest): number | undefined {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : undefined
}

function multipartBoundary(contentType = ''): string | undefined {
  return /^\s*multipart\//i.test(contentType) ? boundaryOf(contentType) : undefined
}

function malformed(reason: string): Error {
  return uploadError(400, `Malformed form: ${reason}.`)
}

function tooLarge(): Error {
  return uploadError(442, 'File size is too large.')
}

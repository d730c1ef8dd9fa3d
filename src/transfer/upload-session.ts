import { hash } from 'node:crypto'
import type { Reservation } from '../access/quota.ts'
import type { TicketOperation, TicketUse } from '../access/tickets.ts'
import type { Transaction } from '../database/database.ts'
import { fail } from '../errors.ts'
import { boundaryOf } from '../http/header-parameters.ts'
import { MultipartStream } from '../http/multipart-stream.ts'
import type { HttpRequest } from '../http/request.ts'
import type { IncomingBody } from '../http/wire/incoming-body.ts'
import type { DataKey } from '../library/data-key.ts'
import type { EditableLibrary, Library } from '../library/library.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { TransferServices } from './services.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import { uploadError } from './upload-errors.ts'
import { type ChunkRange, readChunkRange } from './upload-range.ts'

// A body that took longer than this is committed only if its sender may still do so.
const RECHECK_SECONDS = 2

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
  /** What the chunks of somebody without an account belong together by; undefined for the holder of an account. */
  readonly visitor: string | undefined
  readonly range: ChunkRange | undefined
  readonly form: MultipartStream
  /** What the library is encrypted with; undefined for a plain one, and for blocks, which come encrypted. */
  readonly dataKey: DataKey | undefined
  /** Of the whole file, announced in the head of the request. */
  readonly fileDigest: AnnouncedDigest | undefined
  readonly #services: TransferServices
  readonly #bodyDigest: AnnouncedDigest | undefined
  /** What else is to be let go of; most requests have nothing. */
  #owned: AsyncDisposableStack | undefined
  /** Unix seconds. */
  readonly #openedAt: number
  #reservation: Reservation | undefined
  /** Bytes that came in so far, of a body that did not say how long it is. */
  #received = 0

  private constructor(services: TransferServices, request: HttpRequest, use: TicketUse, head: CheckedHead) {
    this.#services = services
    this.#openedAt = services.now()
    this.request = request
    this.library = use.library
    this.ticketPath = use.path
    this.isOfLink = use.isOfLink
    this.visitor = use.isOfLink ? head.ticketHash : undefined
    this.range = head.range
    this.fileDigest = AnnouncedDigest.read(request.headers['repr-digest'])
    this.#bodyDigest = AnnouncedDigest.read(request.headers['content-digest'])
    this.#reservation = head.reservation
    this.dataKey = head.dataKey
    // What was begun with the key ends with it, however long it takes.
    if (head.dataKey !== undefined) this.#things().use(head.dataKey.lease())
    this.form = new MultipartStream((lend) => this.#read(lend, head), head.boundary, { malformed })
  }

  /**
   * Checks the head of a request in the order clients rely on: ticket, operation, library, range, quota,
   * size, form. Throws refusals, ticket-not-found, permission-denied, quota-exceeded, password-needed.
   */
  static async open(
    services: TransferServices,
    request: HttpRequest,
    body: IncomingBody,
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
    const reservation = declared === undefined ? undefined : await services.quotas.reserve(info, declared)
    try {
      const room = declared === undefined ? await services.quotas.roomLeft(info) : undefined
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
    this.#reservation = await this.#services.quotas.reserve(this.library.info, this.#received)
  }

  /** The library to be changed at `path`. Throws permission-denied. Not a promise when it is as it was opened. */
  editable(path: LibraryPath): EditableLibrary | Promise<EditableLibrary> {
    const { library } = this
    // A share, and a token with bounds (whose holder is never the owner), can be taken back while bytes are coming in.
    const isOld = !library.isOwner || this.#services.now() - this.#openedAt >= RECHECK_SECONDS
    return isOld ? this.#reopen().then((opened) => opened.editable(path)) : library.editable(path)
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

  async #reopen(): Promise<Library> {
    const library = await this.#services.tickets.reopen(this.library)
    if (library?.info.status === 'read-only') throw uploadError(403, 'Repo status not writable.')
    return library ?? fail({ code: 'ticket-not-found' })
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
  readonly body: IncomingBody
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

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
const MAX_TEXT = 64 * 1024

/**
 * One upload request, from the validation of its head. Disposing releases
 * its reservations and removes its temporary files.
 */
export class UploadSession implements AsyncDisposable {
  readonly request: HttpRequest
  readonly library: Library
  /** The target of the ticket. */
  readonly ticketPath: LibraryPath
  /** Whether the ticket was issued through a link. */
  readonly isOfLink: boolean
  /** Key of the resumable upload. */
  readonly source: UploadSource
  readonly guest: Guest
  /** Identifies the resumable upload of a visitor; undefined for an account. */
  readonly visitor: string | undefined
  readonly range: ChunkRange | undefined
  readonly form: MultipartStream
  /** The key of an encrypted library; undefined for a plain one, and for blocks, which arrive encrypted. */
  readonly dataKey: DataKey | undefined
  /** Digest of the whole file, from the request header. */
  readonly fileDigest: AnnouncedDigest | undefined
  readonly #services: TransferServices
  readonly #use: TicketUse
  readonly #bodyDigest: AnnouncedDigest | undefined
  /** Further resources to dispose of; created on demand. */
  #owned: AsyncDisposableStack | undefined
  #reservation: Reservation | undefined
  /** Received bytes of a body of unknown length. */
  #received = 0

  private constructor(services: TransferServices, request: HttpRequest, use: TicketUse, head: CheckedHead) {
    this.#services = services
    this.#use = use
    this.request = request
    // Visitors of a link use the limits of their address, not those of the link's creator.
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
    // The upload keeps its key, even if the library is locked meanwhile.
    if (head.dataKey !== undefined) this.#things().use(head.dataKey.lease())
    this.form = new MultipartStream((lend) => this.#read(lend, head), head.boundary, {
      malformed,
      maxTextBytes: MAX_TEXT,
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
      // Blocks arrive encrypted by the client; files are encrypted here.
      const dataKey = takesBlocks ? undefined : await services.core.keys.keyFor(use.library)
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

  /** Registers a resource to dispose of with the session. */
  own<T extends AsyncDisposable>(thing: T): T {
    return this.#things().use(thing)
  }

  /**
   * Called after the last byte. Throws a refusal on a digest mismatch, and
   * quota-exceeded for a body of unknown length. Synchronous if nothing has to be awaited.
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
   * Reopens the library for a change at `path`: the permission may have been revoked during the upload.
   * Throws permission-denied, ticket-not-found.
   */
  async editable(path: LibraryPath): Promise<EditableLibrary> {
    const library = await this.#use.reopen()
    if (library.info.status === 'read-only') throw uploadError(403, 'Repo status not writable.')
    return library.editable(path)
  }

  /** Binds an update ticket to the first file it replaces. Throws permission-denied for any other. */
  bind(target: LibraryPath): Promise<void> {
    return this.#use.bind(target)
  }

  /** The quota reservation; undefined if unlimited. */
  get reservationKey(): number | undefined {
    return this.#reservation?.key
  }

  /** Releases the reservation, in the transaction of the commit. */
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

/** The operations that upload blocks instead of files. */
type BlockOperations = readonly ('upload-blocks' | 'update-blocks')[]

interface CheckedHead {
  readonly body: RequestBody
  readonly boundary: string
  readonly range: ChunkRange | undefined
  /** Bytes; undefined for a body of unknown length. */
  readonly declared: number | undefined
  readonly reservation: Reservation | undefined
  readonly room: { left: number; limit: number } | undefined
  /** Maximum size of an upload in bytes. */
  readonly limit: number | undefined
  readonly dataKey: DataKey | undefined
  readonly ticketHash: string
}

function sourceOf({ library, linkKey = 0 }: TicketUse): UploadSource {
  return { libraryKey: library.info.key, accountKey: library.actor.key, linkKey }
}

/** For a chunk, the remaining bytes of its file, because the rest is already stored. A chunk at offset 0 may start over. */
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

import { hash } from 'node:crypto'
import { type LibraryPath, parentOf } from '../../base/paths/index.ts'
import type { DataKey } from '../../libraries/content/index.ts'
import type { EditableLibrary, Library } from '../../libraries/library/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { HttpRequest, RequestBody } from '../../platform/http/index.ts'
import { boundaryOf, MultipartStream } from '../../platform/input/index.ts'
import type { TicketUse } from '../../sharing/access/index.ts'
import { type Guest, guestOf, type Reservation, type UploadSource } from '../../sharing/quotas/index.ts'
import type { TransferServices } from './services.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import { type ChunkRange, readChunkRange } from './upload-range.ts'
import { uploadError } from './upload-wire.ts'

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
  /** The visitor of an upload link, if it asks who they are. */
  readonly sender: TicketUse['sender']
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
  readonly #use: TicketUse
  readonly #bodyDigest: AnnouncedDigest | undefined
  /** Further resources to dispose of; created on demand. */
  #owned: AsyncDisposableStack | undefined
  readonly #reservation: Reservation
  /** What may have got names for blocks. */
  readonly #naming: { readonly keptBytes: number }[] = []
  #isDone = false
  /** Received bytes of a body of unknown length. */
  #received = 0

  private constructor(request: HttpRequest, use: TicketUse, head: CheckedHead) {
    this.#use = use
    this.request = request
    // Visitors of a link use the limits of their address, not those of the link's creator.
    if (!use.isOfLink) request.chargeTo(String(use.library.actor.key))
    this.library = use.library
    this.ticketPath = use.path
    this.isOfLink = use.isOfLink
    this.sender = use.sender
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
    operation: TicketUse['operation'] | BlockOperations,
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
    const reservation = await reserve(services, use, guest, declared, range)
    try {
      const { upload: limit } = services.transferLimits
      if (limit !== undefined && declared !== undefined && declared > limit) throw tooLarge()
      // Blocks arrive encrypted by the client; files are encrypted here.
      const dataKey = takesBlocks ? undefined : await services.core.keys.keyFor(use.library)
      const boundary = multipartBoundary(request.headers['content-type'])
      if (boundary === undefined) throw uploadError(400, 'Wrong boundary in url')
      const ticketHash = hash('sha256', ticket)
      const head = { body, boundary, range, declared, reservation, limit, dataKey, ticketHash }
      return new UploadSession(request, use, head)
    } catch (error) {
      await reservation[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Registers received blocks to dispose of with the session. */
  own<T extends AsyncDisposable & { readonly keptBytes: number }>(blocks: T): T {
    this.#naming.push(blocks)
    return this.#things().use(blocks)
  }

  /** Called when the request has succeeded. Otherwise the bytes that have got names stay reserved. */
  done(): void {
    this.#isDone = true
  }

  /** Called after the last byte. Throws a refusal on a digest mismatch. */
  checkBody(): void {
    this.#bodyDigest?.check()
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

  /** Throws locked if another account has locked the file. */
  refuseLocked(path: LibraryPath): Promise<void> {
    return this.library.editable(parentOf(path)).refuseLockedFile(path)
  }

  /** Binds an update ticket to the first file it replaces. Throws permission-denied for any other. */
  bind(target: LibraryPath): Promise<void> {
    return this.#use.bind(target)
  }

  /** The quota reservation; undefined if unlimited. */
  get reservationKey(): number | undefined {
    return this.#reservation.key
  }

  /** Releases the reservation, in the transaction of the commit. */
  async settle(tx: Transaction): Promise<void> {
    await this.#reservation.settle(tx)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned?.disposeAsync()
    if (!this.#isDone)
      this.#reservation.leave(this.#naming.reduce((sum, { keptBytes }) => sum + keptBytes, 0))
    await this.#reservation[Symbol.asyncDispose]()
  }

  #things(): AsyncDisposableStack {
    this.#owned ??= new AsyncDisposableStack()
    return this.#owned
  }

  #read(lend: boolean, head: CheckedHead): Buffer | undefined | Promise<Buffer | undefined> {
    const piece = head.body.read(lend)
    return piece instanceof Promise ? piece.then((come) => this.#see(come, head)) : this.#see(piece, head)
  }

  /** Every byte of the body, in order. Throws quota-exceeded for a body of unknown length. */
  #see(
    piece: Buffer | undefined,
    { declared, limit }: CheckedHead,
  ): Buffer | undefined | Promise<Buffer | undefined> {
    if (piece === undefined) return undefined
    this.#bodyDigest?.update(piece)
    if (declared !== undefined) return piece
    this.#received += piece.length
    if (limit !== undefined && this.#received > limit) throw tooLarge()
    const growing = this.#reservation.growTo(this.#received)
    return growing === undefined ? piece : growing.then(() => piece)
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
  readonly reservation: Reservation
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
  declared: number | undefined,
  range: ChunkRange | undefined,
): Promise<Reservation> {
  const { info } = use.library
  if (declared === undefined) return quotas.reserve(info, 0, { guest, inSteps: true })
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

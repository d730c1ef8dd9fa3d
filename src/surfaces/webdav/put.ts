import { parentOf } from '../../base/paths/index.ts'
import { keepChecksums } from '../../libraries/attributes/index.ts'
import {
  type Content,
  type DataKey,
  PendingBlocks,
  SMALLEST_STORED_BLOCK,
  smallContent,
} from '../../libraries/content/index.ts'
import { modificationTime, putFile } from '../../libraries/edits/index.ts'
import type { Library, Ready } from '../../libraries/library/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type HttpRequest, type RequestBody, readBody, STREAM_BYTES } from '../../platform/http/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import { guestOf, type Reservation } from '../../sharing/quotas/index.ts'
import { addressOf } from './address.ts'
import { Preconditions } from './preconditions.ts'
import { findResource, refuseInvalidPlace, writable } from './resource.ts'
import { davError, emptyResponse } from './responses.ts'
import { SentChecksums } from './sent-checksums.ts'
import type { WebdavServices } from './services.ts'

/**
 * PUT: stores a file. Everything that can be refused is refused before the body is read. The blocks are stored while it arrives, and are
 * durable before the commit (I4), and get names when nothing known refuses it. The right is checked again afterwards, because it may have ended during the upload.
 */
export async function storeFile(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  const resource = await findResource(services, user, addressOf(request))
  const { library, path, kind, address } = writable(resource)
  if (kind === 'folder' || address.hasSlash) throw davError(405, 'A folder has this name.')
  if (request.header('content-range') !== undefined) throw davError(400, 'A part of a file cannot be stored.')
  const place = { kind, address, library, path, entry: resource.kind === 'root' ? undefined : resource.entry }
  await refuseInvalidPlace(place)
  const conditions = new Preconditions(services, request, user)
  await conditions.check(place)
  await conditions.refuseLocked(place, [[path, kind === 'missing' ? 'creates' : 'changes']])
  await using receiver = await Receiver.open(services, request, body, library)
  const checksums = SentChecksums.of(request)
  const content = await receiver.receive(checksums?.update)
  const verified = checksums?.check()
  const editable = (await services.access.open(user, library.info.id)).editable(parentOf(path))
  const mtime = modifiedAt(request)
  const outcome = await putFile(services.core, editable, path, content, {
    mtime,
    accepts: (current) => conditions.accepts(current),
    also: async (tx) => {
      await receiver.reservation.settle(tx)
      if (verified !== undefined) await keepChecksums(tx, editable, content.id, verified)
    },
    ready: receiver.ready,
  })
  receiver.done()
  if (outcome === 'refused') throw davError(412, 'The file was changed meanwhile.')
  if (outcome === 'no-parent') throw davError(409, 'The parent folder does not exist.')
  if (outcome === 'exists') throw davError(405, 'A folder has this name.')
  const headers: Record<string, string> = { ETag: `"${content.id}"` }
  if (mtime !== undefined && modificationTime(mtime, services.now()) === mtime) {
    headers['X-OC-MTime'] = 'accepted'
  }
  return emptyResponse(outcome === 'created' ? 201 : 204, headers)
}

type OnBytes = ((bytes: Buffer) => void) | undefined

/** Receives one file. Disposing releases its reservations and removes blocks that were not kept. */
class Receiver implements AsyncDisposable {
  readonly #services: WebdavServices
  readonly #request: HttpRequest
  readonly #body: RequestBody
  readonly reservation: Reservation
  readonly #key: DataKey | undefined
  readonly #pending = new PendingBlocks()
  readonly #owned = new AsyncDisposableStack()
  #received = 0
  #isDone = false

  private constructor(
    services: WebdavServices,
    request: HttpRequest,
    body: RequestBody,
    reservation: Reservation,
    key: DataKey | undefined,
  ) {
    this.#services = services
    this.#request = request
    this.#body = body
    this.reservation = reservation
    this.#key = key
    // The upload keeps its key, even if the library is locked meanwhile.
    if (key !== undefined) this.#owned.use(key.lease())
  }

  /** Throws quota-exceeded, disk-full, password-needed, and a refusal for a file that is too large. */
  static async open(
    services: WebdavServices,
    request: HttpRequest,
    body: RequestBody,
    library: Library,
  ): Promise<Receiver> {
    const key = await services.core.keys.keyFor(library)
    const { length } = body
    refuseTooLarge(services, length ?? 0)
    const options = { guest: guestOf(library), inSteps: length === undefined }
    const reservation = await services.quotas.reserve(library.info, length ?? 0, options)
    return new Receiver(services, request, body, reservation, key)
  }

  /** `onBytes` is called with all bytes in order. */
  async receive(onBytes: OnBytes): Promise<Content> {
    const { length } = this.#body
    const isSmall = length !== undefined && length < SMALLEST_STORED_BLOCK && this.#key === undefined
    return isSmall ? this.#receiveSmall(length, onBytes) : this.#receiveStream(onBytes)
  }

  /** Names the blocks; undefined if there are none. */
  get ready(): Ready | undefined {
    return this.#pending.isEmpty ? undefined : () => this.#pending.keep()
  }

  /** Called when the file is stored. Otherwise the bytes that have got names stay reserved. */
  done(): void {
    this.#isDone = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
    await this.#pending[Symbol.asyncDispose]()
    if (!this.#isDone) this.reservation.leave(this.#pending.keptBytes)
    await this.reservation[Symbol.asyncDispose]()
  }

  async #receiveSmall(length: number, onBytes: OnBytes): Promise<Content> {
    const bytes = await readBody(this.#body, length, this.#request.bodyClaim)
    onBytes?.(bytes)
    // The memory of the body is reused after the response, and the block is cached.
    return smallContent(Buffer.copyBytesFrom(bytes))
  }

  async #receiveStream(onBytes: OnBytes): Promise<Content> {
    await this.#request.bodyClaim.growTo(STREAM_BYTES)
    const options = { key: this.#key, pending: this.#pending, ...(onBytes && { onBytes }) }
    return this.#services.core.incoming.receive(this.#pieces(), options)
  }

  /** Throws quota-exceeded for a body of unknown length. */
  async *#pieces(): AsyncGenerator<Buffer, void> {
    for (let piece = await this.#body.read(true); piece !== undefined; piece = await this.#body.read(true)) {
      this.#received += piece.length
      refuseTooLarge(this.#services, this.#received)
      const growing = this.reservation.growTo(this.#received)
      if (growing !== undefined) await growing
      yield piece
    }
  }
}

function refuseTooLarge({ transferLimits: { upload } }: WebdavServices, bytes: number): void {
  if (upload !== undefined && bytes > upload) throw davError(413, 'The file is too large.')
}

/** The time of the file, which rclone and other clients send in this header. Unix seconds. */
function modifiedAt(request: HttpRequest): number | undefined {
  const [, seconds] = /^\s*(\d{1,12})(?:\.\d+)?\s*$/.exec(request.header('x-oc-mtime') ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

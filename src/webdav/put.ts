import { guestOf, type Reservation } from '../access/index.ts'
import {
  type Content,
  type DataKey,
  PendingBlocks,
  SMALLEST_STORED_BLOCK,
  smallContent,
} from '../content/index.ts'
import { fail } from '../errors.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type RequestBody,
  readBody,
  STREAM_BYTES,
} from '../http/index.ts'
import type { Account } from '../identity/index.ts'
import { type Library, putFile } from '../library/index.ts'
import { parentOf } from '../objects/index.ts'
import { addressOf } from './address.ts'
import { Preconditions } from './preconditions.ts'
import { findResource, refuseInvalidPlace, writable } from './resource.ts'
import { davError, emptyResponse } from './responses.ts'
import type { WebdavServices } from './services.ts'

/**
 * PUT: stores a file. Everything that can be refused is refused before the body is read. The blocks are stored while it arrives, and are
 * durable before the commit (I4). The right is checked again afterwards, because it may have ended during the upload.
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
  const content = await receiver.receive()
  const editable = (await services.access.open(user, library.info.id)).editable(parentOf(path))
  const outcome = await putFile(services.core, editable, path, content, {
    mtime: modifiedAt(request),
    accepts: (current) => conditions.accepts(current),
    also: async (tx) => receiver.reservation?.settle(tx),
  })
  if (outcome === 'refused') throw davError(412, 'The file was changed meanwhile.')
  if (outcome === 'no-parent') throw davError(409, 'The parent folder does not exist.')
  if (outcome === 'exists') throw davError(405, 'A folder has this name.')
  const headers: Record<string, string> = { ETag: `"${content.id}"` }
  if (modifiedAt(request) !== undefined) headers['X-OC-MTime'] = 'accepted'
  return emptyResponse(outcome === 'created' ? 201 : 204, headers)
}

/** Receives one file. Disposing releases its reservations and removes blocks that were not kept. */
class Receiver implements AsyncDisposable {
  /** Of the quota; undefined until the length is known. */
  reservation: Reservation | undefined
  readonly #services: WebdavServices
  readonly #request: HttpRequest
  readonly #body: RequestBody
  readonly #library: Library
  readonly #key: DataKey | undefined
  readonly #owned = new AsyncDisposableStack()
  #received = 0

  private constructor(
    services: WebdavServices,
    request: HttpRequest,
    body: RequestBody,
    library: Library,
    key: DataKey | undefined,
  ) {
    this.#services = services
    this.#request = request
    this.#body = body
    this.#library = library
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
    const receiver = new Receiver(services, request, body, library, key)
    if (body.length !== undefined) await receiver.#reserve(body.length)
    return receiver
  }

  async receive(): Promise<Content> {
    const { length } = this.#body
    const isSmall = length !== undefined && length < SMALLEST_STORED_BLOCK && this.#key === undefined
    const content = isSmall ? await this.#receiveSmall(length) : await this.#receiveStream()
    if (this.reservation === undefined) await this.#reserve(this.#received)
    return content
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }

  async #receiveSmall(length: number): Promise<Content> {
    const bytes = await readBody(this.#body, length, this.#request.bodyClaim)
    // The memory of the body is reused after the response, and the block is cached.
    return smallContent(Buffer.copyBytesFrom(bytes))
  }

  async #receiveStream(): Promise<Content> {
    await this.#request.bodyClaim.growTo(STREAM_BYTES)
    const pending = this.#owned.use(new PendingBlocks())
    const room = await this.#room()
    const content = await this.#services.core.content.receive(this.#pieces(room), { key: this.#key, pending })
    await pending.keep()
    return content
  }

  /** What a body of unknown length may take; undefined for no limit. */
  async #room(): Promise<{ left: number; limit: number } | undefined> {
    if (this.reservation !== undefined) return undefined
    return this.#services.quotas.roomLeft(this.#library.info, guestOf(this.#library))
  }

  async *#pieces(room: { left: number; limit: number } | undefined): AsyncGenerator<Buffer, void> {
    for (let piece = await this.#body.read(true); piece !== undefined; piece = await this.#body.read(true)) {
      this.#received += piece.length
      if (room !== undefined && this.#received >= room.left)
        fail({ code: 'quota-exceeded', limit: room.limit })
      this.#refuseTooLarge(this.#received)
      yield piece
    }
  }

  async #reserve(bytes: number): Promise<void> {
    this.#refuseTooLarge(bytes)
    const { quotas } = this.#services
    const options = { guest: guestOf(this.#library) }
    this.reservation = this.#owned.use(await quotas.reserve(this.#library.info, bytes, options))
  }

  #refuseTooLarge(bytes: number): void {
    const { upload } = this.#services.transferLimits
    if (upload !== undefined && bytes > upload) throw davError(413, 'The file is too large.')
  }
}

/** The time of the file, which rclone and other clients send in this header. Unix seconds. */
function modifiedAt(request: HttpRequest): number | undefined {
  const [, seconds] = /^\s*(\d{1,12})(?:\.\d+)?\s*$/.exec(request.header('x-oc-mtime') ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

import { parseFsId } from '../../base/objects/index.ts'
import { PACKET_HEAD_BYTES } from '../../base/packing/index.ts'
import type { SentObject } from '../../libraries/push/index.ts'
import type { BodyClaim, RequestBody } from '../../platform/http/index.ts'
import { badRequest } from './readers.ts'

/** Most bytes of one packet. */
const LARGEST_PACKET = 64 * 2 ** 20

/**
 * Reads the objects of a `recv-fs` body one at a time. Memory is reserved for one packet, before it is received, and
 * returned when the next is asked for.
 */
export class PacketReader {
  readonly #body: Pick<RequestBody, 'read' | 'fail'>
  readonly #claim: BodyClaim
  /** Bytes that were received and belong to no packet yet. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(body: Pick<RequestBody, 'read' | 'fail'>, claim: BodyClaim) {
    this.#body = body
    this.#claim = claim
  }

  /** Undefined at the end. Throws a refusal where a packet is cut short or names no id, or when there is no memory. */
  async next(): Promise<SentObject | undefined> {
    this.#claim.release()
    const head = await this.#take(PACKET_HEAD_BYTES)
    if (head === undefined) return undefined
    const id = parseFsId(head.toString('latin1', 0, 40))
    if (id === undefined) throw badRequest('Invalid object id')
    const length = head.readUInt32BE(40)
    if (length > LARGEST_PACKET) throw badRequest('Object is too large')
    const packed = length === 0 ? undefined : await this.#take(length)
    if (packed === undefined) throw badRequest('Object is empty or cut short')
    return { id, packed }
  }

  /** Undefined at the end. Throws a refusal if there is something, but not enough. */
  async #take(length: number): Promise<Buffer | undefined> {
    if (this.#rest.length >= length) return this.#takeFromRest(length)
    const waiting = this.#claim.growTo(length)
    if (waiting !== undefined) await waiting
    const taken = Buffer.allocUnsafeSlow(length)
    let filled = this.#rest.copy(taken)
    this.#rest = Buffer.alloc(0)
    this.#claim.receiving({ received: () => filled, onExpired: (refusal) => this.#body.fail(refusal) })
    try {
      while (filled < length) {
        const piece = await this.#body.read()
        if (piece === undefined) {
          if (filled === 0) return undefined
          throw badRequest('Object is cut short')
        }
        const used = piece.copy(taken, filled)
        filled += used
        this.#rest = piece.subarray(used)
      }
    } finally {
      this.#claim.receiving(undefined)
    }
    return taken
  }

  #takeFromRest(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

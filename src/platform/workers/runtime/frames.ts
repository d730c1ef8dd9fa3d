/** Bytes before the payload of a frame: its kind, and the length of its payload. */
const HEADER_BYTES = 5

/** A message on a pipe between the server and a worker process. */
interface Frame {
  readonly kind: number
  readonly payload: Buffer
}

/** The bytes that are written before the payload of a frame. */
export function frameHeader(kind: number, payloadBytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(kind, 0)
  header.writeUInt32BE(payloadBytes, 1)
  return header
}

/** Cuts a stream into frames. The sender is not trusted: one frame of at most `maxBytes` is buffered, however it is cut into chunks. */
export class FrameReader {
  readonly #maxBytes: number
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #payload: Buffer | undefined
  /** Bytes of the header, or of the payload once there is one, that have arrived. */
  #filled = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the frames that the chunk completes, or undefined if one is longer than the limit. */
  push(chunk: Buffer): Frame[] | undefined {
    const frames: Frame[] = []
    let rest = chunk
    while (rest.length > 0) {
      const target = this.#payload ?? this.#header
      const copied = rest.copy(target, this.#filled)
      rest = rest.subarray(copied)
      this.#filled += copied
      if (this.#filled < target.length) break
      if (this.#payload === undefined) {
        const length = this.#header.readUInt32BE(1)
        if (length > this.#maxBytes) return undefined
        this.#payload = Buffer.allocUnsafeSlow(length)
        this.#filled = 0
      }
      if (this.#filled < this.#payload.length) continue
      frames.push({ kind: this.#header.readUInt8(0), payload: this.#payload })
      this.#payload = undefined
      this.#filled = 0
    }
    return frames
  }
}

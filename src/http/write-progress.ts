import type { Socket } from 'node:net'

/** How fast a client takes an answer that waits for it. */
export class WriteProgress {
  readonly #socket: Socket
  /** When bytes began to wait, or the last time the client had taken enough of them. */
  #since: number | undefined
  #taken = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Whether the client took fewer bytes a second than `leastRate` for `windowMs`. To be called every now and then. */
  isSlow(now: number, leastRate: number, windowMs: number): boolean {
    if (this.#socket.writableLength === 0) {
      this.#since = undefined
      return false
    }
    const taken = takenBytes(this.#socket)
    if (this.#since === undefined || taken - this.#taken >= (leastRate * windowMs) / 1000) {
      this.#since = now
      this.#taken = taken
    }
    return now - this.#since > windowMs
  }
}

/** Bytes that the system took for the client. `writableLength` counts a long write until the last byte of it is taken. */
function takenBytes(socket: Socket): number {
  const { _handle: handle, _bytesDispatched: dispatched } = socket as unknown as {
    _handle?: { writeQueueSize?: number } | null
    _bytesDispatched?: number
  }
  if (dispatched === undefined) return socket.bytesWritten - socket.writableLength
  return dispatched - (handle?.writeQueueSize ?? 0)
}

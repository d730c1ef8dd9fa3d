import type { Socket } from 'node:net'

/** Measures how fast a client reads a response. */
export class WriteProgress {
  readonly #socket: Socket
  /** Start of the current window of the minimum rate. */
  #since: number | undefined
  #taken = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Whether the client read fewer bytes a second than `leastRate` for `windowMs`. To be called periodically. */
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

/** Bytes taken by the operating system. `writableLength` counts a large write until its last byte is taken. */
function takenBytes(socket: Socket): number {
  const { _handle: handle, _bytesDispatched: dispatched } = socket as unknown as {
    _handle?: { writeQueueSize?: number } | null
    _bytesDispatched?: number
  }
  if (dispatched === undefined) return socket.bytesWritten - socket.writableLength
  return dispatched - (handle?.writeQueueSize ?? 0)
}

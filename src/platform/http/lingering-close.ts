import type { Socket } from 'node:net'

/** A client that sends nothing for this long has noticed that its request was refused. */
const IDLE_MS = 5_000

/**
 * Lingering close (RFC 9112, 9.6). After the last response the server ends its side, and discards what still arrives.
 * Closed at once, the connection would be reset and the client, or a proxy that sends the whole body first, could lose
 * the response.
 */
export class LingeringClose {
  readonly #idle: NodeJS.Timeout
  readonly #limit: NodeJS.Timeout

  /** The connection is destroyed after `maxMs` at the latest. */
  constructor(socket: Socket, maxMs: number) {
    const destroy = () => socket.destroy()
    this.#idle = setTimeout(destroy, Math.min(IDLE_MS, maxMs))
    this.#limit = setTimeout(destroy, maxMs)
    socket.once('close', () => {
      clearTimeout(this.#idle)
      clearTimeout(this.#limit)
    })
    socket.end()
  }

  /** To be called when bytes arrive. */
  onBytes(): void {
    this.#idle.refresh()
  }
}

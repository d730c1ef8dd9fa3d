import type { Socket } from 'node:net'
import { addressKey, plainAddress } from './client-address.ts'
import { ProtocolError } from './protocol-error.ts'
import { type ConnectionLimits, RETRY_SECONDS } from './transport.ts'

/** A refused connection stays open for this long, so that its client can read the response. */
const REFUSAL_MS = 2000

/** Enforces the limits on connections, in all and per address. */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #perAddress = new Map<string, number>()
  #open = 0
  #refusals = 0
  #empty: PromiseWithResolvers<void> | undefined

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Open connections that were admitted. */
  get count(): number {
    return this.#open
  }

  /** Resolves when no admitted connection is open. */
  async empty(): Promise<void> {
    if (this.#open === 0) return
    this.#empty ??= Promise.withResolvers()
    await this.#empty.promise
  }

  /** Counts a connection until it closes. Over a limit, refuses it: with a response where `isPlain`, which TLS is not. */
  admit(socket: Socket, isPlain: boolean): boolean {
    const address = plainAddress(socket.remoteAddress ?? '')
    const key = this.#limits.isExempt(address) ? undefined : addressKey(address)
    const ofAddress = key === undefined ? 0 : (this.#perAddress.get(key) ?? 0)
    if (ofAddress >= this.#limits.connectionsPerAddress) this.#refuse(socket, 429, isPlain)
    else if (this.#open >= this.#limits.connections) this.#refuse(socket, 503, isPlain)
    else {
      this.#add(socket, key)
      return true
    }
    return false
  }

  #add(socket: Socket, key: string | undefined): void {
    this.#open += 1
    if (key !== undefined) this.#perAddress.set(key, (this.#perAddress.get(key) ?? 0) + 1)
    socket.once('close', () => {
      this.#open -= 1
      if (key !== undefined) this.#countDown(key)
      if (this.#open === 0) this.#empty?.resolve()
    })
  }

  #countDown(key: string): void {
    const left = (this.#perAddress.get(key) ?? 0) - 1
    if (left > 0) this.#perAddress.set(key, left)
    else this.#perAddress.delete(key)
  }

  /** Responds without reading the request. */
  #refuse(socket: Socket, status: number, isPlain: boolean): void {
    socket.on('error', () => {})
    if (!isPlain || this.#refusals >= this.#limits.refusals) {
      socket.destroy()
      return
    }
    this.#refusals += 1
    const timer = setTimeout(() => socket.destroy(), REFUSAL_MS).unref()
    socket
      .once('end', () => socket.destroy())
      .once('close', () => {
        clearTimeout(timer)
        this.#refusals -= 1
      })
    socket.resume()
    socket.end(new ProtocolError(status, RETRY_SECONDS).responseText(false), 'latin1')
  }
}

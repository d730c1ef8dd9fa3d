import { ClientError } from '../client/index.ts'

/** Calls at a time. One message of the protocol can have many, and each takes memory and requests. */
const MAX_CALLS = 32

/** Limits the tool calls that run at the same time in this process. */
export class CallLimit {
  #running = 0

  /** Runs a call. Throws ClientError if too many run. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_CALLS) {
      throw new ClientError(`More than ${MAX_CALLS} calls at a time: repeat this one later.`)
    }
    this.#running += 1
    try {
      return await call()
    } finally {
      this.#running -= 1
    }
  }
}

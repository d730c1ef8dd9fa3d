import type { Address } from './address.ts'

/** One request with a large body or a large response. */
export interface Stream {
  /** The request as sent, up to the large body if there is one. */
  readonly head: string
  /** Sent between head and tail. */
  readonly upload?: {
    /** Its number; see LongBodies. */
    readonly body: number
    readonly bytes: number
    readonly tail: string
  }
}

/** Requests that are sent concurrently, each on its own connection. */
export interface StreamPlan extends Address {
  readonly streams: readonly Stream[]
  /** Any other status is an error. */
  readonly status: number
}

/** The result of a stream plan. */
export interface StreamResult {
  /** From the first byte sent until the last response was complete. */
  readonly seconds: number
  /** Of each response, in the order of the streams. */
  readonly responseBytes: readonly number[]
}

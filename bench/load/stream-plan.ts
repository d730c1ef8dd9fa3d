/** One request whose body, or whose answer, is long. */
export interface Stream {
  /** The request as it goes over the wire, up to the long body if it has one. */
  readonly head: string
  /** Sent between head and tail. */
  readonly upload?: {
    /** Its number; see LongBodies. */
    readonly body: number
    readonly bytes: number
    readonly tail: string
  }
}

/** Long requests that are sent at once, each over a connection of its own. */
export interface StreamPlan {
  readonly host: string
  readonly port: number
  readonly streams: readonly Stream[]
  /** Any other status is an error. */
  readonly status: number
}

/** What came of them. */
export interface StreamResult {
  /** From the first byte sent until the last answer was whole. */
  readonly seconds: number
  /** Bytes of each answer, in the order of the streams. */
  readonly answered: readonly number[]
}

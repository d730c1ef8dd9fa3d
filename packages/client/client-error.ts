/** Exit codes of client commands; docs/client.md describes them. 3 is taken by `carrel serve`. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  signIn: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  unreachable: 8,
  /** Some items failed, and all others are done. */
  partial: 9,
  interrupted: 130,
} as const

/** A client command failed; the message is one sentence that says what to do. */
export class ClientError extends Error {
  override name = 'ClientError'
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.failed, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

export const usageError = (message: string) => new ClientError(message, EXIT.usage)

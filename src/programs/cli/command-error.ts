/** A command failed; the message is one sentence that says what to do. */
export class CommandError extends Error {
  override name = 'CommandError'
  /** 1 for a failure, 2 for a usage error. */
  readonly exitCode: 1 | 2
  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

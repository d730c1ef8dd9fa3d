/** An answer was due before the work for it had ended. The cause says why, and what is known of the outcome. */
export class Overdue extends Error {
  override readonly name = 'Overdue'
  /** What goes on. It needs what was lent to it until it settles. */
  readonly work: Promise<unknown>

  constructor(cause: Error, work: Promise<unknown>) {
    super(cause.message, { cause })
    this.work = work
  }
}

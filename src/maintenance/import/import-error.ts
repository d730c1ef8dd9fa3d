/** The source cannot be imported; the message is one sentence that says what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

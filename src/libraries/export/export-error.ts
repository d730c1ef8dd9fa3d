/** The export cannot be made. The message is one sentence that says what to do. */
export class ExportError extends Error {
  override name = 'ExportError'
}

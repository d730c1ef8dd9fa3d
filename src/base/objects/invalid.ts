/** Bytes or text that are not a valid object. The message has the reason. */
export class InvalidObject extends Error {
  override name = 'InvalidObject'
}

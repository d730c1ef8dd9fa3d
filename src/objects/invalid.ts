/** Bytes or text that claim to be an object and are not one; the message says why. */
export class InvalidObject extends Error {
  override name = 'InvalidObject'
}

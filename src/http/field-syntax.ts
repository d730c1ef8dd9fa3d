const INVALID_NAME = /[^!#$%&'*+\-.^_`|~\dA-Za-z]/
const INVALID_VALUE = /[^\t -~\x80-\xff]/

/** Whether text is a field name (RFC 9110, 5.1). */
export function isFieldName(text: string): boolean {
  return text !== '' && !INVALID_NAME.test(text)
}

/** Whether text may be a field value, with one byte per character. */
export function isFieldValue(text: string): boolean {
  return !INVALID_VALUE.test(text)
}

/** Field names that passed the check. They come from our own code, so there are few. */
const validNames = new Set<string>()

/** Throws a TypeError for a response field that would be invalid on the wire. */
export function checkField(name: string, value: string | number | readonly string[]): void {
  if (!validNames.has(name)) {
    if (!isFieldName(name)) throw new TypeError(`"${name}" is not a valid header name`)
    if (validNames.size < 1000) validNames.add(name)
  }
  if (typeof value === 'number') return
  const isValid = typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
  if (!isValid) throw new TypeError(`The value of the header ${name} has invalid characters`)
}

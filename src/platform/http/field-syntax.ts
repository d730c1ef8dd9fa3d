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

/** Field names that passed the check, with the first text that did for each, which is often the only one. They come from our own code, so there are few. */
const valid = new Map<string, string>()

/** Throws a TypeError for a response field that would be invalid on the wire. */
export function checkField(name: string, value: string | number | readonly string[]): void {
  const known = valid.get(name)
  if (known === undefined) {
    if (!isFieldName(name)) throw new TypeError(`"${name}" is not a valid header name`)
    if (valid.size < 1000) valid.set(name, '')
  }
  if (typeof value === 'number' || value === known) return
  const isValid = typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
  if (!isValid) throw new TypeError(`The value of the header ${name} has invalid characters`)
  if (known === '' && typeof value === 'string') valid.set(name, value)
}

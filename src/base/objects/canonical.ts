// Canonical JSON, as existing clients write and hash it: the separators ", " and ": ", raw UTF-8, and the escapes below.
// The id of an fs object is the hash of this text. With one space less, every synced folder would be uploaded again.

const special = /["\\\u0000-\u001f]/
const everySpecial = /["\\\u0000-\u001f]/g
const short = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** A JSON string as jansson writes it, with upper-case hex for control characters. */
export function quote(text: string): string {
  return `"${escapeText(text)}"`
}

/** A JSON string without its quotes. */
export function escapeText(text: string): string {
  return special.test(text) ? text.replace(everySpecial, escapeOne) : text
}

function escapeOne(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return short.get(character) ?? `\\u${code}`
}

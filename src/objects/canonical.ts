// The JSON that existing clients write and hash: ", " and ": " between things, raw UTF-8, and the escapes below.
// The id of an fs object is the hash of this text: one space fewer and every synced folder uploads itself again.

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

/** A JSON string as jansson writes it; control characters get upper-case hex. */
export function quote(text: string): string {
  return `"${escapeText(text)}"`
}

/** What stands between the quotes of a JSON string. */
export function escapeText(text: string): string {
  return special.test(text) ? text.replace(everySpecial, escapeOne) : text
}

function escapeOne(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return short.get(character) ?? `\\u${code}`
}

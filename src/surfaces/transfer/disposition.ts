/**
 * A `Content-Disposition` for any name: `filename*` in percent-encoded UTF-8, and an ASCII `filename` for old
 * clients. No name can end the header or its quotes.
 */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  // Fast path for plain ASCII names.
  if (/^[\w.-]+$/.test(name)) return `${kind};filename*=utf-8''${name};filename="${name}"`
  return `${kind};filename*=utf-8''${encodeExtended(name)};filename="${asciiName(name)}"`
}

/** Characters that RFC 8187 requires to be percent-encoded. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function asciiName(name: string): string {
  // One underscore per code point, not per surrogate.
  return name.toWellFormed().replace(/[^\x20-\x7e]|["\\%;]/gu, '_')
}

/**
 * A `Content-Disposition` for any name: as it is in percent-encoded UTF-8, and in ASCII for clients that know no
 * better. Nothing of a name can end the header or its quotes.
 */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  // Most names need neither.
  if (/^[\w.-]+$/.test(name)) return `${kind};filename*=utf-8''${name};filename="${name}"`
  return `${kind};filename*=utf-8''${encodeExtended(name)};filename="${asciiName(name)}"`
}

/** All but the characters RFC 8187 lets stand for themselves. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function asciiName(name: string): string {
  // One underscore for a character, not for each of its halves.
  return name.toWellFormed().replace(/[^\x20-\x7e]|["\\%;]/gu, '_')
}

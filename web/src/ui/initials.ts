const HUES = 12

/** The first letters of the first and the last word; of an address, its first letter. */
export function initialsOf(name: string): string {
  const words = name.includes('@') ? [name] : name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends.map((word) => /^./u.exec(word ?? '')?.[0].toLocaleUpperCase() ?? '').join('')
}

/** Colour hue that depends only on the account. */
export function hueOf(email: string): number {
  let sum = 0
  for (const sign of email) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 65_536
  return (sum % HUES) * (360 / HUES)
}

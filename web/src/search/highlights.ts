/** A part of a text, and whether it matches the search. */
export interface Piece {
  readonly text: string
  readonly isMatch: boolean
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** Splits an excerpt at the `<b>` tags of the server. All other markup is text. */
export function splitMarked(marked: string): Piece[] {
  return marked
    .split(/(<b>.*?<\/b>)/s)
    .map((part) => {
      const inner = /^<b>(.*)<\/b>$/s.exec(part)?.[1]
      return { text: unescaped(inner ?? part), isMatch: inner !== undefined }
    })
    .filter(({ text }) => text !== '')
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}

/** Splits a name at the words that were typed. */
export function splitName(name: string, typed: string): Piece[] {
  const words = [typed.trim(), ...typed.split(/[\s"]+/)].filter(Boolean).sort((a, b) => b.length - a.length)
  if (words.length === 0) return [{ text: name, isMatch: false }]
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  return name
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((text, index) => ({ text, isMatch: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

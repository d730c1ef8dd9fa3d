/** A piece of a text, and whether it is what was looked for. */
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

/** The pieces of what the server marked with `<b>`. Nothing else in it is markup, whatever it looks like. */
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

/** The pieces of a name, with the words that were typed marked wherever they stand in it. */
export function splitName(name: string, typed: string): Piece[] {
  const words = [typed.trim(), ...typed.split(/[\s"]+/)].filter(Boolean).sort((a, b) => b.length - a.length)
  if (words.length === 0) return [{ text: name, isMatch: false }]
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  return name
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((text, index) => ({ text, isMatch: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

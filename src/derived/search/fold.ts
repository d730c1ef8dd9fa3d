// Letters without a Unicode decomposition, and their usual transcription.
const letters = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ł', 'l'],
  ['ħ', 'h'],
  ['ŧ', 't'],
  ['ı', 'i'],
  ['ŋ', 'n'],
  ['ς', 'σ'],
])

const MAX_KEPT = 20_000
const kept = new Map<string, string>()

const beyondAscii = /[^\x00-\x7f]/u
const everyBeyondAscii = /[^\x00-\x7f]/gu

/**
 * Folds text for comparison: no case, no accents, compatibility forms replaced. Applied to both indexed text
 * and queries.
 */
export function fold(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  return text.toWellFormed().normalize('NFKC').toLowerCase().replace(everyBeyondAscii, foldCharacter)
}

/** One folded character; some fold to several or none. */
function foldCharacter(character: string): string {
  const known = kept.get(character)
  if (known !== undefined) return known
  const lower = character.toLowerCase()
  // Accents only: the marks of kana and of Indic scripts distinguish letters.
  const folded =
    letters.get(lower) ??
    lower
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(character, folded)
  return folded
}

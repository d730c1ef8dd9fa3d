// Letters that Unicode does not take apart, and what people type for them.
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

const MOST_KEPT = 20_000
const kept = new Map<string, string>()

const beyondAscii = /[^\x00-\x7f]/u
const everyBeyondAscii = /[^\x00-\x7f]/gu

/**
 * Text as it is compared: no case, no accents, wide and joined forms as plain ones. The same for what is
 * indexed and what is asked.
 */
export function fold(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  return text.toWellFormed().normalize('NFKC').toLowerCase().replace(everyBeyondAscii, foldCharacter)
}

/** One character, folded; several or none for some. */
function foldCharacter(character: string): string {
  const known = kept.get(character)
  if (known !== undefined) return known
  const lower = character.toLowerCase()
  // Accents only: the marks of kana and of Indic scripts make other letters.
  const folded =
    letters.get(lower) ??
    lower
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(character, folded)
  return folded
}

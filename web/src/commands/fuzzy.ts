/**
 * How well a text matches what was typed: 0 if a letter is missing, more for letters in a row and at the beginnings of words. Each
 * word that was typed has to match by itself, in any order.
 */
export function fuzzyScore(text: string, typed: string): number {
  const words = fold(typed).split(/\s+/).filter(Boolean)
  if (words.length === 0) return 1
  const folded = fold(text)
  let sum = 0
  for (const word of words) {
    const score = wordScore(folded, word)
    if (score === 0) return 0
    sum += score
  }
  // Of two texts with the same match the shorter one is meant.
  return sum / words.length - Math.min(text.length, 200) / 1000
}

/** Without case and accents: “Übersicht” is found by “ubersicht”. */
const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

const isWordStart = (text: string, at: number) => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')

function wordScore(text: string, word: string): number {
  let best = 0
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    best = Math.max(best, isWordStart(text, at) ? 4 : 3)
  }
  if (best > 0) return best
  // Scattered letters match almost anything, so the first one has to begin a word.
  const [first = ''] = word
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    if (isWordStart(text, at)) best = Math.max(best, scatteredScore(text.slice(at), word))
  }
  return best
}

/** More than 1 if the letters are in the text in this order; initials count almost as much as the beginning of a word. */
function scatteredScore(text: string, word: string): number {
  let at = -1
  let starts = 0
  for (const letter of word) {
    at = text.indexOf(letter, at + 1)
    if (at < 0) return 0
    if (isWordStart(text, at)) starts += 1
  }
  return starts === word.length ? 3.5 : 1 + starts / word.length
}

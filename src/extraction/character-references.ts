/** The character `65` or `x41` stands for; undefined if there is none. */
export function decodeCharacterReference(digits: string): string | undefined {
  const code = /^x[0-9a-f]+$/i.test(digits)
    ? Number.parseInt(digits.slice(1), 16)
    : /^\d+$/.test(digits)
      ? Number(digits)
      : Number.NaN
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : undefined
}

// Names as HTML 4 gives them, in the order of their characters.
const latin = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute
  micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil
  Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute
  Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute
  icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`
const greek = `Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon
  Phi Chi Psi Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho
  sigmaf sigma tau upsilon phi chi psi omega`
const others = `quot " amp & lt < gt > apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ ndash – mdash —
  lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹
  rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵
  lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus −
  lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥
  sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊
  spades ♠ clubs ♣ hearts ♥ diams ♦`

const named = new Map<string, string>([
  ...inOrder(latin, 0xa0),
  ...inOrder(greek, 0x391),
  ...inPairs(others),
  ['ensp', ' '],
  ['emsp', ' '],
  ['thinsp', ' '],
  ['zwnj', '\u200c'],
  ['zwj', '\u200d'],
  ['lrm', '\u200e'],
  ['rlm', '\u200f'],
])

/** Puts characters in the place of the references of HTML; one nobody knows stays as it is. */
export function unescapeHtml(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#(x[0-9a-f]{1,8}|\d{1,8})|([a-z]\w{1,30}));?/gi,
    (whole, digits?: string, name?: string) => {
      const character = digits === undefined ? named.get(name ?? '') : decodeCharacterReference(digits)
      return character ?? whole
    },
  )
}

function inOrder(names: string, first: number): [string, string][] {
  const all = names.split(/\s+/).map((name, index) => [name, String.fromCodePoint(first + index)])
  return all.filter(([name]) => name !== '-') as [string, string][]
}

function inPairs(pairs: string): [string, string][] {
  const words = pairs.split(/\s+/)
  return words.flatMap((name, index) => (index % 2 === 0 ? [[name, words[index + 1] ?? '']] : [])) as [
    string,
    string,
  ][]
}

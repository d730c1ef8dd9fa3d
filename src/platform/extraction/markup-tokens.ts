import type { TokenizerCallbacks } from 'htmlparser2'

/** Callbacks of the tokenizer that do nothing, for the tokens that a reader does not need. */
export const ignoredTokens: TokenizerCallbacks = {
  onattribdata: ignore,
  onattribend: ignore,
  onattribentity: ignore,
  onattribname: ignore,
  oncdata: ignore,
  onclosetag: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onend: ignore,
  onopentagend: ignore,
  onopentagname: ignore,
  onprocessinginstruction: ignore,
  onselfclosingtag: ignore,
  ontext: ignore,
  ontextentity: ignore,
}

function ignore(): void {}

/** The character of a reference that ends before `end`. A reference to no valid character stays as written. */
export function referencedText(markup: string, code: number, end: number): string {
  return code === 0xfffd ? markup.slice(markup.lastIndexOf('&', end - 1), end) : String.fromCodePoint(code)
}

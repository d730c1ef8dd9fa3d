// For what is read after the library was looked up, because its refusal comes second.

/** A whole number as text, held within what can be counted; undefined for anything else. */
export function parseWhole(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*[+-]?\d+\s*$/.test(text)) return undefined
  // The sum turns -0 into 0.
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text))) + 0
}

/** Text that can be stored and shown; undefined if it holds NUL or half a character. */
export function parseText(text: string): string | undefined {
  return text.isWellFormed() && !text.includes('\0') ? text : undefined
}

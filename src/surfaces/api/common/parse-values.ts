// For values that are validated after the library was opened, because errors about the library come first.

/** An integer, clamped to the safe range; undefined for any other text. */
export function parseInteger(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*[+-]?\d+\s*$/.test(text)) return undefined
  // Adding 0 turns -0 into 0.
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text))) + 0
}

/** Text that can be stored; undefined if it contains NUL or a lone surrogate. */
export function parseText(text: string): string | undefined {
  return text.isWellFormed() && !text.includes('\0') ? text : undefined
}

/** Folds text for comparison: texts that differ only in case or composition are equal. */
export function foldName(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

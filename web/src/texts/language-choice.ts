/**
 * The first available language that somebody prefers, by BCP 47 tags. A regional variant stands for its language and the other way round: who prefers
 * `pt-PT` gets `pt-BR` if that is the only Portuguese there is.
 */
export function chooseLanguage(
  preferred: readonly string[],
  available: readonly string[],
): string | undefined {
  for (const preference of preferred) {
    const tag = preference.toLowerCase()
    if (tag === '') continue
    const found =
      available.find((language) => language.toLowerCase() === tag) ??
      available.find((language) => primarySubtag(language) === primarySubtag(tag))
    if (found !== undefined) return found
  }
  return undefined
}

/** The regional variant of a language that somebody prefers, for numbers and dates. */
export function regionalVariant(language: string, preferred: readonly string[]): string {
  return preferred.find((tag) => tag === language || tag.startsWith(`${language}-`)) ?? language
}

function primarySubtag(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? ''
}

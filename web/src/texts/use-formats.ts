import { type Formats, formatsIn } from './formats.ts'
import { useLanguage } from './texts.tsx'

const cache = new Map<string, Formats>()

/** The formats of the language of the page, in the regional variant the browser prefers. */
export function useFormats(): Formats {
  const { language } = useLanguage()
  // Creating them takes longer than rendering a row of a list, so there is one per language.
  const formats = cache.get(language) ?? formatsIn(localeOf(language))
  cache.set(language, formats)
  return formats
}

function localeOf(language: string): string {
  return navigator.languages.find((locale) => locale.startsWith(language)) ?? language
}

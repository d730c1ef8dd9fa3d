import { type Formats, formatsIn } from './formats.ts'
import { regionalVariant } from './language-choice.ts'
import { useLanguage } from './texts.tsx'

const cache = new Map<string, Formats>()

/** The formats of the language of the page, in the regional variant the browser prefers. */
export function useFormats(): Formats {
  const { language } = useLanguage()
  // Creating them takes longer than rendering a row of a list, so there is one per language.
  const formats = cache.get(language) ?? formatsIn(regionalVariant(language, navigator.languages))
  cache.set(language, formats)
  return formats
}

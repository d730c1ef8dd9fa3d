/** The languages of the server, those of the web app. The value is the locale of numbers and dates. */
const locales = {
  en: 'en-GB',
  de: 'de-DE',
  zh: 'zh-CN',
  ar: 'ar',
  cs: 'cs-CZ',
  es: 'es-ES',
  fr: 'fr-FR',
  it: 'it-IT',
  ja: 'ja-JP',
  nl: 'nl-NL',
  pl: 'pl-PL',
  'pt-BR': 'pt-BR',
  tr: 'tr-TR',
  uk: 'uk-UA',
} as const

export type Language = keyof typeof locales

export const languages = Object.keys(locales) as readonly Language[]

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(locales, text)
}

export function localeOf(language: Language): string {
  return locales[language]
}

const rightToLeft: readonly Language[] = ['ar']

export function directionOf(language: Language): 'ltr' | 'rtl' {
  return rightToLeft.includes(language) ? 'rtl' : 'ltr'
}

/** The language that a client prefers (`Accept-Language`); undefined if none of ours is among them. */
export function acceptedLanguage(header: string | undefined): Language | undefined {
  const accepted = (header ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', weight] = range.trim().split(/\s*;\s*q=/)
      return { tag: tag.slice(0, 2).toLowerCase(), weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  for (const { tag } of accepted) {
    // By the language without its region: Portuguese of Portugal is answered in that of Brazil.
    const found = languages.find((language) => language.slice(0, 2) === tag)
    if (found !== undefined) return found
  }
  return undefined
}

/** What compiled messages call. */
export interface MessageRuntime {
  number(value: number): string
  /** The case of a number: `=1` for exactly one, else the plural category of the language. */
  plural(value: number, cases: Readonly<Record<string, string>>): string
  select(value: string, cases: Readonly<Record<string, string>>): string
  /** A value in a message of the other direction. Its own order does not change, and it changes none around it. */
  isolate(value: string): string
}

/** Isolated values in a value, which are messages themselves, and characters of names that would direct others. */
const ISOLATED_OR_DIRECTING = /(\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069)|[\u202a-\u202e\u2066-\u2069]/g

/** The runtime for messages in a language, with the numbers of one of its regions. */
export function messageRuntime(language: string, locale = language): MessageRuntime {
  const numbers = new Intl.NumberFormat(locale)
  const rules = new Intl.PluralRules(language)
  return {
    number: (value) => numbers.format(value),
    plural: (value, cases) => cases[`=${value}`] ?? cases[rules.select(value)] ?? cases['other'] ?? '',
    select: (value, cases) => cases[value] ?? cases['other'] ?? '',
    isolate(value) {
      const harmless = value.replaceAll(ISOLATED_OR_DIRECTING, (_, isolated?: string) => isolated ?? '\ufffd')
      return `\u2068${harmless}\u2069`
    },
  }
}

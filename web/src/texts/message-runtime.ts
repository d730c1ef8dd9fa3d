/** What compiled messages call. */
export interface MessageRuntime {
  number(value: number): string
  /** The case of a number: `=1` for exactly one, else the plural category of the language. */
  plural(value: number, cases: Readonly<Record<string, string>>): string
  select(value: string, cases: Readonly<Record<string, string>>): string
}

/** The runtime for messages in a language, with the numbers of one of its regions. */
export function messageRuntime(language: string, locale = language): MessageRuntime {
  const numbers = new Intl.NumberFormat(locale)
  const rules = new Intl.PluralRules(language)
  return {
    number: (value) => numbers.format(value),
    plural: (value, cases) => cases[`=${value}`] ?? cases[rules.select(value)] ?? cases['other'] ?? '',
    select: (value, cases) => cases[value] ?? cases['other'] ?? '',
  }
}

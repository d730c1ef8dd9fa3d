import { IntlMessageFormat } from 'intl-messageformat'

export type MessageValues = Readonly<Record<string, string | number>>

/** A piece of a formatted message: text, or the name of an argument that no value was given for. */
export type Part = { readonly text: string } | { readonly argument: string }

interface Formatter {
  /** The text of an ICU message. */
  readonly format: (message: string, values?: MessageValues) => string
  /** The message in pieces. The caller puts something else than text in the place of the arguments in `open`. */
  readonly parts: (message: string, open: readonly string[], values?: MessageValues) => Part[]
}

/** Formats ICU messages in a locale. Parsed messages are kept, because there are few and each is used often. */
export function formatter(locale: string): Formatter {
  const parsed = new Map<string, IntlMessageFormat>()
  const of = (message: string) => {
    const known = parsed.get(message)
    if (known !== undefined) return known
    // Tags are text: names may contain `<`, and HTML is made elsewhere.
    const made = new IntlMessageFormat(message, locale, undefined, { ignoreTag: true })
    parsed.set(message, made)
    return made
  }
  return {
    format: (message, values) => String(of(message).format(values)),
    parts(message, open, values = {}) {
      const marks = new Map(open.map((argument) => [argument, { argument }]))
      const found = of(message).formatToParts<{ argument: string }>({
        ...values,
        ...Object.fromEntries(marks),
      })
      return found.map(({ value }) => (typeof value === 'object' ? value : { text: value }))
    },
  }
}

/** Safe markup: our templates, with all values escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Template values. Undefined and false render as nothing. */
export type Shown = Html | string | number | false | undefined | readonly Shown[]

/** A template whose values are escaped, in text and in quoted attributes. Attributes must be quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return new Html(strings.map((piece, index) => piece + markup(values[index])).join(''))
}

function markup(value: Shown): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value))
  return value.map(markup).join('')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escape(text: string): string {
  // Bidirectional control characters could disguise a name.
  return text
    .toWellFormed()
    .replace(/[&<>"'`]/g, (character) => escapes[character] ?? '')
    .replace(/[\u202a-\u202e\u2066-\u2069]|\p{Cc}/gu, (character) =>
      /[\n\t]/.test(character) ? character : '\ufffd',
    )
}

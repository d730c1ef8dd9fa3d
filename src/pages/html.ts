/** Markup that is safe to send: made of templates of ours, with everything put into them escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What can be put into a template. Nothing is shown for undefined and false. */
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
  // Characters that turn the direction of what follows could make a name look like another.
  return text
    .toWellFormed()
    .replace(/[&<>"'`]/g, (character) => escapes[character] ?? '')
    .replace(/[\u202a-\u202e\u2066-\u2069]|\p{Cc}/gu, (character) =>
      /[\n\t]/.test(character) ? character : '\ufffd',
    )
}

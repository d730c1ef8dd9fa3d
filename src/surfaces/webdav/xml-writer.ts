// Characters that no XML 1.0 document may contain, not even escaped.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** Printable ASCII without markup, as most texts are. */
const PLAIN = /^[ !#-%(-;=?-~]*$/

/** The namespace of `xml:lang`. Its prefix is declared nowhere. */
export const XML = 'http://www.w3.org/XML/1998/namespace'

/** Text for the content of an element or a quoted attribute. What XML cannot express is replaced. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text
  const escaped = /[&<>"'\r]/.test(text)
    ? text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`)
    : text
  return escaped.replace(FORBIDDEN, '\ufffd')
}

/**
 * The namespaces of names below one element, which declares each of them once. A namespace that is declared where it is used multiplies: it may
 * be long, and a document names it for every property of every item.
 */
export class Namespaces {
  readonly #prefixes = new Map<string, string>()
  readonly #letter: string
  readonly #default: string | undefined

  /** New prefixes are the letter and a number. `default` is the namespace of elements without a prefix; they have none unless it is given. */
  constructor(letter: string, { known = {}, default: own }: NamespaceOptions = {}) {
    this.#letter = letter
    this.#default = own
    for (const [prefix, namespace] of Object.entries(known)) this.#prefixes.set(namespace, prefix)
  }

  /** The name of an element. */
  elementName(namespace: string, name: string): string {
    return namespace === this.#default ? name : this.attributeName(namespace, name)
  }

  /** The name of an attribute, to which the default does not apply. */
  attributeName(namespace: string, name: string): string {
    return namespace === '' ? name : `${this.#prefixOf(namespace)}:${name}`
  }

  /** The attributes that declare all namespaces of names so far. */
  get declarations(): string {
    let text = this.#default === undefined ? '' : ` xmlns="${escapeText(this.#default)}"`
    for (const [namespace, prefix] of this.#prefixes) text += ` xmlns:${prefix}="${escapeText(namespace)}"`
    return text
  }

  #prefixOf(namespace: string): string {
    if (namespace === XML) return 'xml'
    let prefix = this.#prefixes.get(namespace)
    if (prefix === undefined) {
      prefix = `${this.#letter}${this.#prefixes.size}`
      this.#prefixes.set(namespace, prefix)
    }
    return prefix
  }
}

interface NamespaceOptions {
  /** Namespaces by the prefix that they have in any case. */
  readonly known?: Readonly<Record<string, string>>
  readonly default?: string | undefined
}

/** The start of a `multistatus` document with names of these namespaces, and of the DAV: namespace as `d`. */
export function multistatusStart({ declarations }: Namespaces): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus${declarations}>`
}

export const MULTISTATUS_END = '</d:multistatus>'

/** The namespaces of a `multistatus` document. */
export function multistatusNamespaces(): Namespaces {
  return new Namespaces('n', { known: { d: 'DAV:' } })
}

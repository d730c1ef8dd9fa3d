import { decodeCharacterReference } from './character-references.ts'

const predefined: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

// More than any attribute we ask for needs; to search a tag of megabytes again and again would take forever.
const attributesLength = 8192

/**
 * Reads XML one piece at a time, without a tree, a stack or recursion, so nesting costs nothing. It forgives what is
 * malformed. A document type is passed over and entities of its own are never expanded: they stay as they are written.
 */
export class XmlReader {
  readonly #xml: string
  #at = 0
  #closing = false
  /** The name of the current tag, without its prefix. */
  name = ''
  /** The current text. */
  text = ''
  #attributes = ''

  constructor(xml: string) {
    this.#xml = xml
  }

  /** Moves to the next tag or text; an empty-element tag opens and closes. */
  next(): 'open' | 'close' | 'text' | undefined {
    if (this.#closing) {
      this.#closing = false
      return 'close'
    }
    while (this.#at < this.#xml.length) {
      if (this.#xml[this.#at] !== '<') return this.#readText()
      if (this.#xml.startsWith('<!--', this.#at)) this.#passOver('-->')
      else if (this.#xml.startsWith('<![CDATA[', this.#at)) return this.#readCharacterData()
      else if (this.#xml.startsWith('<?', this.#at)) this.#passOver('?>')
      else if (this.#xml.startsWith('<!', this.#at)) this.#passOverDeclaration()
      else return this.#readTag()
    }
    return undefined
  }

  /** The value of an attribute of the current tag; prefixes do not count. */
  attribute(name: string): string | undefined {
    return this.#findAttribute((found) => localName(found) === name)
  }

  /** The value of the attribute of that name that has a prefix, beside one that may have none. */
  prefixedAttribute(name: string): string | undefined {
    return this.#findAttribute((found) => found.endsWith(`:${name}`))
  }

  /** Leaves the element whose opening tag is current, with all it holds. */
  skipElement(): void {
    let depth = 1
    while (depth > 0) {
      const kind = this.next()
      if (kind === undefined) return
      if (kind === 'open') depth += 1
      if (kind === 'close') depth -= 1
    }
  }

  #findAttribute(isWanted: (name: string) => boolean): string | undefined {
    if (this.#attributes === '') return undefined
    const pattern = /([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
    for (const [, found = '', double, single] of this.#attributes.matchAll(pattern)) {
      if (isWanted(found)) return unescapeXml(double ?? single ?? '')
    }
    return undefined
  }

  #readText(): 'text' {
    const end = this.#find('<', this.#at)
    this.text = unescapeXml(this.#xml.slice(this.#at, end))
    this.#at = end
    return 'text'
  }

  #readCharacterData(): 'text' {
    const end = this.#find(']]>', this.#at)
    this.text = this.#xml.slice(this.#at + '<![CDATA['.length, end)
    this.#at = end + ']]>'.length
    return 'text'
  }

  #readTag(): 'open' | 'close' {
    const end = this.#tagEnd()
    const closing = this.#xml[this.#at + 1] === '/'
    const empty = this.#xml[end - 1] === '/'
    const inner = this.#xml.slice(this.#at + (closing ? 2 : 1), empty ? end - 1 : end)
    const nameEnd = inner.search(/\s/)
    this.name = localName(nameEnd < 0 ? inner : inner.slice(0, nameEnd))
    this.#attributes = nameEnd < 0 ? '' : inner.slice(nameEnd, nameEnd + attributesLength)
    this.#at = end + 1
    if (closing) return 'close'
    this.#closing = empty
    return 'open'
  }

  // A ">" within quotes belongs to an attribute.
  #tagEnd(): number {
    const end = this.#find('>', this.#at)
    if (!/["']/.test(this.#xml.slice(this.#at, end))) return end
    const stop = /["'>]/g
    stop.lastIndex = this.#at
    for (let found = stop.exec(this.#xml); found !== null; found = stop.exec(this.#xml)) {
      if (found[0] === '>') return found.index
      stop.lastIndex = this.#find(found[0], stop.lastIndex) + 1
    }
    return this.#xml.length
  }

  #passOver(end: string): void {
    this.#at = this.#find(end, this.#at) + end.length
  }

  // The internal subset of a document type stands in brackets and holds ">" of its own.
  #passOverDeclaration(): void {
    const stop = /[[>"']/g
    stop.lastIndex = this.#at
    for (let found = stop.exec(this.#xml); found !== null; found = stop.exec(this.#xml)) {
      if (found[0] === '>') break
      stop.lastIndex = this.#find(found[0] === '[' ? ']' : found[0], stop.lastIndex) + 1
    }
    this.#at = stop.lastIndex === 0 ? this.#xml.length : stop.lastIndex
  }

  #find(what: string, from: number): number {
    const found = this.#xml.indexOf(what, from)
    return found < 0 ? this.#xml.length : found
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#?\w{1,31});/g, (whole, reference: string) =>
    reference.startsWith('#')
      ? (decodeCharacterReference(reference.slice(1)) ?? whole)
      : (predefined[reference] ?? whole),
  )
}

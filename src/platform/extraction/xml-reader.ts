import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** Attributes of one tag that are read. The others are skipped, so that a tag of megabytes stays cheap. */
const maximumAttributes = 100

type XmlEvent = 'open' | 'close'

/**
 * A pull parser for XML on top of the tokenizer of htmlparser2. It keeps no tree and no stack, so nesting costs nothing,
 * and it accepts malformed input. Document types are skipped and their entities are never expanded: they stay as written.
 */
export class XmlReader {
  readonly #xml: string
  readonly #tokenizer: Tokenizer
  readonly #events: XmlEvent[] = []
  #attributes: [name: string, value: string][] = []
  #attribute = { name: '', value: '' }
  #isOpened = false
  #hasEnded = false
  #tag = ''
  #pendingText = ''
  /** The name of the current tag, without its prefix. */
  name = ''
  /** The current text. */
  text = ''

  constructor(xml: string) {
    this.#xml = xml
    this.#tokenizer = this.#createTokenizer()
  }

  /** Moves to the next tag or text. An empty-element tag opens and closes. */
  next(): XmlEvent | 'text' | undefined {
    if (this.#events.length === 0) this.#advance()
    if (this.#pendingText !== '') {
      this.text = this.#pendingText
      this.#pendingText = ''
      return 'text'
    }
    const event = this.#events.shift()
    if (event !== undefined) this.name = this.#tag
    return event
  }

  /** The value of an attribute of the current tag; prefixes do not count. */
  attribute(name: string): string | undefined {
    return this.#attributes.find(([found]) => localName(found) === name)?.[1]
  }

  /** The value of the attribute of that name that has a prefix, beside one that may have none. */
  prefixedAttribute(name: string): string | undefined {
    return this.#attributes.find(([found]) => found.endsWith(`:${name}`))?.[1]
  }

  /** Skips the rest of the element whose opening tag is current. */
  skipElement(): void {
    let depth = 1
    while (depth > 0) {
      const kind = this.next()
      if (kind === undefined) return
      if (kind === 'open') depth += 1
      if (kind === 'close') depth -= 1
    }
  }

  /** Runs the tokenizer up to the end of the next tag, where a callback pauses it. */
  #advance(): void {
    if (this.#isOpened) this.#tokenizer.resume()
    else {
      this.#isOpened = true
      this.#tokenizer.write(this.#xml)
    }
    if (this.#events.length > 0 || this.#hasEnded) return
    this.#hasEnded = true
    this.#tokenizer.end()
  }

  #createTokenizer(): Tokenizer {
    const addText = (start: number, end: number) => {
      this.#pendingText += this.#xml.slice(start, end)
    }
    const addValue = (value: string) => {
      if (this.#attributes.length < maximumAttributes) this.#attribute.value += value
    }
    return new Tokenizer(
      { xmlMode: true },
      {
        ...ignoredTokens,
        ontext: addText,
        ontextentity: (code, end) => {
          this.#pendingText += referencedText(this.#xml, code, end)
        },
        oncdata: (start, end, endOffset) => addText(start, end - endOffset),
        onopentagname: (start, end) => {
          this.#tag = localName(this.#xml.slice(start, end))
          this.#attributes = []
        },
        onattribname: (start, end) => {
          this.#attribute = { name: this.#xml.slice(start, end), value: '' }
        },
        onattribdata: (start, end) => addValue(this.#xml.slice(start, end)),
        onattribentity: (code) => addValue(String.fromCodePoint(code)),
        onattribend: () => {
          const { name, value } = this.#attribute
          if (this.#attributes.length < maximumAttributes) this.#attributes.push([name, value])
        },
        onopentagend: () => this.#emit('open'),
        onselfclosingtag: () => this.#emit('open', 'close'),
        onclosetag: (start, end) => {
          this.#tag = localName(this.#xml.slice(start, end))
          this.#attributes = []
          this.#emit('close')
        },
      },
    )
  }

  #emit(...events: XmlEvent[]): void {
    this.#events.push(...events)
    this.#tokenizer.pause()
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Callbacks of the tokenizer that do nothing, for the tokens that a reader does not need. */
export const ignoredTokens: TokenizerCallbacks = {
  onattribdata: ignore,
  onattribend: ignore,
  onattribentity: ignore,
  onattribname: ignore,
  oncdata: ignore,
  onclosetag: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onend: ignore,
  onopentagend: ignore,
  onopentagname: ignore,
  onprocessinginstruction: ignore,
  onselfclosingtag: ignore,
  ontext: ignore,
  ontextentity: ignore,
}

function ignore(): void {}

/** The character of a reference that ends before `end`. A reference to no valid character stays as written. */
export function referencedText(markup: string, code: number, end: number): string {
  return code === 0xfffd ? markup.slice(markup.lastIndexOf('&', end - 1), end) : String.fromCodePoint(code)
}

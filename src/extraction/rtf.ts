import type { Document, Extraction } from './document.ts'
import { codePageOf, codePageOfFont } from './rtf-code-pages.ts'
import type { TextSink } from './text-sink.ts'
import { Unreadable } from './unreadable.ts'

/** The text of a document in the Rich Text Format. */
export function readRtf(document: Document, extraction: Extraction): void {
  const source = Buffer.from(document.bytes.buffer, document.bytes.byteOffset, document.bytes.length)
  if (!source.subarray(0, 16).toString('latin1').trimStart().startsWith('{\\rtf')) {
    throw new Unreadable('is not what its name says')
  }
  extraction.out.truncated ||= document.cut
  new RtfReader(source.toString('latin1'), extraction.out).read()
}

/** What a group may change, and what is as before when it ends. */
interface Group {
  readonly hidden: boolean
  readonly inFontTable: boolean
  readonly charset: string
  /** Characters to pass over after one written as `\u`, because they repeat it for older programs. */
  readonly repeated: number
}

const hiddenDestinations = new Set(
  `fonttbl colortbl stylesheet info pict object themedata colorschememapping datastore listtable listoverridetable rsidtbl
   generator filetbl revtbl xmlnstbl latentstyles fldinst bkmkstart bkmkend nonshppict`.split(/\s+/),
)
const signs: { readonly [word: string]: string } = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  cell: '\t',
  nestcell: '\t',
  nestrow: '\n',
  tab: '\t',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  '~': ' ',
  _: '-',
}

/** Groups within groups beyond this depth change nothing. */
const deepestGroup = 1000

/** Bytes kept before they are decoded; no run of letters is longer. */
const mostBytes = 64 * 1024

class RtfReader {
  readonly #source: string
  readonly #out: TextSink
  readonly #outer: Group[] = []
  readonly #fonts = new Map<number, string>()
  #group: Group = { hidden: false, inFontTable: false, charset: 'windows-1252', repeated: 1 }
  #deeper = 0
  #documentCharset = 'windows-1252'
  #font = 0
  #toPassOver = 0
  // Bytes of the current charset that may be halves of characters.
  #bytes: number[] = []

  constructor(source: string, out: TextSink) {
    this.#source = source
    this.#out = out
  }

  read(): void {
    const token =
      /([{}])|\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|[\r\n]+|([^{}\\\r\n]+)/giy
    for (let found = token.exec(this.#source); found !== null; found = token.exec(this.#source)) {
      const [, brace, word, number, hex, symbol, text] = found
      if (hex !== undefined) this.#addByte(Number.parseInt(hex, 16))
      else if (text !== undefined) this.#addText(text)
      else if (brace !== undefined) this.#passBrace(brace)
      else if (symbol !== undefined) this.#addSymbol(symbol)
      else if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0))
      else if (word !== undefined) this.#applyWord(word, number === undefined ? undefined : Number(number))
    }
    this.#flush()
  }

  #passBrace(brace: string): void {
    this.#flush()
    this.#toPassOver = 0
    if (brace === '{' && this.#outer.length >= deepestGroup) this.#deeper += 1
    else if (brace === '{') this.#outer.push(this.#group)
    else if (this.#deeper > 0) this.#deeper -= 1
    else this.#group = this.#outer.pop() ?? this.#group
  }

  #applyWord(word: string, number: number | undefined): void {
    if (word === 'u' && number !== undefined) return this.#addUnicode(number)
    const sign = signs[word]
    if (sign !== undefined) return this.#addSign(sign)
    this.#flush()
    if (word === 'uc') this.#change({ repeated: Math.max(0, number ?? 1) })
    else if (word === 'ansicpg') this.#setDocumentCharset(codePageOf(number ?? 0))
    else if (word === 'mac') this.#setDocumentCharset('macintosh')
    else if (word === 'f') this.#setFont(number ?? 0)
    else if (word === 'fcharset') this.#fonts.set(this.#font, codePageOfFont(number ?? 0) ?? '')
    else if (word === 'fonttbl') this.#change({ hidden: true, inFontTable: true })
    else if (hiddenDestinations.has(word)) this.#change({ hidden: true })
    else if (word === 'plain') this.#change({ charset: this.#documentCharset })
  }

  #change(changes: Partial<Group>): void {
    this.#group = { ...this.#group, ...changes }
  }

  #setDocumentCharset(charset: string): void {
    this.#documentCharset = charset
    this.#change({ charset })
  }

  // In the font table the word says which font is described, elsewhere which one is used.
  #setFont(number: number): void {
    this.#font = number
    if (!this.#group.inFontTable) this.#change({ charset: this.#fonts.get(number) || this.#documentCharset })
  }

  #addByte(byte: number): void {
    if (this.#toPassOver > 0) this.#toPassOver -= 1
    else if (!this.#group.hidden) this.#bytes.push(byte)
    if (this.#bytes.length > mostBytes) this.#flush()
  }

  // Text is ASCII, but for the second halves of characters, and for what careless programs write.
  #addText(text: string): void {
    const passed = Math.min(this.#toPassOver, text.length)
    this.#toPassOver -= passed
    if (this.#group.hidden) return
    const rest = text.slice(passed)
    if (this.#bytes.length === 0 && /^[\x20-\x7e]*$/.test(rest)) return this.#out.add(rest)
    for (let at = 0; at < rest.length; at += 1) this.#addByte(rest.charCodeAt(at))
  }

  #addUnicode(number: number): void {
    this.#flush()
    if (!this.#group.hidden) this.#out.add(String.fromCharCode(number & 0xffff))
    this.#toPassOver = this.#group.repeated
  }

  #addSymbol(symbol: string): void {
    if (symbol === '*') this.#change({ hidden: true })
    else if (symbol === '\n' || symbol === '\r') this.#addSign('\n')
    else this.#addSign(signs[symbol] ?? (/[\\{}]/.test(symbol) ? symbol : ''))
  }

  #addSign(sign: string): void {
    this.#flush()
    if (this.#toPassOver > 0) this.#toPassOver -= 1
    else if (!this.#group.hidden) this.#out.add(sign)
  }

  #flush(): void {
    if (this.#bytes.length === 0) return
    const bytes = Uint8Array.from(this.#bytes)
    this.#bytes = []
    this.#out.add(new TextDecoder(this.#group.charset).decode(bytes))
  }
}

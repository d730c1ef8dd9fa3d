import { type Document, type Extraction, Unreadable } from './document.ts'
import { codePageOf, codePageOfFont } from './rtf-code-pages.ts'
import type { TextSink } from './text-sink.ts'

/** Extracts the text of a Rich Text Format document. */
export function readRtf(document: Document, extraction: Extraction): void {
  const source = Buffer.from(document.bytes.buffer, document.bytes.byteOffset, document.bytes.length)
  if (!source.subarray(0, 16).toString('latin1').trimStart().startsWith('{\\rtf')) {
    throw new Unreadable('is not what its name says')
  }
  extraction.out.truncated ||= document.cut
  new RtfReader(source.toString('latin1'), extraction.out).read()
}

/** State of a group, restored when the group ends. */
interface Group {
  readonly hidden: boolean
  readonly inFontTable: boolean
  readonly charset: string
  /** Number of characters after a `\u` that repeat it for older programs and are skipped. */
  readonly fallbackLength: number
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

/** Groups nested deeper have no state of their own. */
const MAX_DEPTH = 1000

/** Bytes buffered before they are decoded. */
const MAX_RUN_BYTES = 64 * 1024

class RtfReader {
  readonly #source: string
  readonly #out: TextSink
  readonly #outer: Group[] = []
  readonly #fonts = new Map<number, string>()
  #group: Group = { hidden: false, inFontTable: false, charset: 'windows-1252', fallbackLength: 1 }
  #deeper = 0
  #documentCharset = 'windows-1252'
  #font = 0
  #skip = 0
  // Buffered bytes of the current charset, because a character may span several tokens.
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
      else if (brace !== undefined) this.#applyBrace(brace)
      else if (symbol !== undefined) this.#addSymbol(symbol)
      else if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0))
      else if (word !== undefined) this.#applyWord(word, number === undefined ? undefined : Number(number))
    }
    this.#flush()
  }

  #applyBrace(brace: string): void {
    this.#flush()
    this.#skip = 0
    if (brace === '{' && this.#outer.length >= MAX_DEPTH) this.#deeper += 1
    else if (brace === '{') this.#outer.push(this.#group)
    else if (this.#deeper > 0) this.#deeper -= 1
    else this.#group = this.#outer.pop() ?? this.#group
  }

  #applyWord(word: string, number: number | undefined): void {
    if (word === 'u' && number !== undefined) return this.#addUnicode(number)
    const sign = signs[word]
    if (sign !== undefined) return this.#addSign(sign)
    this.#flush()
    if (word === 'uc') this.#change({ fallbackLength: Math.max(0, number ?? 1) })
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

  // In the font table the control word starts a definition, elsewhere it selects a font.
  #setFont(number: number): void {
    this.#font = number
    if (!this.#group.inFontTable) this.#change({ charset: this.#fonts.get(number) || this.#documentCharset })
  }

  #addByte(byte: number): void {
    if (this.#skip > 0) this.#skip -= 1
    else if (!this.#group.hidden) this.#bytes.push(byte)
    if (this.#bytes.length > MAX_RUN_BYTES) this.#flush()
  }

  // Text is ASCII, except for trailing bytes of multi-byte characters and invalid files.
  #addText(text: string): void {
    const skipped = Math.min(this.#skip, text.length)
    this.#skip -= skipped
    if (this.#group.hidden) return
    const rest = text.slice(skipped)
    if (this.#bytes.length === 0 && /^[\x20-\x7e]*$/.test(rest)) return this.#out.add(rest)
    for (let at = 0; at < rest.length; at += 1) this.#addByte(rest.charCodeAt(at))
  }

  #addUnicode(number: number): void {
    this.#flush()
    if (!this.#group.hidden) this.#out.add(String.fromCharCode(number & 0xffff))
    this.#skip = this.#group.fallbackLength
  }

  #addSymbol(symbol: string): void {
    if (symbol === '*') this.#change({ hidden: true })
    else if (symbol === '\n' || symbol === '\r') this.#addSign('\n')
    else this.#addSign(signs[symbol] ?? (/[\\{}]/.test(symbol) ? symbol : ''))
  }

  #addSign(sign: string): void {
    this.#flush()
    if (this.#skip > 0) this.#skip -= 1
    else if (!this.#group.hidden) this.#out.add(sign)
  }

  #flush(): void {
    if (this.#bytes.length === 0) return
    const bytes = Uint8Array.from(this.#bytes)
    this.#bytes = []
    this.#out.add(new TextDecoder(this.#group.charset).decode(bytes))
  }
}

import type { IncomingHttpHeaders } from 'node:http'
import { ProtocolError } from '../protocol-error.ts'

/** How the body of a request is marked off. */
export interface Framing {
  /** Bytes to come; 0 without a body, and undefined if it comes in chunks until one is empty. */
  readonly length: number | undefined
}

const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const NO_VALUE = /[^\t -~\x80-\xff]/
/** RFC 9110, 7.2: a name or an address, and a port; empty where a client knows neither. */
const HOST =
  /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-f:.]+\]|\[v[\da-f]+\.[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/i
const COLON = 0x3a
const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const TAB = 0x09

/**
 * The headers of a request. They never change, so the next request on a connection that sends the very same bytes is
 * given the same object, with all that was worked out about it.
 */
export class HeaderBlock {
  /** In lower case, in the order they were sent. */
  readonly #names: readonly string[]
  readonly #values: readonly string[]
  #all: IncomingHttpHeaders | undefined
  readonly framing: Framing
  /** What the client wishes for the connection, by the words of its header. */
  readonly connection: ReadonlySet<string>
  /** Whether the client waits to be told before it sends its body. */
  readonly expectsContinue: boolean
  /** `Host` headers; of a request of HTTP/1.1 there is exactly one. */
  readonly hosts: number

  private constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
    this.framing = framingOf(this.#allOf('content-length'), this.#allOf('transfer-encoding'))
    this.connection = words(this.#allOf('connection'))
    const hosts = this.#allOf('host')
    if (!hosts.every((host) => HOST.test(host))) throw new ProtocolError(400)
    this.hosts = hosts.length
    const expected = this.#allOf('expect')
    if (expected.some((value) => value.toLowerCase() !== '100-continue')) throw new ProtocolError(417)
    this.expectsContinue = expected.length > 0
  }

  /** Reads lines that end where they end, without the empty one behind them. Throws a `ProtocolError`. */
  static parse(bytes: Buffer): HeaderBlock {
    const names: string[] = []
    const values: string[] = []
    for (let at = 0; at < bytes.length; ) {
      const found = bytes.indexOf(CR, at)
      const end = found === -1 ? bytes.length : found
      if (found !== -1 && bytes[found + 1] !== LF) throw new ProtocolError(400)
      const colon = bytes.indexOf(COLON, at)
      if (colon === -1 || colon > end) throw new ProtocolError(400)
      const name = bytes.toString('latin1', at, colon)
      if (!TOKEN.test(name)) throw new ProtocolError(400)
      const lower = name.toLowerCase()
      // Parsers disagree about a tab around the coding, so it is refused.
      if (lower === 'transfer-encoding' && bytes.subarray(colon, end).includes(TAB))
        throw new ProtocolError(400)
      names.push(lower)
      values.push(valueIn(bytes, colon + 1, end))
      at = end + 2
    }
    return new HeaderBlock(names, values)
  }

  /** The first header of a name in lower case. */
  one(name: string): string | undefined {
    const at = this.#names.indexOf(name)
    return at === -1 ? undefined : this.#values[at]
  }

  /** Every header by its name in lower case, those sent several times as `node:http` would give them. */
  get all(): IncomingHttpHeaders {
    this.#all ??= this.#collect()
    return this.#all
  }

  #allOf(name: string): string[] {
    return this.#values.filter((_, at) => this.#names[at] === name)
  }

  #collect(): IncomingHttpHeaders {
    const all: IncomingHttpHeaders = Object.create(null)
    this.#names.forEach((name, at) => {
      const value = this.#values[at] ?? ''
      const before = all[name]
      if (before === undefined) all[name] = name === 'set-cookie' ? [value] : value
      else if (typeof before !== 'string') before.push(value)
      else if (!FIRST_COUNTS.has(name)) all[name] = before + (name === 'cookie' ? '; ' : ', ') + value
    })
    return all
  }
}

/** Whether a line, without its line break, is a header or trailer field. */
export function isField(line: string): boolean {
  const colon = line.indexOf(':')
  return colon !== -1 && TOKEN.test(line.slice(0, colon)) && !NO_VALUE.test(line.slice(colon + 1))
}

/** Headers that cannot be lists. */
const FIRST_COUNTS = new Set([
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'user-agent',
])

/** Copied out of the bytes, not cut from a longer text: some values are kept for long. */
function valueIn(bytes: Buffer, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(bytes[start])) start += 1
  while (end > start && isBlank(bytes[end - 1])) end -= 1
  const value = bytes.toString('latin1', start, end)
  if (NO_VALUE.test(value)) throw new ProtocolError(400)
  return value
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

/** Two ways to tell where a body ends would let two readers of one connection disagree about it: refused. */
function framingOf(lengths: readonly string[], encodings: readonly string[]): Framing {
  const [length, ...otherLengths] = lengths
  const [encoding, ...otherEncodings] = encodings
  if (otherLengths.length > 0 || (length !== undefined && encoding !== undefined))
    throw new ProtocolError(400)
  if (encoding !== undefined) {
    if (otherEncodings.length > 0 || encoding.toLowerCase() !== 'chunked') throw new ProtocolError(501)
    return { length: undefined }
  }
  if (length === undefined) return { length: 0 }
  if (!/^\d{1,15}$/.test(length)) throw new ProtocolError(400)
  return { length: Number(length) }
}

function words(values: readonly string[]): ReadonlySet<string> {
  if (values.length === 0) return none
  return new Set(values.flatMap((value) => value.split(',')).map((word) => word.trim().toLowerCase()))
}

const none: ReadonlySet<string> = new Set()

import type { IncomingHttpHeaders } from 'node:http'
import { isFieldName, isFieldValue } from '../field-syntax.ts'
import { ProtocolError } from '../protocol-error.ts'
import { isHost } from '../request-target.ts'
import { MAX_HEADER_FIELDS, type RequestHeaders } from '../transport.ts'

/** How the body of a request is delimited. */
export interface Framing {
  /** Of `Content-Length`; 0 without a body, undefined for a chunked one. */
  readonly length: number | undefined
}

const COLON = 0x3a
const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const TAB = 0x09

/** Parsed header fields. Immutable, so requests with the same bytes share one. */
export class HeaderBlock implements RequestHeaders {
  /** In lower case, in the order sent. */
  readonly #names: readonly string[]
  readonly #values: readonly string[]
  #all: IncomingHttpHeaders | undefined
  readonly framing: Framing
  /** The options of the `Connection` field, in lower case. */
  readonly connection: ReadonlySet<string>
  /** Whether the client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean
  /** Number of `Host` fields. */
  readonly hosts: number

  private constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
    this.framing = framingOf(this.#allOf('content-length'), this.#allOf('transfer-encoding'))
    this.connection = connectionOptions(this.#allOf('connection'))
    const hosts = this.#allOf('host')
    if (!hosts.every(isHost)) throw new ProtocolError(400)
    this.hosts = hosts.length
    const expected = this.#allOf('expect')
    if (expected.some((value) => value.toLowerCase() !== '100-continue')) throw new ProtocolError(417)
    this.expectsContinue = expected.length > 0
  }

  /** Parses field lines, without the line break of the last one. Throws a `ProtocolError`. */
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
      if (!isFieldName(name)) throw new ProtocolError(400)
      const lower = name.toLowerCase()
      // Parsers disagree about a tab around the coding.
      if (lower === 'transfer-encoding' && bytes.subarray(colon, end).includes(TAB))
        throw new ProtocolError(400)
      names.push(lower)
      values.push(valueIn(bytes, colon + 1, end))
      if (names.length > MAX_HEADER_FIELDS) throw new ProtocolError(431)
      at = end + 2
    }
    return new HeaderBlock(names, values)
  }

  one(name: string): string | undefined {
    const at = this.#names.indexOf(name)
    return at === -1 ? undefined : this.#values[at]
  }

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
  return colon !== -1 && isFieldName(line.slice(0, colon)) && isFieldValue(line.slice(colon + 1))
}

/** Fields of which the first one counts, because they are not lists. */
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

/** A copy, so that a value that is stored for long does not retain the whole head. */
function valueIn(bytes: Buffer, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(bytes[start])) start += 1
  while (end > start && isBlank(bytes[end - 1])) end -= 1
  const value = bytes.toString('latin1', start, end)
  if (!isFieldValue(value)) throw new ProtocolError(400)
  return value
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

/** Rejects ambiguous framing, which would allow request smuggling past a proxy. */
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

function connectionOptions(values: readonly string[]): ReadonlySet<string> {
  if (values.length === 0) return none
  return new Set(values.flatMap((value) => value.split(',')).map((option) => option.trim().toLowerCase()))
}

const none: ReadonlySet<string> = new Set()

import { METHODS } from 'node:http'
import { ProtocolError } from '../protocol-error.ts'
import { HeaderBlock } from './header-block.ts'

/** Most bytes of a request line and its headers. */
export const LONGEST_HEAD = 16 * 1024

/** What stands before the body of a request. */
export interface RequestHead {
  readonly method: string
  /** As sent. */
  readonly url: string
  /** HTTP/1.1, and not 1.0. */
  readonly isNew: boolean
  readonly headers: HeaderBlock
}

const CRLF = Buffer.from('\r\n')
const END = Buffer.from('\r\n\r\n')
const LF = 0x0a
/** All but CONNECT, after which a connection carries something else. */
const known = new Set(METHODS.filter((method) => method !== 'CONNECT'))
const LONGEST_METHOD = Math.max(...METHODS.map((method) => method.length))
/** A path, a star, or a whole URL of a plain host. */
const URL_SHAPE = /^(?:\/[!-~]*|\*|https?:\/\/[\w.~:[\]-]+(?:[/?][!-~]*)?)$/i

/** Reads the heads of one connection, one after another. */
export class HeadReader {
  #last: { readonly bytes: Buffer; readonly headers: HeaderBlock } | undefined

  /**
   * The head at the beginning of `bytes` and where it ends; undefined as long as it is not all there. Throws a `ProtocolError`.
   */
  read(bytes: Buffer): { head: RequestHead; end: number } | undefined {
    const start = afterEmptyLine(bytes)
    const end = bytes.indexOf(END, start)
    if ((end === -1 ? bytes.length : end) - start > LONGEST_HEAD) throw new ProtocolError(431)
    if (end === -1) {
      checkBeginning(bytes, start)
      return undefined
    }
    const lineEnd = bytes.indexOf(CRLF, start)
    const { method, url, isNew } = readLine(bytes.toString('latin1', start, lineEnd))
    const headers = this.#headers(bytes.subarray(lineEnd + 2, Math.max(end, lineEnd + 2)))
    if (isNew ? headers.hosts !== 1 : headers.hosts > 1) throw new ProtocolError(400)
    if (!isNew && headers.framing.length === undefined) throw new ProtocolError(400)
    return { head: { method, url, isNew, headers }, end: end + END.length }
  }

  #headers(bytes: Buffer): HeaderBlock {
    const last = this.#last
    if (last !== undefined && last.bytes.equals(bytes)) return last.headers
    const headers = HeaderBlock.parse(bytes)
    this.#last = { bytes: Buffer.from(bytes), headers }
    return headers
  }
}

/** Whether bytes are no more than the empty line that old clients send behind a body. */
export function isEmptyLine(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes[0] === CRLF[0] && (bytes.length < 2 || bytes[1] === CRLF[1])
}

/**
 * Throws a `ProtocolError` for bytes that cannot become a head, whatever follows: TLS, another protocol, lines that end with
 * a line feed alone. Waiting for the rest would only keep the client waiting.
 */
function checkBeginning(bytes: Buffer, start: number): void {
  const lineFeed = bytes.indexOf(LF, start)
  if (lineFeed !== -1) {
    if (bytes[lineFeed - 1] !== CRLF[0] || bytes[bytes.lastIndexOf(LF) - 1] !== CRLF[0])
      throw new ProtocolError(400)
    readLine(bytes.toString('latin1', start, lineFeed - 1))
    return
  }
  if (start > 0 || bytes[0] !== CRLF[0])
    checkMethod(bytes.toString('latin1', start, start + LONGEST_METHOD + 1))
}

/** `text` begins with a method, or is the beginning of one. */
function checkMethod(text: string): void {
  const space = text.indexOf(' ')
  const isKnown =
    space === -1 ? METHODS.some((method) => method.startsWith(text)) : known.has(text.slice(0, space))
  if (!isKnown) throw new ProtocolError(400)
}

/** Old clients send an empty line behind a body. */
function afterEmptyLine(bytes: Buffer): number {
  return bytes[0] === CRLF[0] && bytes[1] === CRLF[1] ? 2 : 0
}

function readLine(line: string): { method: string; url: string; isNew: boolean } {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  const method = line.slice(0, first)
  const url = line.slice(first + 1, second)
  const version = line.slice(second + 1)
  const isNew = version === 'HTTP/1.1'
  if (first <= 0 || second === -1 || !(isNew || version === 'HTTP/1.0')) throw new ProtocolError(400)
  if (!known.has(method) || !URL_SHAPE.test(url)) throw new ProtocolError(400)
  return { method, url, isNew }
}

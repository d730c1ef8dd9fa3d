import { METHODS } from 'node:http'
import { ProtocolError } from '../protocol-error.ts'
import { isRequestTarget } from '../request-target.ts'
import { MAX_HEAD_BYTES, type RequestHead } from '../transport.ts'
import { HeaderBlock } from './header-block.ts'

/** A head as our parser reads it. */
export interface ParsedHead extends RequestHead {
  /** HTTP/1.1, not 1.0. */
  readonly isHttp11: boolean
  readonly headers: HeaderBlock
}

const CRLF = Buffer.from('\r\n')
const END = Buffer.from('\r\n\r\n')
const LF = 0x0a
/** Every method but CONNECT, which would turn the connection into a tunnel. */
const knownMethods = new Set(METHODS.filter((method) => method !== 'CONNECT'))
const MAX_METHOD_LENGTH = Math.max(...METHODS.map((method) => method.length))
/**
 * Parses the request heads of one connection. The parsed header fields of the previous request are cached, because
 * clients repeat them byte by byte.
 */
export class HeadReader {
  #last: { readonly bytes: Buffer; readonly headers: HeaderBlock } | undefined

  /** The head at the beginning of `bytes` and its end; undefined while it is incomplete. Throws a `ProtocolError`. */
  read(bytes: Buffer): { head: ParsedHead; end: number } | undefined {
    const start = afterEmptyLine(bytes)
    const end = bytes.indexOf(END, start)
    if ((end === -1 ? bytes.length : end) - start > MAX_HEAD_BYTES) throw new ProtocolError(431)
    if (end === -1) {
      checkBeginning(bytes, start)
      return undefined
    }
    const lineEnd = bytes.indexOf(CRLF, start)
    const { method, url, isHttp11 } = readLine(bytes.toString('latin1', start, lineEnd))
    const headers = this.#headers(bytes.subarray(lineEnd + 2, Math.max(end, lineEnd + 2)))
    if (isHttp11 ? headers.hosts !== 1 : headers.hosts > 1) throw new ProtocolError(400)
    if (!isHttp11 && headers.framing.length === undefined) throw new ProtocolError(400)
    return { head: { method, url, isHttp11, headers }, end: end + END.length }
  }

  #headers(bytes: Buffer): HeaderBlock {
    const last = this.#last
    if (last !== undefined && last.bytes.equals(bytes)) return last.headers
    const headers = HeaderBlock.parse(bytes)
    this.#last = { bytes: Buffer.from(bytes), headers }
    return headers
  }
}

/** Whether bytes are at most the empty line that old clients send after a body. */
export function isEmptyLine(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes[0] === CRLF[0] && (bytes.length < 2 || bytes[1] === CRLF[1])
}

/**
 * Throws a `ProtocolError` for bytes that no continuation can make a head: TLS, another protocol, lines that end with a
 * bare line feed. Their client gets the error at once instead of after the timeout.
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
    checkMethod(bytes.toString('latin1', start, start + MAX_METHOD_LENGTH + 1))
}

/** Accepts a method and a prefix of one. */
function checkMethod(text: string): void {
  const space = text.indexOf(' ')
  const isKnown =
    space === -1 ? METHODS.some((method) => method.startsWith(text)) : knownMethods.has(text.slice(0, space))
  if (!isKnown) throw new ProtocolError(400)
}

/** Skips the empty line that old clients send after a body. */
function afterEmptyLine(bytes: Buffer): number {
  return bytes[0] === CRLF[0] && bytes[1] === CRLF[1] ? 2 : 0
}

function readLine(line: string): { method: string; url: string; isHttp11: boolean } {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  const method = line.slice(0, first)
  const url = line.slice(first + 1, second)
  const version = line.slice(second + 1)
  const isHttp11 = version === 'HTTP/1.1'
  if (first <= 0 || second === -1 || !(isHttp11 || version === 'HTTP/1.0')) throw new ProtocolError(400)
  if (!knownMethods.has(method) || !isRequestTarget(url)) throw new ProtocolError(400)
  return { method, url, isHttp11 }
}

import { METHODS } from 'node:http'
import { HeaderBlock } from './header-block.ts'
import { WireError } from './wire-error.ts'

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
const known = new Set(METHODS)
const URL_SHAPE = /^(?:\/|\*$|https?:\/\/)[!-~]*$/i

/** Reads the heads of one connection, one after another. */
export class HeadReader {
  #last: { readonly bytes: Buffer; readonly headers: HeaderBlock } | undefined

  /**
   * The head at the beginning of `bytes` and where it ends; undefined as long as it is not all there. Throws a `WireError`.
   */
  read(bytes: Buffer): { head: RequestHead; end: number } | undefined {
    const start = afterEmptyLine(bytes)
    const end = bytes.indexOf(END, start)
    if ((end === -1 ? bytes.length : end) - start > LONGEST_HEAD) throw new WireError(431)
    if (end === -1) return undefined
    const lineEnd = bytes.indexOf(CRLF, start)
    const { method, url, isNew } = readLine(bytes.toString('latin1', start, lineEnd))
    const headers = this.#headers(bytes.subarray(lineEnd + 2, Math.max(end, lineEnd + 2)))
    if (isNew ? headers.hosts !== 1 : headers.hosts > 1) throw new WireError(400)
    if (!isNew && headers.framing.length === undefined) throw new WireError(400)
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
  if (first <= 0 || second === -1 || !(isNew || version === 'HTTP/1.0')) throw new WireError(400)
  if (!known.has(method) || !URL_SHAPE.test(url)) throw new WireError(400)
  return { method, url, isNew }
}

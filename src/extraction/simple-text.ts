import { isUtf8 } from 'node:buffer'

/** Bytes of plain text that may be looked at without a worker: less than a millisecond's work. */
export const SIMPLE_BYTES = 128 * 1024

/**
 * The text of a file that is UTF-8 beyond doubt, as most are: a worker would find the same, later and at a hundred times the
 * cost. Undefined for all that leaves a choice, such as escapes and zero bytes, which other charsets have.
 */
export function simpleText(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\0-\x08\x0b\x0e-\x1f]/.test(text)) return undefined
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
}

/** All of a file, if it is no longer than expected. */
export async function readShort(source: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of source) {
    // A piece may be used again for the next.
    pieces.push(Buffer.from(piece))
    length += piece.length
    if (length > SIMPLE_BYTES) return undefined
  }
  return Buffer.concat(pieces)
}

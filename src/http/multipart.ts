import type { FilePart } from './fields.ts'
import { decodeUtf8 } from './form-decoding.ts'
import { boundaryOf, filenameOf, parametersOf } from './header-parameters.ts'
import { detail, type Refusal } from './refusal.ts'

/** One part of a form: its name, and its text or the file it holds. */
export type Part = readonly [name: string, value: string | FilePart]

/** Takes a multipart/form-data body apart. For bodies small enough to be in memory; uploads are streamed. */
export function parseMultipart(contentType: string, bytes: Buffer, maxParts: number): Part[] {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) throw malformed('there is no boundary')
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const parts: Part[] = []
  let at = endOfFirst(delimiter, bytes)
  // Two hyphens after a delimiter make it the last; anything behind it is an epilogue.
  while (!(bytes[at] === 0x2d && bytes[at + 1] === 0x2d)) {
    const start = endOfLine(bytes, at)
    const blankLine = bytes.indexOf('\r\n\r\n', start)
    if (blankLine < 0) throw malformed('a part has no end to its headers')
    const end = bytes.indexOf(delimiter, blankLine + 2)
    if (end < 0) throw malformed('a part has no end')
    if (parts.length === maxParts) throw malformed('there are too many parts')
    // A part without content may share one line break between its headers and the delimiter.
    const content = bytes.subarray(Math.min(blankLine + 4, end), end)
    parts.push(readPart(bytes.subarray(start, blankLine), content))
    at = end + delimiter.length
  }
  return parts
}

/** Just past the first delimiter, which lacks its line break when nothing precedes it. */
function endOfFirst(delimiter: Buffer, bytes: Buffer): number {
  if (delimiter.subarray(2).equals(bytes.subarray(0, delimiter.length - 2))) return delimiter.length - 2
  const start = bytes.indexOf(delimiter)
  if (start < 0) throw malformed('the boundary does not occur')
  return start + delimiter.length
}

/** Just past the line break that ends a delimiter; only blanks may come before it. */
function endOfLine(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at += 1
  if (bytes[at] !== 0x0d || bytes[at + 1] !== 0x0a) throw malformed('a boundary does not end its line')
  return at + 2
}

function readPart(head: Buffer, content: Buffer): Part {
  let parameters = new Map<string, string>()
  let contentType: string | undefined
  for (const line of decodeUtf8(head).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (name === 'content-disposition') parameters = parametersOf(line)
    if (name === 'content-type') contentType = line.slice(colon + 1).trim()
  }
  const name = parameters.get('name')
  if (name === undefined) throw malformed('a part has no name')
  const filename = filenameOf(parameters)
  return [name, filename === undefined ? decodeUtf8(content) : { filename, contentType, bytes: content }]
}

function malformed(reason: string): Refusal {
  return detail(400, `Multipart form parse error - ${reason}`)
}

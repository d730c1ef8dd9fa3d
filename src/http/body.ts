import { isUtf8 } from 'node:buffer'
import { Fields, maxFields } from './fields.ts'
import { parseMultipart } from './multipart.ts'
import { detail, type Refusal } from './refusal.ts'
import { DRAIN_LIMIT } from './wire/connection.ts'
import type { IncomingBody } from './wire/incoming-body.ts'

/** Most levels of a JSON body. Parsing what is nested without end would hold up everybody (I10). */
const maxJsonDepth = 100

/**
 * Reads a whole body of at most `limit` bytes; not a promise if it is there. Somewhat more is taken and thrown away
 * before refusing, because a client still sending would see a broken connection in place of the answer.
 */
export function readBody(body: IncomingBody, limit: number): Buffer | Promise<Buffer> {
  const { length } = body
  if (length !== undefined && length > limit + DRAIN_LIMIT) throw tooLarge()
  const whole = length !== undefined && length <= limit ? body.takeWhole() : undefined
  return whole ?? collect(body, limit)
}

async function collect(body: IncomingBody, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    length += piece.length
    if (length <= limit) pieces.push(piece)
    else pieces.length = 0
    if (length > limit + DRAIN_LIMIT) break
  }
  if (length > limit) throw tooLarge()
  return Buffer.concat(pieces)
}

/** The fields of a body in any encoding clients use. An empty body is fine whatever its type. */
export function parseBody(contentType: string | undefined, bytes: Buffer): Fields {
  if (bytes.length === 0) return Fields.none
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase()
  switch (type) {
    case 'application/x-www-form-urlencoded':
      return parseForm(bytes)
    case 'multipart/form-data':
      return Fields.fromParts(parseMultipart(contentType ?? '', bytes, maxFields))
    case 'application/json':
      return parseJson(bytes)
    case '':
      return looksLikeForm(bytes) ? parseForm(bytes) : Fields.none
    default:
      throw detail(415, `Unsupported media type "${contentType}" in request.`)
  }
}

function parseForm(bytes: Buffer): Fields {
  const fields = Fields.fromForm(bytes)
  if (fields === undefined) throw detail(400, 'Too many fields in request.')
  return fields
}

function parseJson(bytes: Buffer): Fields {
  if (!isUtf8(bytes)) throw jsonError('the text is not UTF-8')
  if (isDeeper(bytes, maxJsonDepth)) throw jsonError('the value is nested too deeply')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw jsonError(error instanceof Error ? error.message : 'not JSON')
  }
  if (typeof value !== 'object' || value === null) throw jsonError('an object is expected')
  return Fields.fromJson(value)
}

/** Whether JSON is nested more than `levels` deep, at a small part of what parsing it would cost. */
function isDeeper(bytes: Buffer, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === 0x22) at = endOfString(bytes, at)
    else if (byte === 0x5b || byte === 0x7b) depth += 1
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
    if (depth > levels) return true
  }
  return false
}

/** Where the quote is that ends the string which starts at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0x22, from + 1); at !== -1; at = bytes.indexOf(0x22, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === 0x5c) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return bytes.length
}

function looksLikeForm(bytes: Buffer): boolean {
  return /^[^\s={}[\]"]+=[^\r\n]*$/.test(bytes.toString('latin1'))
}

function jsonError(reason: string): Refusal {
  return detail(400, `JSON parse error - ${reason}`)
}

function tooLarge(): Refusal {
  return detail(413, 'Request body is too large.')
}

import { JsonRefused, parseOutsideJson } from '../../base/json.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import {
  boundaryOf,
  Fields,
  type FilePart,
  GrowingBuffer,
  MultipartStream,
  maxFields,
} from '../input/index.ts'
import { detail, type Refusal } from '../responses/index.ts'
import type { BodyClaim } from './body-memory.ts'
import type { RequestBody } from './transport.ts'

/** Of all objects of a JSON body. A batch call names 10,000 items with two fields each. Parsing as many different ones takes 20 ms. */
const MAX_JSON_NAMES = 25_000

/** Reads a whole body of at most `limit` bytes into memory that `claim` reserves; not a promise if it is buffered. */
export function readBody(body: RequestBody, limit: number, claim: BodyClaim): Buffer | Promise<Buffer> {
  const { length } = body
  if (length !== undefined && length > limit) throw tooLarge()
  const waiting = length === undefined ? undefined : claim.growTo(length)
  if (waiting !== undefined) return waiting.then(() => collect(body, limit, claim))
  const whole = length === undefined ? undefined : body.takeWhole()
  return whole ?? collect(body, limit, claim)
}

async function collect(body: RequestBody, limit: number, claim: BodyClaim): Promise<Buffer> {
  const collected = new GrowingBuffer()
  const most = Math.min(limit, body.length ?? limit)
  let received = 0
  claim.receiving({ received: () => received, onExpired: (refusal) => body.fail(refusal) })
  try {
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
      received += piece.length
      if (received > limit) throw tooLarge()
      const waiting = claim.growTo(collected.capacityFor(piece.length, most))
      if (waiting !== undefined) await waiting
      collected.append(piece, most)
    }
  } finally {
    claim.receiving(undefined)
  }
  return collected.bytes
}

/**
 * Parses the fields of a body in any supported encoding; a promise only for multipart. An empty body may have
 * any type.
 */
export function parseBody(contentType: string | undefined, bytes: Buffer): Fields | Promise<Fields> {
  if (bytes.length === 0) return Fields.none
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase()
  switch (type) {
    case 'application/x-www-form-urlencoded':
      return parseForm(bytes)
    case 'multipart/form-data':
      return parseMultipart(contentType ?? '', bytes, maxFields).then((parts) => Fields.fromParts(parts))
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
  if (fields === undefined) throw tooManyFields()
  return fields
}

/** Whether an object has more names than a form may have, or one of its lists has more items. */
function hasTooMany(value: object): boolean {
  if (Array.isArray(value)) return value.length > maxFields
  const values = Object.values(value)
  return values.length > maxFields || values.some((one) => Array.isArray(one) && one.length > maxFields)
}

function tooManyFields(): Refusal {
  return detail(400, 'Too many fields in request.')
}

function parseJson(bytes: Buffer): Fields {
  const value = parsed(bytes)
  if (typeof value !== 'object' || value === null) throw jsonError('an object is expected')
  if (hasTooMany(value)) throw tooManyFields()
  return Fields.fromJson(value)
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseOutsideJson(bytes, { names: MAX_JSON_NAMES })
  } catch (error) {
    if (error instanceof JsonRefused) throw jsonError(error.message)
    throw error
  }
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

/** One part of a form: its name, and its text or its file. */
type Part = readonly [name: string, value: string | FilePart]

/** Parses a multipart/form-data body that is in memory. */
export async function parseMultipart(contentType: string, bytes: Buffer, maxParts: number): Promise<Part[]> {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) throw malformed('there is no boundary')
  const chunks = [bytes]
  const options = { malformed, maxParts, maxTextBytes: bytes.length }
  const form = new MultipartStream(() => chunks.shift(), boundary, options)
  const parts: Part[] = []
  const slicer = new TimeSlicer()
  for (let part = await form.next(); part !== undefined; part = await form.next()) {
    // 20,000 empty parts fit into 1 MiB. The promises of a body in memory resolve in one turn.
    if (slicer.isDue) await slicer.rest()
    const { name, filename, headers } = part
    if (filename === undefined) parts.push([name, await part.text()])
    else {
      const content = part.takeWhole(bytes.length)
      if (content === undefined) throw malformed('a part has no end')
      parts.push([name, { filename, contentType: headers.get('content-type'), bytes: content }])
    }
  }
  return parts
}

function malformed(reason: string): Refusal {
  return detail(400, `Multipart form parse error - ${reason}`)
}

import { decodeText } from './charset.ts'
import { type Document, type Extraction, Unreadable } from './document.ts'
import { addHtml } from './html.ts'
import { decodeQuotedPrintable, MailHeaders } from './mail-headers.ts'

/** Maximum nesting of parts. */
const MAX_DEPTH = 20
const headerLength = 256 * 1024
const characteristicHeaders =
  'from to subject date received message-id mime-version content-type return-path'.split(' ')
const shownHeaders = ['Subject', 'From', 'To', 'Cc', 'Date']

/** Extracts the text of a message: the main headers, the body and the text of the attachments. */
export async function readMail(document: Document, extraction: Extraction): Promise<void> {
  const { bytes } = document
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  const message = parsePart(source.replace(/^From [^\n]*\n/, ''))
  if (!characteristicHeaders.some((name) => message.headers.has(name))) {
    throw new Unreadable('is not what its name says')
  }
  extraction.out.truncated ||= document.cut
  await addMessage(message, extraction, 0)
}

interface Part {
  readonly headers: MailHeaders
  /** One character per byte (latin1). */
  readonly body: string
}

function parsePart(source: string): Part {
  const blank = /\r?\n\r?\n/.exec(source.slice(0, headerLength))
  // A part that begins with an empty line has no headers.
  if (/^\r?\n/.test(source)) return { headers: new MailHeaders(''), body: source.replace(/^\r?\n/, '') }
  if (blank === null) return { headers: new MailHeaders(source.slice(0, headerLength)), body: '' }
  return {
    headers: new MailHeaders(source.slice(0, blank.index)),
    body: source.slice(blank.index + blank[0].length),
  }
}

async function addMessage(message: Part, extraction: Extraction, depth: number): Promise<void> {
  for (const name of shownHeaders) {
    const value = message.headers.text(name.toLowerCase())
    if (value !== undefined) extraction.out.add(`${name}: ${value}\n`)
  }
  extraction.out.add('\n')
  await addPart(message, extraction, depth)
}

async function addPart(part: Part, extraction: Extraction, depth: number): Promise<void> {
  const { out, limits } = extraction
  extraction.mailParts += 1
  if (depth > MAX_DEPTH || extraction.mailParts > limits.mailParts) {
    out.truncated = true
    return
  }
  const type = part.headers.token('content-type') || 'text/plain'
  const name =
    part.headers.parameter('content-disposition', 'filename') ??
    part.headers.parameter('content-type', 'name')
  if (type.startsWith('multipart/')) await addParts(part, type, extraction, depth + 1)
  else if (type === 'message/rfc822') await addMessage(parsePart(decodeLatin(part)), extraction, depth + 1)
  else if (name !== undefined) await addAttachment(name, part, extraction)
  else if (type.startsWith('text/')) addBody(part, type, extraction)
  out.endLine()
}

async function addParts(part: Part, type: string, extraction: Extraction, depth: number): Promise<void> {
  const boundary = part.headers.parameter('content-type', 'boundary')
  if (boundary === undefined) return addBody(part, 'text/plain', extraction)
  const parts = splitParts(part.body, boundary, extraction.limits.mailParts)
  const chosen = type === 'multipart/alternative' ? chooseAlternative(parts) : parts
  for (const inner of chosen) await addPart(inner, extraction, depth)
}

// Alternatives have the same content. Plain text is preferred because it needs no conversion.
function chooseAlternative(parts: readonly Part[]): readonly Part[] {
  const plain = parts.find(
    ({ headers, body }) => headers.token('content-type') === 'text/plain' && body.trim() !== '',
  )
  return plain ? [plain] : parts.slice(-1)
}

function splitParts(body: string, boundary: string, most: number): Part[] {
  const line = `--${boundary}`
  const parts: Part[] = []
  let start = -1
  for (
    let at = body.indexOf(line);
    at >= 0 && parts.length <= most;
    at = body.indexOf(line, at + line.length)
  ) {
    if (at > 0 && body[at - 1] !== '\n') continue
    if (start >= 0) parts.push(parsePart(body.slice(start, at).replace(/\r?\n$/, '')))
    if (body.startsWith('--', at + line.length)) return parts
    start = body.indexOf('\n', at) + 1 || body.length
  }
  // A truncated message has no closing boundary.
  if (start >= 0) parts.push(parsePart(body.slice(start)))
  return parts
}

function addBody(part: Part, type: string, { out }: Extraction): void {
  const declared = part.headers.parameter('content-type', 'charset')
  const text = decodeText(decodeBody(part), { cut: true, declared })?.text ?? ''
  if (type === 'text/html') addHtml(text, out)
  else out.add(text.replaceAll('\r\n', '\n'))
}

async function addAttachment(name: string, part: Part, extraction: Extraction): Promise<void> {
  extraction.out.add(`\n${name}\n`)
  await extraction.readInner({ name, bytes: decodeBody(part), cut: false })
}

function decodeBody(part: Part): Buffer {
  const encoding = part.headers.token('content-transfer-encoding')
  if (encoding === 'base64') return Buffer.from(part.body, 'base64')
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(part.body)
  return Buffer.from(part.body, 'latin1')
}

function decodeLatin(part: Part): string {
  return decodeBody(part).toString('latin1')
}

import { decodeAs, decodeText, findCharset } from './charset.ts'

const parametersLength = 16 * 1024

/** The headers of a message or of a part of one. */
export class MailHeaders {
  readonly #values = new Map<string, string>()

  /** `source` has one character per byte (latin1). The first of several headers with one name is used. */
  constructor(source: string) {
    for (const line of source.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).trim().toLowerCase()
      if (colon > 0 && !this.#values.has(name)) this.#values.set(name, line.slice(colon + 1).trim())
    }
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** A header with its encoded words decoded (RFC 2047). */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === undefined ? undefined : decodeWords(value)
  }

  /** The value before the parameters, in lower case. */
  token(name: string): string {
    const value = this.#values.get(name) ?? ''
    return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
  }

  /** A parameter of a header, joined from its continuations (RFC 2231). */
  parameter(header: string, name: string): string | undefined {
    const parameters = parseParameters(this.#values.get(header) ?? '')
    const plain = parameters.get(name)
    if (plain !== undefined) return decodeWords(plain)
    let joined = parameters.get(`${name}*`) ?? ''
    for (let piece = 0; piece < 100; piece += 1) {
      const next = parameters.get(`${name}*${piece}*`) ?? parameters.get(`${name}*${piece}`)
      if (next === undefined) break
      joined += next
    }
    return joined === '' ? undefined : decodeExtended(joined)
  }
}

function parseParameters(value: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare = ''] of value
    .slice(0, parametersLength)
    .matchAll(/;\s*([\w*-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? bare)
  }
  return parameters
}

// Extended value: charset'language'text, with bytes as %XX (RFC 2231).
function decodeExtended(value: string): string {
  const [, label = '', encoded = value] = /^([\w-]*)'[^']*'(.*)$/s.exec(value) ?? []
  const bytes = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return decodeAs(Buffer.from(bytes, 'latin1'), findCharset(label) ?? 'utf-8').text
}

const word = /=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi

// Adjacent encoded words are decoded together. Some mailers split a character between two words, contrary to RFC 2047.
function decodeWords(value: string): string {
  const sequence =
    /=\?[\w-]{1,40}(?:\*[\w-]*)?\?[bq]\?[^?\s]*\?=(?:\s*=\?[\w-]{1,40}(?:\*[\w-]*)?\?[bq]\?[^?\s]*\?=)*/gi
  let text = ''
  let at = 0
  for (const found of value.matchAll(sequence)) {
    text += decodeRaw(value.slice(at, found.index)) + decodeSequence(found[0])
    at = found.index + found[0].length
  }
  return text + decodeRaw(value.slice(at))
}

function decodeSequence(sequence: string): string {
  let text = ''
  let current = ''
  let bytes: Buffer[] = []
  const flush = () => {
    text += decodeAs(Buffer.concat(bytes), findCharset(current) ?? 'utf-8').text
    bytes = []
  }
  for (const [, charset = '', encoding = '', content = ''] of sequence.matchAll(word)) {
    if (charset !== current) flush()
    current = charset
    bytes.push(/b/i.test(encoding) ? Buffer.from(content, 'base64') : decodeQ(content))
  }
  flush()
  return text
}

function decodeQ(content: string): Buffer {
  return decodeQuotedPrintable(content.replaceAll('_', ' '))
}

/** Bytes written as `=XX`; a `=` at the end of a line joins it with the next. */
export function decodeQuotedPrintable(text: string): Buffer {
  const bytes = text
    .replace(/=[ \t]{0,20}\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

function decodeRaw(text: string): string {
  return decodeText(Buffer.from(text, 'latin1'))?.text ?? text
}

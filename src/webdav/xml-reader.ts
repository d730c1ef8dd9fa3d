import { SaxesParser } from 'saxes'
import { davError } from './responses.ts'
import { escapeText } from './xml-writer.ts'

/** Deeper elements are refused. */
const MAX_DEPTH = 50
/** Elements of one document. */
const MAX_ELEMENTS = 5000

const XML = 'http://www.w3.org/XML/1998/namespace'
const XMLNS = 'http://www.w3.org/2000/xmlns/'

/** An element of a parsed document. */
export interface XmlElement {
  readonly namespace: string
  readonly name: string
  /** Without namespace declarations. */
  readonly attributes: readonly XmlAttribute[]
  /** Elements and text in order. */
  readonly content: readonly (XmlElement | string)[]
}

interface XmlAttribute {
  readonly namespace: string
  readonly name: string
  readonly value: string
}

/**
 * Parses a document with namespaces, and returns its root. A document type declaration is refused, so that there are no entities to
 * expand. Throws a refusal.
 */
export function parseXml(bytes: Buffer): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: false })
  const open: { element: XmlElement; content: (XmlElement | string)[] }[] = []
  let root: XmlElement | undefined
  let elements = 0
  parser.on('error', (error) => {
    throw malformed(error.message)
  })
  parser.on('doctype', () => {
    throw davError(403, 'A document type declaration is not allowed.', { condition: 'no-external-entities' })
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    elements += 1
    if (elements > MAX_ELEMENTS || open.length >= MAX_DEPTH) throw malformed('it is too large or too deep')
    const content: (XmlElement | string)[] = []
    const element = { namespace: uri, name: local, attributes: attributesOf(attributes), content }
    open.at(-1)?.content.push(element)
    root ??= element
    open.push({ element, content })
  })
  parser.on('closetag', () => void open.pop())
  const addText = (text: string) => void open.at(-1)?.content.push(text)
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.write(decoded(bytes)).close()
  return root ?? refuseEmpty()
}

/** The first child element of the DAV: namespace with this name. */
export function child(element: XmlElement, name: string): XmlElement | undefined {
  return elementsOf(element).find((one) => isDav(one, name))
}

export function elementsOf({ content }: XmlElement): XmlElement[] {
  return content.filter((one) => typeof one !== 'string')
}

export function isDav({ namespace, name }: XmlElement, wanted: string): boolean {
  return namespace === 'DAV:' && name === wanted
}

/** The language that applies to the content of an element, as far as it says one. */
export function languageOf({ attributes }: XmlElement): string | undefined {
  return attributes.find(({ namespace, name }) => namespace === XML && name === 'lang')?.value
}

/** The element as text that declares its namespaces itself, so that it can be put into any document. */
export function serialize(element: XmlElement, language?: string): string {
  const { namespace, name, attributes, content } = element
  let head = `${name} xmlns="${escapeText(namespace)}"`
  if (language !== undefined && languageOf(element) === undefined) {
    head += ` xml:lang="${escapeText(language)}"`
  }
  for (const [index, attribute] of attributes.entries()) {
    const value = escapeText(attribute.value)
    if (attribute.namespace === '') head += ` ${attribute.name}="${value}"`
    else if (attribute.namespace === XML) head += ` xml:${attribute.name}="${value}"`
    else
      head += ` xmlns:a${index}="${escapeText(attribute.namespace)}" a${index}:${attribute.name}="${value}"`
  }
  if (content.length === 0) return `<${head}/>`
  const inner = content.map((one) => (typeof one === 'string' ? escapeText(one) : serialize(one))).join('')
  return `<${head}>${inner}</${name}>`
}

function attributesOf(
  attributes: Record<string, { uri: string; local: string; value: string }>,
): XmlAttribute[] {
  return Object.values(attributes)
    .filter(({ uri }) => uri !== XMLNS)
    .map(({ uri, local, value }) => ({ namespace: uri, name: local, value }))
}

/** UTF-8 or UTF-16, as every XML processor must accept. */
function decoded(bytes: Buffer): string {
  const [first, second] = bytes
  const label =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw malformed('its encoding is invalid')
  }
}

function refuseEmpty(): never {
  throw malformed('it is empty')
}

function malformed(reason: string): Error {
  return davError(400, `The XML of the request is not valid: ${reason.slice(0, 200)}`)
}

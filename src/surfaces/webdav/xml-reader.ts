import { SaxesParser } from 'saxes'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { davError } from './responses.ts'
import { escapeText, Namespaces, XML } from './xml-writer.ts'

/** Deeper elements are refused. */
const MAX_DEPTH = 50
/** Elements of one document. */
const MAX_ELEMENTS = 5000
/** Attributes of one document, with declarations of namespaces. */
const MAX_ATTRIBUTES = 2000
/** Characters of a namespace. The parser compares it for every attribute that has its prefix. */
const MAX_NAMESPACE = 1024
/** Characters of a language, which every property below has, too. */
const MAX_LANGUAGE = 64
/** Characters that are parsed without giving way to other requests. */
const STEP = 8 * 1024

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
 * Parses a short document with namespaces, and returns its root. A document type declaration is refused, so that there are no entities to
 * expand. Throws a refusal.
 */
export function parseXml(bytes: Buffer): XmlElement {
  const document = new XmlDocument()
  document.write(decoded(bytes))
  return document.end()
}

/** As `parseXml`, for a document of any length. */
export async function parseLongXml(bytes: Buffer): Promise<XmlElement> {
  const document = new XmlDocument()
  const text = decoded(bytes)
  const slicer = new TimeSlicer()
  for (let at = 0; at < text.length; at += STEP) {
    document.write(text.slice(at, at + STEP))
    if (slicer.isDue) await slicer.rest()
  }
  return document.end()
}

/** A document that is being parsed. */
class XmlDocument {
  readonly #parser = new SaxesParser({ xmlns: true, position: false })
  readonly #open: { element: XmlElement; content: (XmlElement | string)[] }[] = []
  #root: XmlElement | undefined
  #elements = 0
  #attributes = 0

  constructor() {
    const parser = this.#parser
    parser.on('error', (error) => {
      throw malformed(error.message)
    })
    parser.on('doctype', () => {
      throw davError(403, 'A document type declaration is not allowed.', {
        condition: 'no-external-entities',
      })
    })
    // Called before the element is complete, and so before the parser compares its attributes.
    parser.on('attribute', ({ name, prefix, value }) => {
      this.#attributes += 1
      const declares = name === 'xmlns' || prefix === 'xmlns'
      if (this.#attributes > MAX_ATTRIBUTES) throw malformed('it has too many attributes')
      if (declares && value.length > MAX_NAMESPACE) throw malformed('a namespace is too long')
      if (name === 'xml:lang' && value.length > MAX_LANGUAGE) throw malformed('a language is too long')
    })
    parser.on('opentag', ({ uri, local, attributes }) => this.#begin(uri, local, attributesOf(attributes)))
    parser.on('closetag', () => void this.#open.pop())
    const addText = (text: string) => void this.#open.at(-1)?.content.push(text)
    parser.on('text', addText)
    parser.on('cdata', addText)
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  /** The root. */
  end(): XmlElement {
    this.#parser.close()
    if (this.#root === undefined) throw malformed('it is empty')
    return this.#root
  }

  #begin(namespace: string, name: string, attributes: readonly XmlAttribute[]): void {
    const open = this.#open
    this.#elements += 1
    if (this.#elements > MAX_ELEMENTS || open.length >= MAX_DEPTH) {
      throw malformed('it is too large or too deep')
    }
    const content: (XmlElement | string)[] = []
    const element = { namespace, name, attributes, content }
    open.at(-1)?.content.push(element)
    this.#root ??= element
    open.push({ element, content })
  }
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

/**
 * The element as text that declares its namespaces itself, so that it can be put into any document that has no default namespace. Each is declared once,
 * so the text is about as long as what was parsed.
 */
export function serialize(element: XmlElement, language?: string): string {
  // An element without a namespace has no prefix. Where there are such, there can be no default.
  const own =
    hasElementsWithoutNamespace(element) || element.namespace === XML ? undefined : element.namespace
  const namespaces = new Namespaces('p', { default: own })
  const name = namespaces.elementName(element.namespace, element.name)
  const inner = contentXml(element, namespaces)
  const needsLanguage = language !== undefined && languageOf(element) === undefined
  const head =
    attributesXml(element, namespaces) + (needsLanguage ? ` xml:lang="${escapeText(language)}"` : '')
  return tagged(name, namespaces.declarations + head, inner)
}

function contentXml({ content }: XmlElement, namespaces: Namespaces): string {
  let xml = ''
  for (const one of content) {
    if (typeof one === 'string') xml += escapeText(one)
    else {
      const name = namespaces.elementName(one.namespace, one.name)
      xml += tagged(name, attributesXml(one, namespaces), contentXml(one, namespaces))
    }
  }
  return xml
}

function attributesXml({ attributes }: XmlElement, namespaces: Namespaces): string {
  let xml = ''
  for (const { namespace, name, value } of attributes) {
    xml += ` ${namespaces.attributeName(namespace, name)}="${escapeText(value)}"`
  }
  return xml
}

function tagged(name: string, attributes: string, inner: string): string {
  return inner === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${inner}</${name}>`
}

function hasElementsWithoutNamespace(element: XmlElement): boolean {
  return element.namespace === '' || elementsOf(element).some(hasElementsWithoutNamespace)
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

function malformed(reason: string): Error {
  return davError(400, `The XML of the request is not valid: ${reason.slice(0, 200)}`)
}

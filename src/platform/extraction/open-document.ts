import { type Document, type Extraction, Unreadable } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { XmlReader } from './xml-reader.ts'
import { decodeXml, ZipArchive } from './zip-archive.ts'

/** The text of an OpenDocument text, spreadsheet or presentation. */
export function readOpenDocument(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  if (archive.readXml('META-INF/manifest.xml')?.includes('encryption-data')) {
    throw new Unreadable('is protected by a password')
  }
  const content = archive.readXml('content.xml')
  if (content === undefined) throw new Unreadable('is not what its name says, or damaged')
  addContent(content, extraction.out)
}

/** The same in one XML file. */
export function readFlatOpenDocument(document: Document, extraction: Extraction): void {
  const content = decodeXml(document.bytes)
  if (!content.slice(0, 4096).includes('office:document')) throw new Unreadable('is not what its name says')
  addContent(content, extraction.out)
  extraction.out.truncated ||= document.cut
}

// Deleted text is kept among the tracked changes; pictures are text to a parser.
const skipped = new Set([
  'tracked-changes',
  'binary-data',
  'automatic-styles',
  'master-styles',
  'styles',
  'meta',
])
const signs: { readonly [name: string]: string } = { tab: '\t', 'line-break': '\n' }

// Only what stands in paragraphs and headings is text.
function addContent(content: string, out: TextSink): void {
  const xml = new XmlReader(content)
  let paragraphs = 0
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    const isParagraph = xml.name === 'p' || xml.name === 'h'
    if (kind === 'text') {
      if (paragraphs > 0) out.add(xml.text.replace(/\s+/g, ' '))
    } else if (kind === 'close') {
      if (isParagraph) paragraphs -= 1
      if (isParagraph || xml.name === 'table-row') out.endLine()
    } else if (skipped.has(xml.name)) {
      xml.skipElement()
    } else {
      if (isParagraph) paragraphs += 1
      if (xml.name === 'table') out.add(`${xml.attribute('name') ?? ''}\n`)
      out.add(signs[xml.name] ?? (xml.name === 's' ? ' ' : ''))
    }
  }
}

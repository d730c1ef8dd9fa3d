import type { Document, Extraction } from './document.ts'
import { addHtml } from './html.ts'
import { resolvePart } from './office-open.ts'
import { Unreadable } from './unreadable.ts'
import { XmlReader } from './xml-reader.ts'
import { ZipArchive } from './zip-archive.ts'

/** The text of a book: title and authors, then its chapters in the order they are read in. */
export function readEpub(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const root = findRoot(archive)
  const chapters = new Map<string, string>()
  const xml = new XmlReader(archive.readXml(root) ?? '')
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind !== 'open') continue
    if (xml.name === 'title' || xml.name === 'creator') {
      if (xml.next() === 'text') extraction.out.add(`${xml.text.trim()}\n`)
    } else if (xml.name === 'item') {
      chapters.set(xml.attribute('id') ?? '', resolvePart(xml.attribute('href') ?? '', root) ?? '')
    } else if (xml.name === 'itemref') {
      const chapter = archive.readXml(chapters.get(xml.attribute('idref') ?? '') ?? '')
      if (chapter !== undefined) addHtml(chapter, extraction.out)
    }
  }
}

function findRoot(archive: ZipArchive): string {
  const container = new XmlReader(archive.readXml('META-INF/container.xml') ?? '')
  for (let kind = container.next(); kind !== undefined; kind = container.next()) {
    const path =
      kind === 'open' && container.name === 'rootfile' ? container.attribute('full-path') : undefined
    if (path !== undefined && archive.has(path)) return path
  }
  throw new Unreadable('is not what its name says, or damaged')
}

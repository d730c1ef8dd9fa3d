import { type Document, type Extraction, Unreadable } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { XmlReader } from './xml-reader.ts'
import { ZipArchive } from './zip-archive.ts'

/** Extracts the text of a word processing document: the body, then headers, footers, notes and comments. */
export function readDocx(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const body = findMainPart(archive)
  addText(archive.readXml(body), extraction.out)
  const supplements = /^word\/(header|footer|footnotes|endnotes|comments)\d*\.xml$/
  for (const name of archive.names.filter((name) => supplements.test(name)).sort(byNumber)) {
    addText(archive.readXml(name), extraction.out)
  }
}

/** Extracts the text of a presentation: each slide, followed by its notes. */
export function readPptx(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const main = findMainPart(archive)
  for (const slide of listReferencedParts(archive, main, 'sldId')) {
    addText(archive.readXml(slide), extraction.out)
    const notes = [...readRelations(archive, slide).values()].filter(({ type }) => type === 'notesSlide')
    for (const { target } of notes) addText(archive.readXml(target), extraction.out)
    extraction.out.endLine()
  }
}

/** The main document part of the package. */
export function findMainPart(archive: ZipArchive): string {
  const main = [...readRelations(archive, '').values()].find(({ type }) => type === 'officeDocument')?.target
  if (main === undefined || !archive.has(main)) throw new Unreadable('is not what its name says, or damaged')
  return main
}

/** The parts that the elements with this name refer to, in document order. */
function listReferencedParts(archive: ZipArchive, part: string, element: string): string[] {
  const relations = readRelations(archive, part)
  const xml = new XmlReader(archive.readXml(part) ?? '')
  const targets: string[] = []
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind !== 'open' || xml.name !== element) continue
    const target = relations.get(xml.prefixedAttribute('id') ?? '')?.target
    if (target !== undefined && archive.has(target)) targets.push(target)
  }
  return targets
}

interface Relation {
  readonly type: string
  readonly target: string
}

/** The relationships of a part, by id. */
export function readRelations(archive: ZipArchive, part: string): Map<string, Relation> {
  const slash = part.lastIndexOf('/') + 1
  const xml = new XmlReader(archive.readXml(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`) ?? '')
  const relations = new Map<string, Relation>()
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind !== 'open' || xml.name !== 'Relationship') continue
    const type = xml.attribute('Type') ?? ''
    const target = resolvePart(xml.attribute('Target') ?? '', part)
    if (target === undefined || xml.attribute('TargetMode') === 'External') continue
    relations.set(xml.attribute('Id') ?? '', { type: type.slice(type.lastIndexOf('/') + 1), target })
  }
  return relations
}

/** Resolves a reference relative to a part; undefined if it is invalid. */
export function resolvePart(reference: string, from: string): string | undefined {
  const path = URL.parse(reference, `zip:///${from}`)?.pathname.slice(1)
  if (path === undefined) return undefined
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

// Properties contain tab stops that look like tabs. A fallback repeats the text of its alternative.
const skipped = new Set(['pPr', 'rPr', 'sectPr', 'tblPr', 'instrText', 'delText', 'Fallback'])
const endings: { readonly [name: string]: string } = { p: '\n', tc: '\t', tr: '\n' }
const signs: { readonly [name: string]: string } = { tab: '\t', br: '\n', cr: '\n', noBreakHyphen: '-' }

/** Adds the text of a part that consists of paragraphs and runs. */
export function addText(part: string | undefined, out: TextSink): void {
  const xml = new XmlReader(part ?? '')
  let inText = false
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind === 'text') {
      if (inText) out.add(xml.text)
    } else if (kind === 'close') {
      inText = false
      out.add(endings[xml.name] ?? '')
    } else if (skipped.has(xml.name)) {
      xml.skipElement()
    } else {
      inText = xml.name === 't'
      out.add(signs[xml.name] ?? '')
    }
  }
}

export function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

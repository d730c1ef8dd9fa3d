import type { Document, Extraction } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { Unreadable } from './unreadable.ts'
import { XmlReader } from './xml-reader.ts'
import { ZipArchive } from './zip-archive.ts'

/** The text of a word processing document: the body first, then what stands around it. */
export function readDocx(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const body = findMainPart(archive)
  addText(archive.readXml(body), extraction.out)
  const around = /^word\/(header|footer|footnotes|endnotes|comments)\d*\.xml$/
  for (const name of archive.names.filter((name) => around.test(name)).sort(byNumber)) {
    addText(archive.readXml(name), extraction.out)
  }
}

/** The text of a presentation: each slide, and the notes to it. */
export function readPptx(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const main = findMainPart(archive)
  for (const slide of listReferred(archive, main, 'sldId')) {
    addText(archive.readXml(slide), extraction.out)
    const notes = [...readRelations(archive, slide).values()].filter(({ type }) => type === 'notesSlide')
    for (const { target } of notes) addText(archive.readXml(target), extraction.out)
    extraction.out.endLine()
  }
}

/** The part the package says is its document. */
export function findMainPart(archive: ZipArchive): string {
  const main = [...readRelations(archive, '').values()].find(({ type }) => type === 'officeDocument')?.target
  if (main === undefined || !archive.has(main)) throw new Unreadable('is not what its name says, or damaged')
  return main
}

/** The parts the elements of one name in a part refer to, in order. */
function listReferred(archive: ZipArchive, part: string, element: string): string[] {
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

/** What a part refers to, by the ids it uses. */
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

/** The part a reference within a part leads to; undefined if it makes no sense. */
export function resolvePart(reference: string, from: string): string | undefined {
  const path = URL.parse(reference, `zip:///${from}`)?.pathname.slice(1)
  if (path === undefined) return undefined
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

// Properties hold tab stops that look like tabs, and a fallback says once more what its alternative said.
const skipped = new Set(['pPr', 'rPr', 'sectPr', 'tblPr', 'instrText', 'delText', 'Fallback'])
const endings: { readonly [name: string]: string } = { p: '\n', tc: '\t', tr: '\n' }
const signs: { readonly [name: string]: string } = { tab: '\t', br: '\n', cr: '\n', noBreakHyphen: '-' }

/** Adds the text of a part written in runs and paragraphs. */
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

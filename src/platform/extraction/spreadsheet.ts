import type { Document, Extraction } from './document.ts'
import { addText, byNumber, findMainPart, readRelations } from './office-open.ts'
import type { TextSink } from './text-sink.ts'
import { XmlReader } from './xml-reader.ts'
import { ZipArchive } from './zip-archive.ts'

/** The text of a workbook: each sheet with its name, a line a row, then comments and text boxes. */
export function readXlsx(document: Document, extraction: Extraction): void {
  const archive = new ZipArchive(document.bytes, extraction)
  const main = findMainPart(archive)
  const relations = readRelations(archive, main)
  const shared = [...relations.values()].find(({ type }) => type === 'sharedStrings')?.target
  const strings = readSharedStrings(shared === undefined ? undefined : archive.readXml(shared))
  const workbook = new XmlReader(archive.readXml(main) ?? '')
  for (let kind = workbook.next(); kind !== undefined; kind = workbook.next()) {
    if (kind !== 'open' || workbook.name !== 'sheet') continue
    extraction.out.add(`${workbook.attribute('name') ?? ''}\n`)
    const sheet = relations.get(workbook.prefixedAttribute('id') ?? '')?.target
    if (sheet !== undefined) addSheet(archive.readXml(sheet), strings, extraction.out)
    extraction.out.add('\n')
  }
  const around = /^xl\/(comments|drawings)\/?[^/]*\.xml$/
  for (const name of archive.names.filter((name) => around.test(name)).sort(byNumber)) {
    addText(archive.readXml(name), extraction.out)
  }
}

function readSharedStrings(part: string | undefined): string[] {
  const xml = new XmlReader(part ?? '')
  const strings: string[] = []
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind === 'open' && xml.name === 'si') strings.push(readRichText(xml, 'si'))
  }
  return strings
}

// Text comes in runs; how it is pronounced is said apart.
function readRichText(xml: XmlReader, end: string): string {
  let text = ''
  let inText = false
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind === 'text' && inText) text += xml.text
    else if (kind === 'open' && xml.name === 'rPh') xml.skipElement()
    else if (kind === 'open') inText = xml.name === 't'
    else if (kind === 'close') {
      if (xml.name === end) break
      inText = false
    }
  }
  return text
}

function addSheet(part: string | undefined, strings: readonly string[], out: TextSink): void {
  const xml = new XmlReader(part ?? '')
  let type = ''
  for (let kind = xml.next(); kind !== undefined; kind = xml.next()) {
    if (kind === 'close' && xml.name === 'row') out.endLine()
    if (kind !== 'open') continue
    if (xml.name === 'c') type = xml.attribute('t') ?? 'n'
    else if (xml.name === 'is') addCell(readRichText(xml, 'is'), out)
    else if (xml.name === 'v' && type !== 'e') addCell(readValue(xml, type, strings), out)
  }
}

function readValue(xml: XmlReader, type: string, strings: readonly string[]): string {
  const value = xml.next() === 'text' ? xml.text : ''
  return type === 's' ? (strings[Number(value)] ?? '') : value
}

function addCell(text: string, out: TextSink): void {
  if (text !== '') out.add(`${text}\t`)
}

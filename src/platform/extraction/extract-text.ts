import { decodeText } from './charset.ts'
import { type Document, type Extraction, type Reader, Unreadable } from './document.ts'
import { type Format, formatOf, isMostlyText } from './formats.ts'
import { addHtml, readHtml } from './html.ts'
import type { Limits } from './limits.ts'
import { readMail } from './mail.ts'
import { readDocx, readPptx, resolvePart } from './office-open.ts'
import { readFlatOpenDocument, readOpenDocument } from './open-document.ts'
import { readPdf } from './pdf.ts'
import { readRtf } from './rtf.ts'
import { readXlsx } from './spreadsheet.ts'
import { TextFull, TextSink, tidy } from './text-sink.ts'
import { XmlReader } from './xml-reader.ts'
import { ZipArchive } from './zip-archive.ts'

/** The text of a file, or why there is none, in words that follow "The file". */
export type Extracted = { text: string; truncated: boolean } | { reason: string }

const readers: { readonly [F in Format]: Reader } = {
  plain: readPlainText,
  html: readHtml,
  pdf: readPdf,
  docx: readDocx,
  pptx: readPptx,
  xlsx: readXlsx,
  'open-document': readOpenDocument,
  'flat-open-document': readFlatOpenDocument,
  rtf: readRtf,
  epub: readEpub,
  mail: readMail,
}

/** Extracts the text of a document synchronously and without a time limit. Only for worker processes. */
export async function extractText(document: Document, limits: Limits): Promise<Extracted> {
  const out = new TextSink(limits.textLength)
  const extraction: Extraction = {
    limits,
    out,
    depth: 0,
    unpackedBytes: 0,
    mailParts: 0,
    readInner: (inner) => readInner(inner, extraction),
  }
  const format = formatOf(document.name)
  try {
    if (format === undefined) throw new Unreadable('is of a type that cannot be read')
    await readers[format](document, extraction)
  } catch (error) {
    // Any other error of a reader means that the file is damaged.
    if (!(error instanceof TextFull)) return { reason: reasonOf(error) }
  }
  const text = out.toString()
  return { text: format === 'plain' ? text : tidy(text), truncated: out.truncated }
}

// A failing attachment does not affect the others.
async function readInner(inner: Document, extraction: Extraction): Promise<void> {
  const format = formatOf(inner.name)
  if (format === undefined) return
  const { limits, out } = extraction
  const most = isMostlyText(format) ? limits.plainBytes : limits.inputBytes
  if (extraction.depth >= limits.nesting || inner.bytes.length > most) {
    out.truncated = true
    return
  }
  extraction.depth += 1
  try {
    await readers[format](inner, extraction)
  } catch (error) {
    if (error instanceof TextFull) throw error
  } finally {
    extraction.depth -= 1
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.message
  return `is damaged: ${error instanceof Error ? error.message.slice(0, 200) : 'no one can say how'}`
}

/** The text of a book: title and authors, then its chapters in the order they are read in. */
function readEpub(document: Document, extraction: Extraction): void {
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

/** The text of a file that is nothing but text. */
function readPlainText(document: Document, extraction: Extraction): void {
  const xmlCharset = /^<\?xml[^>]{0,150}encoding\s*=\s*["']([\w-]{1,40})/
  const start = Buffer.from(document.bytes.subarray(0, 200)).toString('latin1')
  const decoded = decodeText(document.bytes, { cut: document.cut, declared: xmlCharset.exec(start)?.[1] })
  if (decoded === undefined) throw new Unreadable('is not text')
  extraction.out.truncated ||= document.cut
  extraction.out.add(decoded.text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'))
}

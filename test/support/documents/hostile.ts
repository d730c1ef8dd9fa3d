import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import { makeDocx, openDocumentBody, wordBody, zipParts } from './packages.ts'
import { pdfStream, writePdf } from './pdf-writer.ts'

interface RawEntry {
  readonly name: string
  /** Deflated. */
  readonly data: Buffer
}

/** A zip file of entries whose sizes nobody checked: all of them claim to be large, and say so in an extra field. */
export function zipRaw(entries: readonly RawEntry[]): Buffer {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data } of entries) {
    const local = Buffer.alloc(30 + name.length)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(8, 8)
    local.writeUInt16LE(name.length, 26)
    local.write(name, 30)
    pieces.push(local, data)
    directory.push(directoryEntry(name, data.length, offset))
    offset += local.length + data.length
  }
  const size = directory.reduce((sum, entry) => sum + entry.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...pieces, ...directory, end])
}

function directoryEntry(name: string, packed: number, offset: number): Buffer {
  const entry = Buffer.alloc(46 + name.length + 20)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(8, 10)
  entry.writeUInt32LE(0xffffffff, 20)
  entry.writeUInt32LE(0xffffffff, 24)
  entry.writeUInt16LE(name.length, 28)
  entry.writeUInt16LE(20, 30)
  entry.writeUInt32LE(offset, 42)
  entry.write(name, 46)
  const extra = 46 + name.length
  entry.writeUInt16LE(1, extra)
  entry.writeUInt16LE(16, extra + 2)
  entry.writeBigUInt64LE(BigInt(10 * 2 ** 30), extra + 4)
  entry.writeBigUInt64LE(BigInt(packed), extra + 12)
  return entry
}

/** Deflated bytes that unpack to `before`, then gigabytes of zeros. A flushed block can follow itself any number of times. */
export function deflatedBomb(gibibytes: number, before = ''): Buffer {
  const flush = { finishFlush: constants.Z_FULL_FLUSH, level: 9 }
  const block = deflateRawSync(Buffer.alloc(16 * 2 ** 20), flush)
  const blocks = Array.from({ length: gibibytes * 64 }, () => block)
  return Buffer.concat([deflateRawSync(before, flush), ...blocks, deflateRawSync('')])
}

const mainPart = '<Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/>'

/** A word processing document of a few kilobytes that unpacks to gigabytes. */
export function zipBomb(gibibytes: number): Buffer {
  const before = wordBody('<w:p><w:r><w:t>before</w:t></w:r></w:p>').replace('</w:body></w:document>', '')
  return zipRaw([
    { name: '_rels/.rels', data: deflateRawSync(mainPart) },
    { name: 'word/document.xml', data: deflatedBomb(gibibytes, before) },
  ])
}

/** A book that reads the same large chapter ten thousand times. */
export function repeatedChapters(): Buffer {
  const spine = '<itemref idref="c"/>'.repeat(10_000)
  return zipRaw([
    { name: 'META-INF/container.xml', data: deflateRawSync('<rootfile full-path="b.opf"/>') },
    {
      name: 'b.opf',
      data: deflateRawSync(`<package><item id="c" href="c.xhtml"/><spine>${spine}</spine></package>`),
    },
    { name: 'c.xhtml', data: deflatedBomb(1, '<p>') },
  ])
}

export function manyEntries(count: number): Buffer {
  const data = deflateRawSync('x')
  const entries = Array.from({ length: count }, (_, index) => ({ name: `word/${index}.xml`, data }))
  return zipRaw([{ name: '_rels/.rels', data: deflateRawSync(mainPart) }, ...entries])
}

/** Entities that stand for ten of one another: a billion laughs if anybody expanded them. */
export function entityBomb(): string {
  const entities = Array.from({ length: 10 }, (_, index) =>
    index === 0 ? '<!ENTITY e0 "ha">' : `<!ENTITY e${index} "${`&e${index - 1};`.repeat(10)}">`,
  )
  return `<!DOCTYPE lolz [${entities.join('\n')}]>`
}

export function entityBombDocx(): Buffer {
  const body = wordBody('<w:p><w:r><w:t>before &e9; after</w:t></w:r></w:p>')
  return makeDocx([], { 'word/document.xml': body.replace('?>', `?>${entityBomb()}`) })
}

export function deepXmlDocx(depth: number): Buffer {
  const text = '<w:r><w:t>bottom</w:t></w:r>'
  return zipParts({
    '_rels/.rels': mainPart,
    'word/document.xml': `<w:document>${'<w:p>'.repeat(depth)}${text}${'</w:p>'.repeat(depth)}</w:document>`,
  })
}

export function deepXmlFodt(depth: number): Buffer {
  const body = `${'<text:p>'.repeat(depth)}bottom${'</text:p>'.repeat(depth)}`
  return Buffer.from(openDocumentBody('text', body).replaceAll('document-content', 'document'))
}

/** A message in which each part is a multipart with the next in it. */
export function nestedMail(depth: number): Buffer {
  let source = 'Subject: nested\n'
  for (let level = 0; level < depth; level += 1) {
    source += `Content-Type: multipart/mixed; boundary=b${level}x\n\n--b${level}x\n`
  }
  return Buffer.from(`${source}Content-Type: text/plain\n\nbottom\n`)
}

/** A message with messages in it, one in the other. */
export function mailInMail(depth: number): Buffer {
  return Buffer.from(
    `${'Subject: again\nContent-Type: message/rfc822\n\n'.repeat(depth)}Subject: bottom\n\nbottom\n`,
  )
}

export function mailOfParts(count: number): Buffer {
  return Buffer.from(
    `Subject: wide\nContent-Type: multipart/mixed; boundary=b\n\n${'--b\n\npart\n'.repeat(count)}--b--\n`,
  )
}

const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources 4 0 R /Contents 5 0 R >>'
const font = '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>'

/** A PDF whose forms each draw the next `fanOut` times: `fanOut ** depth` drawings of next to nothing. */
export function formBombPdf(depth: number, fanOut: number): Buffer {
  const forms = Array.from({ length: depth }, (_, level) => {
    const content = level === depth - 1 ? 'BT /F1 12 Tf (x) Tj ET ' : '/X Do '.repeat(fanOut)
    const next = level === depth - 1 ? '' : `/XObject << /X ${7 + level} 0 R >>`
    return pdfStream(
      content,
      `/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << ${font} ${next} >>`,
    )
  })
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    page,
    `<< ${font} /XObject << /X 6 0 R >> >>`,
    pdfStream('/X Do '.repeat(fanOut)),
    ...forms,
  ])
}

/** A PDF whose only page shows gigabytes of blanks. */
export function streamBombPdf(gibibytes: number): Buffer {
  const flush = { finishFlush: constants.Z_FULL_FLUSH, level: 9 }
  const block = deflateRawSync(Buffer.alloc(16 * 2 ** 20, ' '), flush)
  const blocks = Array.from({ length: gibibytes * 64 }, () => block)
  const packed = Buffer.concat([deflateSync('').subarray(0, 2), ...blocks, deflateRawSync('')])
  const stream = Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ])
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    page,
    `<< ${font} >>`,
    stream,
  ])
}

/** PDFs in which things lead back to themselves. */
export function loopPdfs(): { readonly [name: string]: Buffer } {
  const text = pdfStream('BT /F1 12 Tf 72 700 Td (shown) Tj ET /X Do')
  const catalogue = '<< /Type /Catalog /Pages 2 0 R >>'
  const self = pdfStream(
    '/X Do',
    `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>`,
  )
  const resources = `<< ${font} /XObject << /X 6 0 R >> >>`
  const pages = '<< /Type /Pages /Count 1 /Kids [3 0 R] >>'
  const sound = writePdf([catalogue, pages, page, resources, text, self])
  const start = sound.lastIndexOf('xref\n0')
  return {
    'pages that hold themselves': writePdf([
      catalogue,
      '<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] /Parent 2 0 R >>',
    ]),
    'a form that draws itself': sound,
    'a table that follows itself': writePdf(
      [catalogue, pages, page, resources, text, self],
      `/Prev ${start} `,
    ),
    'a length that is its own': writePdf([
      catalogue,
      pages,
      page,
      resources,
      '<< /Length 5 0 R >>\nstream\nBT ET\nendstream',
    ]),
    'a million pages that are not there': writePdf([
      catalogue,
      '<< /Type /Pages /Count 1000000 /Kids [3 0 R] >>',
      page,
      resources,
      text,
      self,
    ]),
    'a catalogue that is its pages': writePdf(['<< /Type /Catalog /Pages 1 0 R /Kids [1 0 R] /Count 1 >>']),
  }
}

/** A workbook of a few kilobytes with millions of strings, none of which is shown. */
export function heapBombXlsx(): Buffer {
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="x/${type}" Target="${target}"/>`
  const strings = Array.from({ length: 400 }, (_, index) => `<si><t>s${index}</t></si>`).join('')
  return zipParts({
    '_rels/.rels': relation('r', 'officeDocument', 'xl/workbook.xml'),
    'xl/_rels/workbook.xml.rels': relation('s', 'sharedStrings', 'sharedStrings.xml'),
    'xl/workbook.xml': '<workbook/>',
    'xl/sharedStrings.xml': `<sst>${strings.repeat(5000)}</sst>`,
  })
}

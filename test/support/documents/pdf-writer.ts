import { deflateSync } from 'node:zlib'

/** A PDF of objects given as text; the first is the catalogue. */
export function writePdf(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  let length = pieces[0]?.length ?? 0
  const add = (piece: Buffer) => {
    pieces.push(piece)
    length += piece.length
  }
  const offsets = objects.map((object, index) => {
    const offset = length
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]))
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const start = length
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(pieces)
}

export function pdfStream(content: string | Buffer, dictionary = ''): Buffer {
  const packed = deflateSync(content)
  return Buffer.concat([
    Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode ${dictionary}>>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ])
}

/** A PDF with a page a text, in a font of one glyph a character that says by ToUnicode what each is. */
export function makePdf(pages: readonly string[]): Buffer {
  const characters = [...new Set(pages.join(''))].filter((character) => character !== '\n')
  const codes = new Map(characters.map((character, index) => [character, hex16(index + 1)]))
  const firstPage = 6
  const kids = pages.map((_, index) => `${firstPage + index * 2} 0 R`)
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type0 /BaseFont /Sample /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>',
    '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Sample /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName /Sample /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >> >>',
    pdfStream(toUnicodeMap(codes)),
  ]
  pages.forEach((page, index) => {
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2400 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${firstPage + index * 2 + 1} 0 R >>`,
      pdfStream(pageContent(page, codes)),
    )
  })
  return writePdf(objects)
}

function pageContent(page: string, codes: ReadonlyMap<string, string>): string {
  const lines = page.split('\n').map((line) => {
    const glyphs = Array.from(line, (character) => codes.get(character) ?? '').join('')
    return `<${glyphs}> Tj T*`
  })
  return `BT /F1 12 Tf 14 TL 72 760 Td\n${lines.join('\n')}\nET`
}

function toUnicodeMap(codes: ReadonlyMap<string, string>): string {
  const entries = [...codes].map(
    ([character, code]) =>
      `<${code}> <${[...Array(character.length).keys()].map((at) => hex16(character.charCodeAt(at))).join('')}>`,
  )
  const blocks: string[] = []
  for (let at = 0; at < entries.length; at += 100) {
    const block = entries.slice(at, at + 100)
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`)
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`
}

function hex16(number: number): string {
  return number.toString(16).padStart(4, '0')
}

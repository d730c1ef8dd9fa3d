import { strToU8, type Zippable, zipSync } from 'fflate'

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const officeRelation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A zip file of parts given as text. */
export function zipParts(parts: { readonly [name: string]: string | Uint8Array }): Buffer {
  const files: Zippable = {}
  for (const [name, content] of Object.entries(parts)) {
    files[name] = typeof content === 'string' ? strToU8(content) : content
  }
  return Buffer.from(zipSync(files))
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function relations(targets: readonly (readonly [id: string, type: string, target: string])[]): string {
  const all = targets.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${officeRelation}/${type}" Target="${target}"/>`,
  )
  const namespace = 'http://schemas.openxmlformats.org/package/2006/relationships'
  return `${declaration}<Relationships xmlns="${namespace}">${all.join('')}</Relationships>`
}

/** The body of a word processing document around paragraphs given as XML. */
export function wordBody(paragraphs: string): string {
  const namespaces =
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
  return `${declaration}<w:document ${namespaces}><w:body>${paragraphs}<w:sectPr/></w:body></w:document>`
}

export function wordParagraph(text: string): string {
  const properties = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
  return `<w:p>${properties}<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`
}

/** A word processing document; `more` adds or replaces parts. */
export function makeDocx(lines: readonly string[], more: { readonly [name: string]: string } = {}): Buffer {
  return zipParts({
    '[Content_Types].xml': `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': relations([['rId1', 'officeDocument', 'word/document.xml']]),
    'word/document.xml': wordBody(lines.map(wordParagraph).join('')),
    ...more,
  })
}

/** A presentation with a slide a text, shown in the order given but filed in the reverse one. */
export function makePptx(slides: readonly { readonly text: string; readonly notes?: string }[]): Buffer {
  const parts: { [name: string]: string } = {
    '_rels/.rels': relations([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
  }
  const ids: string[] = []
  const targets: [string, string, string][] = []
  slides.forEach(({ text, notes }, index) => {
    const number = slides.length - index
    ids.push(`<p:sldId id="${256 + index}" r:id="rId${number}"/>`)
    targets.push([`rId${number}`, 'slide', `slides/slide${number}.xml`])
    parts[`ppt/slides/slide${number}.xml`] = slideXml('sld', text)
    if (notes === undefined) return
    parts[`ppt/notesSlides/notesSlide${number}.xml`] = slideXml('notes', notes)
    parts[`ppt/slides/_rels/slide${number}.xml.rels`] = relations([
      ['rId1', 'notesSlide', `../notesSlides/notesSlide${number}.xml`],
    ])
  })
  parts['ppt/_rels/presentation.xml.rels'] = relations(targets)
  parts['ppt/presentation.xml'] =
    `${declaration}<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${ids.join('')}</p:sldIdLst></p:presentation>`
  return zipParts(parts)
}

function slideXml(root: string, text: string): string {
  const paragraphs = text.split('\n').map((line) => `<a:p><a:r><a:t>${escapeXml(line)}</a:t></a:r></a:p>`)
  return `${declaration}<p:${root} xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:txBody>${paragraphs.join('')}</p:txBody></p:sp></p:spTree></p:cSld></p:${root}>`
}

/** A workbook; cells that are strings are shared, those of the last row stand in the sheet itself. */
export function makeXlsx(
  sheets: readonly { readonly name: string; readonly rows: readonly (readonly (string | number)[])[] }[],
): Buffer {
  const strings: string[] = []
  const parts: { [name: string]: string } = {
    '_rels/.rels': relations([['rId1', 'officeDocument', 'xl/workbook.xml']]),
  }
  const targets: [string, string, string][] = [['rIdS', 'sharedStrings', 'sharedStrings.xml']]
  const listed = sheets.map(({ name, rows }, index) => {
    targets.push([`rId${index}`, 'worksheet', `worksheets/sheet${index}.xml`])
    const xml = rows.map((row, at) => rowXml(row, at === rows.length - 1, strings)).join('')
    parts[`xl/worksheets/sheet${index}.xml`] =
      `${declaration}<worksheet xmlns="x"><sheetData>${xml}</sheetData></worksheet>`
    return `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index}"/>`
  })
  parts['xl/workbook.xml'] =
    `${declaration}<workbook xmlns:r="r"><sheets>${listed.join('')}</sheets></workbook>`
  parts['xl/_rels/workbook.xml.rels'] = relations(targets)
  parts['xl/sharedStrings.xml'] =
    `${declaration}<sst xmlns="x">${strings.map((text) => `<si><r><t>${escapeXml(text)}</t></r><rPh><t>PHONETIC</t></rPh></si>`).join('')}</sst>`
  return zipParts(parts)
}

function rowXml(row: readonly (string | number)[], inline: boolean, strings: string[]): string {
  const cells = row.map((cell) => {
    if (typeof cell === 'number') return `<c><v>${cell}</v></c>`
    if (inline) return `<c t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`
    strings.push(cell)
    return `<c t="s"><v>${strings.length - 1}</v></c>`
  })
  return `<row>${cells.join('')}</row>`
}

const officeNamespaces =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'

/** The body of an OpenDocument file around what is given as XML. */
export function openDocumentBody(kind: 'text' | 'spreadsheet' | 'presentation', body: string): string {
  return `${declaration}<office:document-content ${officeNamespaces}><office:automatic-styles><style><text:p>STYLE</text:p></style></office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`
}

export function makeOdf(kind: 'text' | 'spreadsheet' | 'presentation', body: string): Buffer {
  return zipParts({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'META-INF/manifest.xml': `${declaration}<manifest:manifest/>`,
    'content.xml': openDocumentBody(kind, body),
  })
}

export function odfParagraphs(lines: readonly string[]): string {
  return lines.map((line) => `<text:p text:style-name="P1">${escapeXml(line)}</text:p>`).join('')
}

/** A book whose chapters are filed in the reverse of the order they are read in. */
export function makeEpub(title: string, chapters: readonly string[]): Buffer {
  const parts: { [name: string]: string } = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `${declaration}<container><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
  }
  const items = chapters
    .map((_, index) => `<item id="c${index}" href="text/chapter%20${index}.xhtml"/>`)
    .toReversed()
  const spine = chapters.map((_, index) => `<itemref idref="c${index}"/>`)
  parts['OEBPS/content.opf'] =
    `${declaration}<package><metadata><dc:title>${escapeXml(title)}</dc:title><dc:creator>Иван</dc:creator></metadata><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`
  chapters.forEach((chapter, index) => {
    parts[`OEBPS/text/chapter ${index}.xhtml`] =
      `${declaration}<html><head><style>p { color: red }</style></head><body><p>${escapeXml(chapter)}</p></body></html>`
  })
  return zipParts(parts)
}

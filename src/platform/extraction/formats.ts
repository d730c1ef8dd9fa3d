/** The ways files are read. */
export type Format =
  | 'plain'
  | 'html'
  | 'pdf'
  | 'docx'
  | 'pptx'
  | 'xlsx'
  | 'open-document'
  | 'flat-open-document'
  | 'rtf'
  | 'epub'
  | 'mail'

const extensions: { readonly [F in Format]: string } = {
  plain: `ac am asm bat bib c cc cfg clj cmake cmd conf cpp cs css csv cxx dart diff el erl ex go gradle groovy h hpp hs
    ini java jl js json jsx kt less lisp log lua m make markdown md mjs ml mm nix org patch php pl pm properties ps1 py
    r rb rs rst sass scala script scss sh sql swift tcl tex text toml ts tsv tsx txt vb vi vim vue xml yaml yml zig zsh`,
  html: 'htm html xhtml',
  pdf: 'pdf',
  docx: 'docm docx dotx',
  pptx: 'potx ppsx pptm pptx',
  xlsx: 'xlsm xlsx xltx',
  'open-document': 'odp ods odt otp ots ott',
  'flat-open-document': 'fodp fods fodt',
  rtf: 'rtf',
  epub: 'epub',
  mail: 'eml',
}

const formats = new Map(
  Object.entries(extensions).flatMap(([format, names]) =>
    names.split(/\s+/).map((name) => [name, format as Format]),
  ),
)

/** Whether files of this name can hold text that `TextExtractor` finds; only the extension counts. */
export function isExtractable(name: string): boolean {
  return formatOf(name) !== undefined
}

export function formatOf(name: string): Format | undefined {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? undefined : formats.get(name.slice(dot + 1).toLowerCase())
}

/** Whether the beginning of such a file can be read without its end. */
export function isReadableInPart(format: Format): boolean {
  return ['plain', 'html', 'rtf', 'mail', 'flat-open-document'].includes(format)
}

/** Whether such a file is little more than its text. */
export function isMostlyText(format: Format): boolean {
  return format === 'plain' || format === 'html'
}

/** Whether such a file is a PDF, or may have one attached. */
export function mayContainPdf(format: Format | undefined): boolean {
  return format === 'pdf' || format === 'mail'
}

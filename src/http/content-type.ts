// By extension. Text is UTF-8 here, whatever it was when it was written: the one guess a browser can undo.
const types: Readonly<Record<string, string>> = {
  // Text and data
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  ini: 'text/plain',
  conf: 'text/plain',
  cfg: 'text/plain',
  diff: 'text/plain',
  patch: 'text/plain',
  c: 'text/plain',
  h: 'text/plain',
  cpp: 'text/plain',
  go: 'text/plain',
  java: 'text/plain',
  kt: 'text/plain',
  php: 'text/plain',
  py: 'text/plain',
  rb: 'text/plain',
  rs: 'text/plain',
  sh: 'text/plain',
  sql: 'text/plain',
  swift: 'text/plain',
  tex: 'text/plain',
  toml: 'text/plain',
  tsx: 'text/plain',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  css: 'text/css',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  vcf: 'text/vcard',
  vtt: 'text/vtt',
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  xml: 'text/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  json: 'application/json',
  map: 'application/json',
  geojson: 'application/geo+json',
  jsonld: 'application/ld+json',
  ipynb: 'application/x-ipynb+json',
  xhtml: 'application/xhtml+xml',
  rss: 'application/rss+xml',
  atom: 'application/atom+xml',
  xsl: 'application/xslt+xml',
  xslt: 'application/xslt+xml',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
  wasm: 'application/wasm',
  sqlite: 'application/vnd.sqlite3',
  // Documents
  pdf: 'application/pdf',
  ps: 'application/postscript',
  eps: 'application/postscript',
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  mobi: 'application/x-mobipocket-ebook',
  doc: 'application/msword',
  dot: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  docm: 'application/vnd.ms-word.document.macroenabled.12',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xlsm: 'application/vnd.ms-excel.sheet.macroenabled.12',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  pptm: 'application/vnd.ms-powerpoint.presentation.macroenabled.12',
  vsd: 'application/vnd.visio',
  vsdx: 'application/vnd.ms-visio.drawing',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  odg: 'application/vnd.oasis.opendocument.graphics',
  pages: 'application/vnd.apple.pages',
  numbers: 'application/vnd.apple.numbers',
  key: 'application/vnd.apple.keynote',
  eml: 'message/rfc822',
  msg: 'application/vnd.ms-outlook',
  // Images
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  jfif: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  heic: 'image/heic',
  heif: 'image/heif',
  jxl: 'image/jxl',
  bmp: 'image/bmp',
  ico: 'image/vnd.microsoft.icon',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  psd: 'image/vnd.adobe.photoshop',
  dng: 'image/x-adobe-dng',
  svg: 'image/svg+xml',
  // Sound
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  weba: 'audio/webm',
  flac: 'audio/flac',
  mid: 'audio/midi',
  midi: 'audio/midi',
  aif: 'audio/aiff',
  aiff: 'audio/aiff',
  // Video
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  mpg: 'video/mpeg',
  mpeg: 'video/mpeg',
  ogv: 'video/ogg',
  webm: 'video/webm',
  mkv: 'video/matroska',
  avi: 'video/vnd.avi',
  wmv: 'video/x-ms-wmv',
  flv: 'video/x-flv',
  '3gp': 'video/3gpp',
  // Fonts
  ttf: 'font/ttf',
  otf: 'font/otf',
  woff: 'font/woff',
  woff2: 'font/woff2',
  // Archives and programs
  zip: 'application/zip',
  jar: 'application/java-archive',
  gz: 'application/gzip',
  tgz: 'application/gzip',
  bz2: 'application/x-bzip2',
  xz: 'application/x-xz',
  zst: 'application/zstd',
  tar: 'application/x-tar',
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  apk: 'application/vnd.android.package-archive',
  deb: 'application/vnd.debian.binary-package',
  iso: 'application/x-iso9660-image',
  dmg: 'application/x-apple-diskimage',
  exe: 'application/vnd.microsoft.portable-executable',
  msi: 'application/x-msi',
}

const byExtension = new Map(Object.entries(types))

/** The media type of a file of this name: what it is, for icons and previews. Files are not sent as it, but as `servedAs` says. */
export function mediaTypeOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const type = dot === -1 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())
  return type ?? 'application/octet-stream'
}

/** What browsers show without ever running anything of the author of a file. */
const inert =
  /^(?:image\/(?:png|apng|jpeg|gif|webp|avif|heic|heif|jxl|bmp|vnd\.microsoft\.icon|tiff)|audio\/.+|video\/.+)$/

/** What browsers show as text once it is called plain text. */
const readable =
  /^(?:text\/(?:plain|csv|tab-separated-values|markdown|vcard|calendar)|application\/(?:json|yaml))$/

const DOWNLOADED = "sandbox; default-src 'none'; frame-ancestors 'none'"
// The document a browser makes around a picture or a film has a style of its own and refers to the file itself.
const SHOWN = `${DOWNLOADED}; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'`
// Browsers show no PDF in a sandbox, and keep its scripts away from the site it comes from.
const SHOWN_PDF = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How a file of a user is sent. */
export interface Served {
  readonly contentType: string
  /** Whether a browser may show it in place of saving it. */
  readonly isInline: boolean
  /** As `Content-Security-Policy`. */
  readonly policy: string
}

/**
 * The one place that says as what files of users leave this site: as a type that no browser runs, whatever is in them.
 * That is an allow-list. Everything else, such as HTML, SVG, XML, scripts and styles, is bytes to be saved.
 */
export function servedAs(name: string, wantsInline: boolean): Served {
  const type = mediaTypeOf(name)
  const isPdf = type === 'application/pdf'
  const isShown = isPdf || inert.test(type)
  if (!isShown && !readable.test(type)) {
    return { contentType: 'application/octet-stream', isInline: false, policy: DOWNLOADED }
  }
  const contentType = isShown ? type : 'text/plain; charset=utf-8'
  if (!wantsInline) return { contentType, isInline: false, policy: DOWNLOADED }
  return { contentType, isInline: true, policy: isPdf ? SHOWN_PDF : SHOWN }
}

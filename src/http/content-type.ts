import mime from 'mime'

// Where the data set of `mime` names an alias that browsers know less well, has another meaning for the extension, or
// would keep a readable file from being shown as text. `ts` is TypeScript as often as it is a film, so it is neither.
const overrides: Readonly<Record<string, string>> = {
  ...allOf('text/plain', 'c cfg cpp diff go h java kt patch php py rb rs sh sql swift tex toml tsx'),
  ...allOf('application/octet-stream', 'mts ts'),
  ...allOf('application/yaml', 'yaml yml'),
  ...allOf('application/xslt+xml', 'xsl'),
  ...allOf('application/gzip', 'tgz'),
  ...allOf('application/zstd', 'zst'),
  ...allOf('audio/aiff', 'aif aifc aiff'),
  ...allOf('audio/flac', 'flac'),
  ...allOf('image/jpeg', 'jfif'),
  ...allOf('text/javascript', 'cjs'),
  ...allOf('text/vcard', 'vcf'),
  ...allOf('text/xml', 'xml'),
  ...allOf('video/matroska', 'mkv'),
  ...allOf('video/mp4', 'm4v'),
  ...allOf('video/vnd.avi', 'avi'),
}

const overriddenTypes = new Map(Object.entries(overrides))

/** The media type of a file of this name, for icons and previews. Files are not sent as it, but as `servedAs` says. */
export function mediaTypeOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot === -1 ? '' : name.slice(dot + 1).toLowerCase()
  return overriddenTypes.get(extension) ?? mime.getType(`.${extension}`) ?? 'application/octet-stream'
}

function allOf(type: string, extensions: string): Record<string, string> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, type]))
}

/** Types that browsers show without ever running anything of the author of a file. */
const inert = new Set([
  ...'apng avif bmp gif heic heif jpeg jxl png tiff vnd.microsoft.icon webp'
    .split(' ')
    .map((type) => `image/${type}`),
  ...'aac aiff flac midi mp4 mpeg ogg wav webm'.split(' ').map((type) => `audio/${type}`),
  ...'3gpp matroska mp4 mpeg ogg quicktime vnd.avi webm x-flv x-ms-wmv'
    .split(' ')
    .map((type) => `video/${type}`),
])

/** Types that browsers show as text once they are sent as plain text. */
const readable =
  /^(?:text\/(?:plain|csv|tab-separated-values|markdown|vcard|calendar)|application\/(?:json|yaml))$/

const DOWNLOADED = "sandbox; default-src 'none'; frame-ancestors 'none'"
// The document that a browser creates around a picture or a film has its own style and refers to the file itself.
const SHOWN = `${DOWNLOADED}; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'`
// Browsers show no PDF in a sandbox. They keep its scripts away from the site it comes from.
const SHOWN_PDF = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How a file of a user is sent. */
export interface Served {
  readonly contentType: string
  /** Whether a browser may show it instead of saving it. */
  readonly isInline: boolean
  /** As `Content-Security-Policy`. */
  readonly policy: string
}

/**
 * The content type and the policy that files of users are sent with. An allow-list: only types that no browser runs,
 * whatever the bytes are. Everything else, such as HTML, SVG, XML, scripts and styles, is sent as bytes to be saved.
 */
export function servedAs(name: string, wantsInline: boolean): Served {
  const type = mediaTypeOf(name)
  const isPdf = type === 'application/pdf'
  const isShown = isPdf || inert.has(type)
  if (!isShown && !readable.test(type)) {
    return { contentType: 'application/octet-stream', isInline: false, policy: DOWNLOADED }
  }
  const contentType = isShown ? type : 'text/plain; charset=utf-8'
  if (!wantsInline) return { contentType, isInline: false, policy: DOWNLOADED }
  return { contentType, isInline: true, policy: isPdf ? SHOWN_PDF : SHOWN }
}

import mime from 'mime'

// Overrides of the `mime` data set: where it names an alias that browsers support less well, has another
// meaning for the extension, or would prevent display as text. `ts` is both TypeScript and video, so it has
// no type.
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

/**
 * The media type by file name, for icons and previews. Files are sent with the type from `servedAs` instead.
 */
export function mediaTypeOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot === -1 ? '' : name.slice(dot + 1).toLowerCase()
  return overriddenTypes.get(extension) ?? mime.getType(`.${extension}`) ?? 'application/octet-stream'
}

function allOf(type: string, extensions: string): Record<string, string> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, type]))
}

/** Types that browsers display without running any active content. */
const inert = new Set([
  ...'apng avif bmp gif heic heif jpeg jxl png tiff vnd.microsoft.icon webp'
    .split(' ')
    .map((type) => `image/${type}`),
  ...'aac aiff flac midi mp4 mpeg ogg wav webm'.split(' ').map((type) => `audio/${type}`),
  ...'3gpp matroska mp4 mpeg ogg quicktime vnd.avi webm x-flv x-ms-wmv'
    .split(' ')
    .map((type) => `video/${type}`),
])

/** Types that browsers can display if they are sent as plain text. */
const readable =
  /^(?:text\/(?:plain|csv|tab-separated-values|markdown|vcard|calendar)|application\/(?:json|yaml))$/

const DOWNLOADED = "sandbox; default-src 'none'; frame-ancestors 'none'"
// The document a browser generates around an image or a video has inline styles and refers to the file
// itself.
const SHOWN = `${DOWNLOADED}; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'`
// Browsers do not display a PDF in a sandbox. They isolate its scripts from the site.
const SHOWN_PDF = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How a user's file is sent. */
interface Served {
  readonly contentType: string
  /** Whether a browser may display it instead of saving it. */
  readonly isInline: boolean
  /** The `Content-Security-Policy`. */
  readonly policy: string
}

/**
 * The content type and policy for users' files. An allow-list: only types that no browser executes, whatever
 * the bytes are. Everything else, such as HTML, SVG, XML, scripts and styles, is sent as a download.
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

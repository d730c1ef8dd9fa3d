/** The formats of pixels that are decoded. `heic` is HEIF with HEVC, which sharp cannot decode. */
export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'heic' | 'tiff'

/**
 * How an image is obtained: decoded, drawn from an SVG or from the first page of a PDF, or taken from a file that contains it: a cover in
 * an audio file, a preview in a zip package such as an office document.
 */
export type ImageSource = 'pixels' | 'svg' | 'pdf' | 'audio' | 'package'

/** Brands of HEIF files. Files that also list an AVIF brand are AVIF. */
const HEVC_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'])

/** Magic numbers of image formats. Names and declared types are ignored. */
export function formatOf(bytes: Buffer): ImageFormat | undefined {
  const starts = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text
  if (starts('\xff\xd8\xff')) return 'jpeg'
  if (starts('\x89PNG\r\n\x1a\n')) return 'png'
  if (starts('GIF87a') || starts('GIF89a')) return 'gif'
  if (starts('RIFF') && starts('WEBP', 8)) return 'webp'
  if (starts('ftyp', 4)) return isHeic(bytes) ? 'heic' : 'avif'
  if (starts('II*\0') || starts('MM\0*') || starts('II+\0') || starts('MM\0+')) return 'tiff'
  return undefined
}

/** Brands are four characters each: the main one, a version, then the compatible ones. */
function isHeic(bytes: Buffer): boolean {
  const end = Math.min(bytes.readUInt32BE(0), 256)
  const brands: readonly string[] = bytes.toString('latin1', 8, end).match(/.{4}/gs) ?? []
  return !brands.includes('avif') && brands.some((brand) => HEVC_BRANDS.has(brand))
}

/** An uncompressed image: red, green, blue and alpha, one byte each. */
export interface Pixels {
  readonly data: Buffer
  readonly width: number
  readonly height: number
}

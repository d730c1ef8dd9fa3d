import type { ImageSource } from '../../platform/imaging/index.ts'

const MiB = 2 ** 20

/** The extensions of files that have a thumbnail, by where the image comes from. The web app has the same list. */
const extensions: { readonly [S in ImageSource]: string } = {
  pixels: 'jpg jpeg jfif png gif webp avif heic heif tif tiff',
  svg: 'svg',
  pdf: 'pdf',
  audio: 'mp3 m4a m4b aac ogg oga opus flac wav',
  package:
    'docx dotx docm pptx ppsx potx pptm xlsx xltx xlsm odt ott odp otp ods ots odg epub pages numbers key',
}

/** Maximum bytes that are read of a file. Longer files have no thumbnail, but audio files have their cover at the beginning. */
const maxBytes: { readonly [S in ImageSource]: number } = {
  pixels: 30 * MiB,
  svg: 2 * MiB,
  pdf: 64 * MiB,
  audio: 16 * MiB,
  package: 64 * MiB,
}

const sources = new Map(
  Object.entries(extensions).flatMap(([source, names]) =>
    names.split(' ').map((name) => [name, source as ImageSource]),
  ),
)

/** Where the image of a file comes from, and how much of the file is read. */
interface ThumbnailSource {
  readonly source: ImageSource
  readonly maxBytes: number
}

/** Judged by name and size. Undefined if the file has no thumbnail. */
export function thumbnailSource(file: {
  readonly name: string
  readonly size: number
}): ThumbnailSource | undefined {
  const source = sources.get(file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase())
  if (source === undefined || file.size === 0) return undefined
  if (source !== 'audio' && file.size > maxBytes[source]) return undefined
  return { source, maxBytes: maxBytes[source] }
}

/** Whether a file can have a thumbnail, judged by name and size. Its content may still have none, such as an audio file without a cover. */
export function hasThumbnail(file: { readonly name: string; readonly size: number }): boolean {
  return thumbnailSource(file) !== undefined
}

/** Whether a valid file certainly has a thumbnail, judged by name and size. Pages that cannot react to a missing one ask for these only. */
export function alwaysHasThumbnail(file: { readonly name: string; readonly size: number }): boolean {
  const found = thumbnailSource(file)
  return found !== undefined && found.source !== 'audio' && found.source !== 'package'
}

/** Whether a file is an image of pixels, judged by name and size. Its thumbnail shows all of it, unlike the first page of a PDF. */
export function isPicture(file: { readonly name: string; readonly size: number }): boolean {
  return thumbnailSource(file)?.source === 'pixels'
}

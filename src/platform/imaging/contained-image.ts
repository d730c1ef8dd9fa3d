import { unzipSync } from 'fflate'

/** Maximum unpacked size of an image within a zip package, in bytes. */
const MAX_UNPACKED = 16 * 2 ** 20

/** Previews that programs put into their documents, in order of preference: Office Open XML, OpenDocument, iWork, then covers of books. */
const PREVIEWS = [
  /^docProps\/thumbnail\.(?:jpe?g|png)$/i,
  /^Thumbnails\/thumbnail\.png$/,
  /^(?:QuickLook\/Thumbnail|preview)\.jpg$/,
  /(?:^|\/)cover[^/]{0,40}\.(?:jpe?g|png|webp)$/i,
]

/** The preview image in a zip package, such as an office document or a book. */
export function findPreview(bytes: Buffer): Buffer | undefined {
  const names: string[] = []
  unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (originalSize <= MAX_UNPACKED) names.push(name)
      return false
    },
  })
  const wanted = PREVIEWS.flatMap((pattern) => names.find((name) => pattern.test(name)) ?? [])[0]
  if (wanted === undefined) return undefined
  let isTaken = false
  const unpacked = unzipSync(bytes, {
    filter({ name, originalSize }) {
      const isWanted = !isTaken && name === wanted && originalSize <= MAX_UNPACKED
      isTaken ||= isWanted
      return isWanted
    },
  })
  return Buffer.from(unpacked[wanted] ?? [])
}

/** Types whose parsers the package loads when the first file of the type is parsed. */
const AUDIO_TYPES = ['audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/flac', 'audio/wav']

/** Loads the parsers of audio files. On demand, because most images are of another format. */
export async function loadCovers(): Promise<void> {
  const { parseBuffer } = await import('music-metadata')
  const load = (mimeType: string) => parseBuffer(new Uint8Array(1), { mimeType }).catch(() => undefined)
  await Promise.all(AUDIO_TYPES.map(load))
}

/** The cover in an audio file. `bytes` may be its beginning only. */
export async function findCover(bytes: Buffer): Promise<Buffer | undefined> {
  const { parseBuffer, selectCover } = await import('music-metadata')
  const { common } = await parseBuffer(bytes, undefined, { duration: false, skipPostHeaders: true })
  const cover = selectCover(common.picture)
  return cover === null ? undefined : Buffer.from(cover.data)
}

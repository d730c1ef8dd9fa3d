import ExifReader from 'exifreader'
import type { Sharp } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'

/** Properties read from the bytes of an image. */
export interface ImageDescription {
  /** Pixels, upright. */
  readonly width: number
  readonly height: number
  /** A placeholder of about 25 bytes: the average color and the coarse shapes. */
  readonly thumbhash: Uint8Array
  /** Local time of the camera as seconds since 1970; undefined if the file does not say. */
  readonly originalAt: number | undefined
  /** Minutes between that time and UTC. */
  readonly utcOffset: number | undefined
}

/** Largest side that the thumbhash algorithm takes. */
const HASHED_SIDE = 100

export async function describeImage(
  image: Sharp,
  size: { readonly width: number; readonly height: number },
  bytes: Buffer,
): Promise<ImageDescription> {
  const { data, info } = await image
    .resize({ width: HASHED_SIDE, height: HASHED_SIDE, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const thumbhash = rgbaToThumbHash(info.width, info.height, data)
  return { ...size, thumbhash, ...timeTaken(bytes) }
}

/** The time that the camera wrote into the file. */
function timeTaken(bytes: Buffer): Pick<ImageDescription, 'originalAt' | 'utcOffset'> {
  const tags = readTags(bytes)
  const originalAt = parseTime(tags.DateTimeOriginal) ?? parseTime(tags.DateTimeDigitized)
  const utcOffset =
    originalAt === undefined ? undefined : parseOffset(tags.OffsetTimeOriginal ?? tags.OffsetTime)
  return { originalAt, utcOffset }
}

type Tags = Readonly<Record<string, unknown>>

function readTags(bytes: Buffer): Tags {
  try {
    // oxlint-disable-next-line import/no-named-as-default-member -- Node finds no named exports in this package
    const { exif } = ExifReader.load(bytes, { expanded: true, includeTags: { exif: [...TAGS] } })
    return Object.fromEntries(TAGS.map((name) => [name, exif?.[name]?.description]))
  } catch {
    // The file has no tags, or damaged ones.
    return {}
  }
}

const TAGS = ['DateTimeOriginal', 'DateTimeDigitized', 'OffsetTimeOriginal', 'OffsetTime'] as const

/** `YYYY:MM:DD HH:MM:SS`. Cameras whose clock was never set write zeros. */
function parseTime(sent: unknown): number | undefined {
  const parts = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(
    typeof sent === 'string' ? sent : '',
  )
  if (parts === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number)
  if (year < 1800 || hour > 23 || minute > 59 || second > 60) return undefined
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  const isRealDay = time.getUTCMonth() === month - 1
  return isRealDay ? time.getTime() / 1000 : undefined
}

/** `+HH:MM` as minutes. */
function parseOffset(sent: unknown): number | undefined {
  const parts = /^([+-])(\d\d):(\d\d)/.exec(typeof sent === 'string' ? sent : '')
  if (parts === null) return undefined
  const minutes = Number(parts[2]) * 60 + Number(parts[3])
  if (minutes > 14 * 60) return undefined
  return parts[1] === '-' ? 0 - minutes : minutes
}

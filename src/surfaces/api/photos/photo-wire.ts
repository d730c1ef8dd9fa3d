import type { Mark, SeenPhoto } from '../../../derived/photos/index.ts'

const DAY_MS = 86_400_000

/** A photo of the timeline. `taken` is the local time of the camera, with its offset if that is known. */
export function photoToWire({ in: place, path, photo, isStarred }: SeenPhoto) {
  return {
    repo_id: place.id,
    path,
    id: photo.fileId,
    type: photo.kind,
    size: photo.size,
    mtime: photo.mtime,
    taken: localTime(photo.takenAt, photo.utcOffset),
    ...(photo.isCorrected && { corrected: true }),
    starred: isStarred,
    ...(photo.width !== undefined && { width: photo.width, height: photo.height }),
    ...(photo.thumbhash !== undefined && { thumbhash: thumbhashToWire(photo.thumbhash) }),
  }
}

/** The libraries and shared folders of some photos, by id. */
export function placesToWire(photos: readonly SeenPhoto[]) {
  return Object.fromEntries(
    photos.map(({ in: { id, name, permission } }) => [id, { repo_name: name, permission }]),
  )
}

export function thumbhashToWire(thumbhash: Uint8Array): string {
  return Buffer.from(thumbhash).toString('base64')
}

/** A day as `YYYY-MM-DD`. */
export function dayToWire(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Parses `YYYY-MM-DD` into days since 1970. Undefined if it is not a valid date. */
export function parseDay(sent: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(sent)) return undefined
  const ms = Date.parse(`${sent}T00:00:00Z`)
  return Number.isNaN(ms) ? undefined : ms / DAY_MS
}

export function cursorToWire({ takenAt, key }: Mark): string {
  return `${takenAt}_${key}`
}

export function parseCursor(sent: string): Mark | undefined {
  const parts = /^(-?\d{1,15})_(\d{1,15})$/.exec(sent)
  return parts === null ? undefined : { takenAt: Number(parts[1]), key: Number(parts[2]) }
}

/** Parses `YYYY-MM-DDThh:mm:ss` of the years 1 to 9999 into seconds since 1970. Undefined if it is not a valid time. */
export function parseLocalTime(sent: unknown): number | undefined {
  if (typeof sent !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(sent)) return undefined
  const ms = Date.parse(`${sent}Z`)
  // A day that a month does not have would be one of the next month.
  if (Number.isNaN(ms) || sent.startsWith('0000')) return undefined
  return new Date(ms).toISOString().startsWith(sent) ? ms / 1000 : undefined
}

export function localTime(seconds: number, utcOffset?: number): string {
  const local = new Date(seconds * 1000).toISOString().slice(0, 19)
  if (utcOffset === undefined) return local
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.abs(utcOffset)
  return `${local}${utcOffset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

import type { Mark, SeenPhoto } from '../../../derived/photos/index.ts'

const DAY_MS = 86_400_000

/** A photo of the timeline. `taken` is the local time of the camera, with its offset if that is known. */
export function photoToWire({ in: place, path, photo }: SeenPhoto) {
  return {
    repo_id: place.id,
    path,
    id: photo.fileId,
    type: photo.kind,
    size: photo.size,
    mtime: photo.mtime,
    taken: localTime(photo.takenAt, photo.utcOffset),
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

function localTime(seconds: number, utcOffset: number | undefined): string {
  const local = new Date(seconds * 1000).toISOString().slice(0, 19)
  if (utcOffset === undefined) return local
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.abs(utcOffset)
  return `${local}${utcOffset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

import { type FileId, idFromBytes } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { type Database, inGroups, type Reader, type Value } from '../../platform/database/index.ts'
import { DAY_SECONDS } from './photo-dates.ts'
import { below, inFolder, PARENT, type PhotoCondition } from './photo-parent.ts'
import { KINDS, type PhotoEntry } from './photo-store.ts'

/** A photo of the timeline. */
export interface Photo extends Omit<PhotoEntry, 'isReadable'> {
  readonly key: number
  readonly libraryKey: number
  /** Local time as seconds since 1970. */
  readonly takenAt: number
  /** Whether somebody corrected it. */
  readonly isCorrected: boolean
  readonly utcOffset: number | undefined
  readonly width: number | undefined
  readonly height: number | undefined
  readonly thumbhash: Uint8Array | undefined
}

interface PhotoRow {
  key: number
  library_key: number
  parent: string
  name: string
  file_id: Uint8Array
  kind: number
  size: number
  mtime: number
  corrected_at: number | null
  utc_offset: number | null
  taken_at: number
  width: number | null
  height: number | null
  thumbhash: Uint8Array | null
}

const SELECT_PHOTOS = `select key, library_key, ${PARENT} as parent, name, file_id, kind, size, mtime, corrected_at, utc_offset, taken_at, width, height,
  thumbhash from photo`
/** Bounds the time of one query (I10), and the nesting of its conditions. */
const PLACES_PER_QUERY = 100

/** A position in the timeline: newest first. */
export interface Mark {
  readonly takenAt: number
  readonly key: number
}

/** The photos of a library, or of a folder in it, or one photo. */
export interface Lane {
  readonly libraryKey: number
  readonly base: LibraryPath
  /** `base` is the photo. */
  readonly isFile: boolean
}

/** Bounds of a query: photos before the mark, and not before the time. */
interface LaneBounds {
  readonly before: Mark
  readonly since: number
}

/** The next marks of several lanes, newest first in each, in one query. */
export async function listMarks(
  reader: Reader,
  queries: readonly (LaneBounds & { readonly lane: Lane; readonly limit: number })[],
): Promise<Mark[][]> {
  const parameters: Value[] = []
  const parts = queries.map(({ lane, before, since, limit }, index) => {
    const { sql, values } = within(lane)
    parameters.push(lane.libraryKey, ...values, before.takenAt, before.key, since, limit)
    return `select * from (select ${index} as lane, taken_at, key from photo
      where library_key = ? and ${sql} and (taken_at, key) < (?, ?) and taken_at >= ?
      order by taken_at desc, key desc limit ?) q${index}`
  })
  const found: Mark[][] = queries.map(() => [])
  if (queries.length === 0) return found
  const rows = await reader.all<{ lane: number; taken_at: number; key: number }>(
    parts.join(' union all '),
    ...parameters,
  )
  for (const { lane, taken_at: takenAt, key } of rows) found[lane]?.push({ takenAt, key })
  return found.map((some) => some.sort(newestFirst))
}

/** Newest first. */
export function newestFirst(a: Mark, b: Mark): number {
  return b.takenAt - a.takenAt || b.key - a.key
}

/** Photos by key. */
export async function findPhotos(reader: Reader, keys: readonly number[]): Promise<Map<number, Photo>> {
  const found = new Map<number, Photo>()
  for (const { some, marks } of inGroups(keys)) {
    const rows = await reader.all<PhotoRow>(`${SELECT_PHOTOS} where key in (${marks})`, ...some)
    for (const row of rows) found.set(row.key, toPhoto(row))
  }
  return found
}

/** A file of a stored library. */
export interface StoredPlace {
  readonly libraryKey: number
  readonly path: LibraryPath
}

/** The marks of the photos at some places, in no order. Others are not photos, or not indexed yet. */
export async function findMarksAt(reader: Reader, places: readonly StoredPlace[]): Promise<Mark[]> {
  const found: Mark[] = []
  const slicer = new TimeSlicer()
  for (const { some } of inGroups(places, PLACES_PER_QUERY)) {
    if (slicer.isDue) await slicer.rest()
    const conditions: string[] = []
    const values: Value[] = []
    for (const [libraryKey, inLibrary] of Map.groupBy(some, (place) => place.libraryKey)) {
      for (const [folder, files] of Map.groupBy(inLibrary, ({ path }) => parentOf(path))) {
        const within = inFolder(folder)
        const names = files.map(({ path }) => baseName(path))
        conditions.push(
          `(library_key = ? and ${within.sql} and name in (${names.map(() => '?').join(', ')}))`,
        )
        values.push(libraryKey, ...within.values, ...names)
      }
    }
    const rows = await reader.all<{ taken_at: number; key: number }>(
      `select taken_at, key from photo where ${conditions.join(' or ')}`,
      ...values,
    )
    for (const row of rows) found.push({ takenAt: row.taken_at, key: row.key })
  }
  return found
}

/** The number of photos per day among the next `limit` of a lane, and the mark to continue from; none at the end. */
export async function countDays(
  db: Database,
  lane: Lane,
  before: Mark,
  limit: number,
): Promise<{ days: Map<number, number>; next: Mark | undefined }> {
  const { sql, values } = within(lane)
  const rows = await db.all<{ day: number; photos: number; taken_at: number; key: number }>(
    `select day, count(*) as photos, min(taken_at) as taken_at, min(key) as key from (
       select day, taken_at, key from photo where library_key = ? and ${sql} and (taken_at, key) < (?, ?)
       order by taken_at desc, key desc limit ?
     ) q group by day order by day desc`,
    lane.libraryKey,
    ...values,
    before.takenAt,
    before.key,
    limit,
  )
  const days = new Map(rows.map(({ day, photos }) => [day, photos]))
  const counted = rows.reduce((sum, { photos }) => sum + photos, 0)
  const last = rows.at(-1)
  if (counted < limit || last === undefined) return { days, next: undefined }
  // The last day may go on, so it is counted again from its beginning, unless it is the only one.
  if (rows.length === 1) return { days, next: await markAt(db, lane, before, limit) }
  days.delete(last.day)
  return { days, next: { takenAt: (last.day + 1) * DAY_SECONDS, key: 0 } }
}

/** The mark `count` photos further. */
async function markAt(db: Database, lane: Lane, before: Mark, count: number): Promise<Mark | undefined> {
  const { sql, values } = within(lane)
  const row = await db.get<{ taken_at: number; key: number }>(
    `select taken_at, key from photo where library_key = ? and ${sql} and (taken_at, key) < (?, ?)
     order by taken_at desc, key desc limit 1 offset ?`,
    lane.libraryKey,
    ...values,
    before.takenAt,
    before.key,
    count - 1,
  )
  return row && { takenAt: row.taken_at, key: row.key }
}

/** The placeholders of the photos in a folder, by name; the first `limit` names. */
export async function listThumbhashes(
  reader: Reader,
  libraryKey: number,
  parent: LibraryPath,
  limit: number,
): Promise<{ name: string; fileId: FileId; thumbhash: Uint8Array }[]> {
  const { sql, values } = inFolder(parent)
  const rows = await reader.all<{ name: string; file_id: Uint8Array; thumbhash: Uint8Array }>(
    `select name, file_id, thumbhash from photo
     where library_key = ? and ${sql} and thumbhash is not null order by name limit ?`,
    libraryKey,
    ...values,
    limit,
  )
  return rows.map((row) => ({
    name: row.name,
    fileId: idFromBytes<FileId>(row.file_id),
    thumbhash: row.thumbhash,
  }))
}

/** The condition that a photo is below a folder, or is a certain file. */
function within({ base, isFile }: Lane): PhotoCondition {
  if (!isFile) return below(base)
  const { sql, values } = inFolder(parentOf(base))
  return { sql: `(${sql} and name = ?)`, values: [...values, baseName(base)] }
}

function toPhoto(row: PhotoRow): Photo {
  return {
    key: row.key,
    libraryKey: row.library_key,
    parent: row.parent as LibraryPath,
    name: row.name,
    fileId: idFromBytes<FileId>(row.file_id),
    kind: KINDS[row.kind] ?? 'image',
    size: row.size,
    mtime: row.mtime,
    takenAt: row.taken_at,
    isCorrected: row.corrected_at !== null,
    // The offset belongs to the time in the file.
    utcOffset: row.corrected_at === null ? (row.utc_offset ?? undefined) : undefined,
    width: row.width ?? undefined,
    height: row.height ?? undefined,
    thumbhash: row.thumbhash ?? undefined,
  }
}

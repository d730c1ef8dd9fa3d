import { type LibraryDependent, libraryRelation } from '../commits/index.ts'
import { type Database, deleteBatch, type Reader, type Transaction, type Value } from '../database/index.ts'
import {
  type DirId,
  type FileId,
  idFromBytes,
  idToBytes,
  type LibraryPath,
  ROOT,
  withSlash,
} from '../objects/index.ts'
import type { PhotoKind } from './photo-kinds.ts'

const IDS_PER_QUERY = 500
const DAY_SECONDS = 86_400
const FIRST_SECOND = Date.UTC(2000, 0, 1) / 1000 - 730_119 * DAY_SECONDS
const LAST_SECOND = Date.UTC(9999, 11, 31) / 1000

/** What the bytes of an image say about it. */
export interface PhotoDetails {
  /** Local time of the camera as seconds since 1970; undefined if the file does not say. */
  readonly originalAt: number | undefined
  /** Minutes between that time and UTC. */
  readonly utcOffset: number | undefined
  /** Pixels, upright. Undefined if the image could not be decoded. */
  readonly width: number | undefined
  readonly height: number | undefined
  readonly thumbhash: Uint8Array | undefined
}

/** A photo as it is indexed. */
export interface PhotoEntry {
  readonly parent: LibraryPath
  readonly name: string
  readonly fileId: FileId
  readonly kind: PhotoKind
  readonly size: number
  /** Unix seconds. */
  readonly mtime: number
  readonly isReadable: boolean
}

/** A photo of the timeline. */
export interface Photo extends Omit<PhotoEntry, 'isReadable'> {
  readonly key: number
  readonly libraryKey: number
  /** Local time as seconds since 1970. */
  readonly takenAt: number
  readonly utcOffset: number | undefined
  readonly width: number | undefined
  readonly height: number | undefined
  readonly thumbhash: Uint8Array | undefined
}

/** The tree that the rows of a library describe. */
export interface PhotoPosition {
  readonly seq: number
  readonly root: DirId
  /** Not 0 while rows are written in several transactions. */
  readonly claim: number
  /** Unix seconds. */
  readonly claimedUntil: number
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
  utc_offset: number | null
  taken_at: number
  width: number | null
  height: number | null
  thumbhash: Uint8Array | null
}

const KINDS: readonly PhotoKind[] = ['image', 'video']

export async function findPosition(reader: Reader, libraryKey: number): Promise<PhotoPosition | undefined> {
  const row = await reader.get<{ seq: number; root: Uint8Array; claim: number; claimed_until: number }>(
    'select seq, root, claim, claimed_until from photo_library where library_key = ?',
    libraryKey,
  )
  return (
    row && {
      seq: row.seq,
      root: idFromBytes<DirId>(row.root),
      claim: row.claim,
      claimedUntil: row.claimed_until,
    }
  )
}

/** Creates the row of a library, unless it exists. */
export async function putPosition(tx: Transaction, libraryKey: number, root: DirId): Promise<void> {
  const columns = ['library_key', 'seq', 'root']
  await tx.insert('photo_library', columns, [[libraryKey, 0, idToBytes(root)]], { ignoreExisting: true })
}

/** Starts or continues a step of several transactions. False if another process moved the position. */
export async function claimPosition(
  tx: Transaction,
  step: { libraryKey: number; from: number; heldClaim: number; claim: number; until: number },
): Promise<boolean> {
  const sql = `update photo_library set claim = ?, claimed_until = ?
     where library_key = ? and seq = ? and claim = ?`
  return (await tx.run(sql, step.claim, step.until, step.libraryKey, step.from, step.heldClaim)) === 1
}

/** Ends a step. False if another process moved the position. */
export async function movePosition(
  tx: Transaction,
  step: { libraryKey: number; from: number; heldClaim: number; to: number; root: DirId },
): Promise<boolean> {
  const sql = `update photo_library set seq = ?, root = ?, claim = 0, claimed_until = 0
     where library_key = ? and seq = ? and claim = ?`
  return (await tx.run(sql, step.to, idToBytes(step.root), step.libraryKey, step.from, step.heldClaim)) === 1
}

/** Makes the next step compare the whole tree. */
export async function resetPosition(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from photo_library where library_key = ?', libraryKey)
}

/** Deletes up to `limit` photos of a library. Resolves to their number. */
export function deletePhotos(tx: Transaction, libraryKey: number, limit: number): Promise<number> {
  return deleteBatch(tx, 'photo', 'key', libraryKey, limit)
}

/** Photos and positions of libraries that are purged. */
export const photoRows: LibraryDependent = {
  purgeBatch: deletePhotos,
  async onPurged(tx, libraryKey) {
    await tx.run('delete from photo where library_key = ?', libraryKey)
    await tx.run('delete from photo_library where library_key = ?', libraryKey)
  },
}

/** Keys of those libraries whose photos are not those of the head, among some or of all after a key. */
export async function listBehind(
  reader: Reader,
  among: readonly number[] | { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const from = `from ${libraryRelation} l left join photo_library p on p.library_key = l.key
    where (p.seq is null or p.seq < l.head_seq) and l.deleted_at is null`
  if ('after' in among) {
    const sql = `select l.key ${from} and l.key > ? order by l.key limit ?`
    return (await reader.all<{ key: number }>(sql, among.after, among.limit)).map(({ key }) => key)
  }
  const behind: number[] = []
  for (let start = 0; start < among.length; start += IDS_PER_QUERY) {
    const some = among.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{ key: number }>(
      `select l.key ${from} and l.key in (${marks(some)})`,
      ...some,
    )
    behind.push(...rows.map(({ key }) => key))
  }
  return behind
}

/** What was read from files of a library before, by their id, so that a renamed or copied photo is not read again. */
export async function findDetails(
  reader: Reader,
  libraryKey: number,
  ids: readonly FileId[],
): Promise<Map<FileId, PhotoDetails>> {
  const found = new Map<FileId, PhotoDetails>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<{
      file_id: Uint8Array
      original_at: number | null
      utc_offset: number | null
      width: number | null
      height: number | null
      thumbhash: Uint8Array | null
    }>(
      `select file_id, original_at, utc_offset, width, height, thumbhash from photo
       where library_key = ? and due_at is null and kind = 0 and file_id in (${marks(some)})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const row of rows)
      found.set(idFromBytes<FileId>(row.file_id), {
        originalAt: row.original_at ?? undefined,
        utcOffset: row.utc_offset ?? undefined,
        width: row.width ?? undefined,
        height: row.height ?? undefined,
        thumbhash: row.thumbhash ?? undefined,
      })
  }
  return found
}

/** Inserts photos, or replaces what is at their paths. */
export async function putPhotos(
  tx: Transaction,
  libraryKey: number,
  photos: readonly { readonly entry: PhotoEntry; readonly details: PhotoDetails | undefined }[],
  { seq, now }: { readonly seq: number; readonly now: number },
): Promise<void> {
  const sql = `insert into photo (library_key, parent, name, file_id, kind, size, mtime, original_at, utc_offset, taken_at, day,
      width, height, thumbhash, due_at, attempts, seq)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
    on conflict (library_key, parent, name) do update set file_id = excluded.file_id, kind = excluded.kind,
      size = excluded.size, mtime = excluded.mtime, original_at = excluded.original_at, utc_offset = excluded.utc_offset,
      taken_at = excluded.taken_at, day = excluded.day, width = excluded.width, height = excluded.height,
      thumbhash = excluded.thumbhash, due_at = excluded.due_at, attempts = 0, seq = excluded.seq`
  await Promise.all(
    photos.map(({ entry, details }) => {
      const takenAt = takenAtOf(details?.originalAt, entry.mtime)
      return tx.run(
        sql,
        libraryKey,
        entry.parent,
        entry.name,
        idToBytes(entry.fileId),
        KINDS.indexOf(entry.kind),
        entry.size,
        entry.mtime,
        details?.originalAt ?? null,
        details?.utcOffset ?? null,
        takenAt,
        dayOf(takenAt),
        details?.width ?? null,
        details?.height ?? null,
        details?.thumbhash ?? null,
        details === undefined && entry.isReadable ? now : null,
        seq,
      )
    }),
  )
}

/** Deletes the photo at a path and those below it, unless a later commit put them there. */
export async function deletePhotosAt(
  tx: Transaction,
  libraryKey: number,
  place: { readonly parent: LibraryPath; readonly name: string; readonly path: LibraryPath },
  beforeSeq: number,
): Promise<void> {
  const { sql, values } = within(place.path)
  await tx.run(
    'delete from photo where library_key = ? and parent = ? and name = ? and seq < ?',
    libraryKey,
    place.parent,
    place.name,
    beforeSeq,
  )
  await tx.run(
    `delete from photo where library_key = ? and ${sql} and seq < ?`,
    libraryKey,
    ...values,
    beforeSeq,
  )
}

/** Deletes up to `limit` photos that an earlier commit put there. Resolves to their number. */
export function deletePhotosBefore(
  tx: Transaction,
  libraryKey: number,
  seq: number,
  limit: number,
): Promise<number> {
  return tx.run(
    `delete from photo where key in (select key from photo where library_key = ? and seq < ? limit ${limit})`,
    libraryKey,
    seq,
  )
}

/** A photo whose bytes are to be read. */
export interface DuePhoto {
  readonly key: number
  readonly libraryKey: number
  readonly fileId: FileId
  readonly name: string
  readonly size: number
  readonly mtime: number
  readonly dueAt: number
  readonly attempts: number
}

/** Libraries with due photos, by key, starting after `after`. */
export async function listDueLibraries(
  reader: Reader,
  now: number,
  after: number,
  limit: number,
): Promise<number[]> {
  // One index seek per library (loose index scan).
  const next = (bound: string) =>
    `select min(library_key) from photo where due_at is not null and due_at <= ? and library_key > ${bound}`
  const rows = await reader.all<{ library_key: number }>(
    `with recursive step (n, library_key) as (
       select 1, (${next('?')})
       union all
       select n + 1, (${next('step.library_key')}) from step where n < ? and library_key is not null
     ) select library_key from step where library_key is not null`,
    now,
    after,
    now,
    limit,
  )
  return rows.map(({ library_key }) => library_key)
}

/** The due photos of a library, newest first: those are looked at first. */
export async function listDue(
  reader: Reader,
  now: number,
  libraryKey: number,
  limit: number,
): Promise<DuePhoto[]> {
  const rows = await reader.all<{
    key: number
    file_id: Uint8Array
    name: string
    size: number
    mtime: number
    due_at: number
    attempts: number
  }>(
    `select key, file_id, name, size, mtime, due_at, attempts from photo
     where library_key = ? and due_at is not null and due_at <= ? order by due_at, key desc limit ?`,
    libraryKey,
    now,
    limit,
  )
  return rows.map((row) => ({
    key: row.key,
    libraryKey,
    fileId: idFromBytes<FileId>(row.file_id),
    name: row.name,
    size: row.size,
    mtime: row.mtime,
    dueAt: row.due_at,
    attempts: row.attempts,
  }))
}

/** When the next photo is due, in Unix seconds; undefined if none is. */
export async function nextDue(reader: Reader): Promise<number | undefined> {
  const sql = 'select min(due_at) as due_at from photo where due_at is not null'
  return (await reader.get<{ due_at: number | null }>(sql))?.due_at ?? undefined
}

/** Leases a photo; false if it changed or another process has the lease. */
export async function leasePhoto(tx: Transaction, photo: DuePhoto, until: number): Promise<boolean> {
  const sql =
    'update photo set due_at = ?, attempts = attempts + 1 where key = ? and file_id = ? and due_at = ?'
  return (await tx.run(sql, until, photo.key, idToBytes(photo.fileId), photo.dueAt)) === 1
}

/** Makes a leased photo due again. */
export async function postponePhoto(
  tx: Transaction,
  photo: DuePhoto,
  until: number,
  dueAt: number,
): Promise<void> {
  const sql = 'update photo set due_at = ? where key = ? and file_id = ? and due_at = ?'
  await tx.run(sql, dueAt, photo.key, idToBytes(photo.fileId), until)
}

/** Records what was read of a photo leased `until` then, unless it changed meanwhile. */
export async function putDetails(
  tx: Transaction,
  photo: DuePhoto,
  until: number,
  details: PhotoDetails,
): Promise<void> {
  const takenAt = takenAtOf(details.originalAt, photo.mtime)
  await tx.run(
    `update photo set original_at = ?, utc_offset = ?, taken_at = ?, day = ?, width = ?, height = ?, thumbhash = ?, due_at = null
     where key = ? and file_id = ? and mtime = ? and due_at = ?`,
    details.originalAt ?? null,
    details.utcOffset ?? null,
    takenAt,
    dayOf(takenAt),
    details.width ?? null,
    details.height ?? null,
    details.thumbhash ?? null,
    photo.key,
    idToBytes(photo.fileId),
    photo.mtime,
    until,
  )
}

/** A position in the timeline: newest first. */
export interface Mark {
  readonly takenAt: number
  readonly key: number
}

/** The photos of a library, or of a folder in it. */
export interface Lane {
  readonly libraryKey: number
  readonly base: LibraryPath
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
    const { sql, values } = within(lane.base)
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
  for (let start = 0; start < keys.length; start += IDS_PER_QUERY) {
    const some = keys.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<PhotoRow>(
      `select key, library_key, parent, name, file_id, kind, size, mtime, utc_offset, taken_at, width, height, thumbhash
       from photo where key in (${marks(some)})`,
      ...some,
    )
    for (const row of rows) found.set(row.key, toPhoto(row))
  }
  return found
}

/** The number of photos of each day among the next `limit` of a lane, and the mark to continue from; none at the end. */
export async function countDays(
  db: Database,
  lane: Lane,
  before: Mark,
  limit: number,
): Promise<{ days: Map<number, number>; next: Mark | undefined }> {
  const { sql, values } = within(lane.base)
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
  const { sql, values } = within(lane.base)
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
  const rows = await reader.all<{ name: string; file_id: Uint8Array; thumbhash: Uint8Array }>(
    `select name, file_id, thumbhash from photo
     where library_key = ? and parent = ? and thumbhash is not null order by name limit ?`,
    libraryKey,
    parent,
    limit,
  )
  return rows.map((row) => ({
    name: row.name,
    fileId: idFromBytes<FileId>(row.file_id),
    thumbhash: row.thumbhash,
  }))
}

/** The condition that a photo is below a folder. The successor of `/` in byte order is `0`. */
function within(base: LibraryPath): { readonly sql: string; readonly values: readonly string[] } {
  if (base === ROOT) return { sql: '1 = 1', values: [] }
  return { sql: '(parent = ? or (parent >= ? and parent < ?))', values: [base, withSlash(base), `${base}0`] }
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
    utcOffset: row.utc_offset ?? undefined,
    width: row.width ?? undefined,
    height: row.height ?? undefined,
    thumbhash: row.thumbhash ?? undefined,
  }
}

/** The time in the timeline. A client can send any modification time, so it is limited to the years 1 to 9999. */
function takenAtOf(originalAt: number | undefined, mtime: number): number {
  return Math.min(Math.max(originalAt ?? mtime, FIRST_SECOND), LAST_SECOND)
}

function dayOf(takenAt: number): number {
  return Math.floor(takenAt / DAY_SECONDS)
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

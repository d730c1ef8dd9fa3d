import { type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { dayOf, takenAtOf } from './photo-dates.ts'
import type { PhotoDetails } from './photo-store.ts'

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

/** Stores the metadata of a photo and releases its lease. Does nothing if the lease that ends at `until` is no longer held, or the photo changed. */
export async function putDetails(
  tx: Transaction,
  photo: DuePhoto,
  until: number,
  details: PhotoDetails,
): Promise<void> {
  const takenAt = takenAtOf(details.originalAt, photo.mtime)
  await tx.run(
    `update photo set original_at = ?, utc_offset = ?, taken_at = case when corrected_at is null then ? else taken_at end,
       day = case when corrected_at is null then ? else day end, width = ?, height = ?, thumbhash = ?, due_at = null
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

import { type DirId, type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { LibraryDependent } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { deleteBatch, type Reader, type Transaction } from '../../platform/database/index.ts'
import { findCorrectedDates } from './photo-date-store.ts'
import { dayOf, takenAtOf } from './photo-dates.ts'
import type { PhotoKind } from './photo-kinds.ts'
import { below, inFolder, PARENT, parentColumns } from './photo-parent.ts'

const IDS_PER_QUERY = 500

/** Properties read from the bytes of an image. */
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

/** The tree that the rows of a library describe. */
export interface PhotoPosition {
  readonly seq: number
  readonly root: DirId
  /** Not 0 while rows are written in several transactions. */
  readonly claim: number
  /** Unix seconds. */
  readonly claimedUntil: number
}

/** By their numbers in rows. */
export const KINDS: readonly PhotoKind[] = ['image', 'video']

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

/** Photos, corrected dates and positions of libraries that are purged. */
export const photoRows: LibraryDependent = {
  purgeBatch: deletePhotos,
  async onPurged(tx, libraryKey) {
    // Without its position, no step adds photos.
    await tx.run('delete from photo_library where library_key = ?', libraryKey)
    await tx.run('delete from photo where library_key = ?', libraryKey)
    await tx.run('delete from photo_date where library_key = ?', libraryKey)
  },
}

/** Keys of those libraries whose photos are not those of the head, among some or of all after a key. */
export async function listBehind(
  reader: Reader,
  among: readonly number[] | { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const from = `from ${libraryRows.relation} l left join photo_library p on p.library_key = l.key
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
  if (photos.length === 0) return
  const sql = `insert into photo (library_key, parent, long_parent, name, file_id, kind, size, mtime, original_at, corrected_at, utc_offset,
      taken_at, day, width, height, thumbhash, due_at, attempts, seq)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
    on conflict (library_key, parent, name) do update set file_id = excluded.file_id, kind = excluded.kind,
      size = excluded.size, mtime = excluded.mtime, original_at = excluded.original_at,
      corrected_at = excluded.corrected_at, utc_offset = excluded.utc_offset,
      taken_at = excluded.taken_at, day = excluded.day, width = excluded.width, height = excluded.height,
      thumbhash = excluded.thumbhash, due_at = excluded.due_at, attempts = 0, seq = excluded.seq`
  const paths = photos.map(({ entry }) => joinPath(entry.parent, entry.name))
  const corrected = await findCorrectedDates(tx, libraryKey, paths)
  await Promise.all(
    photos.map(async ({ entry, details }, index) => {
      const correction = corrected.get(paths[index] ?? ROOT)
      const correctedAt = correction?.fileId === entry.fileId ? correction.takenAt : undefined
      const takenAt = takenAtOf(correctedAt ?? details?.originalAt, entry.mtime)
      const { parent, longParent } = parentColumns(entry.parent)
      // A node of an older version may have stored the photo under its whole path.
      if (longParent !== null) {
        const earlier = 'delete from photo where library_key = ? and parent = ? and name = ?'
        await tx.run(earlier, libraryKey, longParent, entry.name)
      }
      await tx.run(
        sql,
        libraryKey,
        parent,
        longParent,
        entry.name,
        idToBytes(entry.fileId),
        KINDS.indexOf(entry.kind),
        entry.size,
        entry.mtime,
        details?.originalAt ?? null,
        correctedAt ?? null,
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

/** Gives photos of a library the corrected dates, or those of their files again. */
export async function dateAgain(
  tx: Transaction,
  libraryKey: number,
  changes: readonly {
    readonly path: LibraryPath
    readonly fileId: FileId
    readonly takenAt: number | undefined
  }[],
): Promise<void> {
  for (const { path, fileId, takenAt } of changes) {
    const { sql, values } = inFolder(parentOf(path))
    const at = [libraryKey, ...values, baseName(path), idToBytes(fileId)]
    const row = await tx.get<{ key: number; original_at: number | null; mtime: number }>(
      `select key, original_at, mtime from photo where library_key = ? and ${sql} and name = ? and file_id = ?`,
      ...at,
    )
    // Not indexed yet. The index reads the corrections.
    if (row === undefined) continue
    const shownAt = takenAtOf(takenAt ?? row.original_at ?? undefined, row.mtime)
    await tx.run(
      'update photo set corrected_at = ?, taken_at = ?, day = ? where key = ?',
      takenAt ?? null,
      shownAt,
      dayOf(shownAt),
      row.key,
    )
  }
}

/** Deletes the photo at a path and those below it, unless a later commit put them there. */
export async function deletePhotosAt(
  tx: Transaction,
  libraryKey: number,
  place: { readonly parent: LibraryPath; readonly name: string; readonly path: LibraryPath },
  beforeSeq: number,
): Promise<void> {
  const { sql, values } = below(place.path)
  const folder = inFolder(place.parent)
  await tx.run(
    `delete from photo where library_key = ? and ${folder.sql} and name = ? and seq < ?`,
    libraryKey,
    ...folder.values,
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

/** What the index has of a photo that can be compared with the tree. */
export interface IndexedPhoto {
  readonly key: number
  readonly parent: LibraryPath
  readonly name: string
  readonly fileId: FileId
  readonly kind: PhotoKind | undefined
  readonly size: number
  readonly mtime: number
  /** Whether the stored time and day are consistent with the stored metadata. */
  readonly isDated: boolean
}

interface IndexedRow {
  key: number
  parent: string
  name: string
  file_id: Uint8Array
  kind: number
  size: number
  mtime: number
  original_at: number | null
  corrected_at: number | null
  taken_at: number
  day: number
}

const INDEXED = `select key, ${PARENT} as parent, name, file_id, kind, size, mtime, original_at, corrected_at, taken_at, day from photo`

/** The indexed photos of a folder. */
export async function listPhotosIn(
  reader: Reader,
  libraryKey: number,
  parent: LibraryPath,
): Promise<IndexedPhoto[]> {
  const { sql, values } = inFolder(parent)
  const rows = await reader.all<IndexedRow>(
    `${INDEXED} where library_key = ? and ${sql}`,
    libraryKey,
    ...values,
  )
  return rows.map(toIndexed)
}

/** The indexed photos of a library after a key, in the order of keys. */
export async function listPhotosAfter(
  reader: Reader,
  libraryKey: number,
  after: number,
  limit: number,
): Promise<IndexedPhoto[]> {
  const sql = `${INDEXED} where library_key = ? and key > ? order by key limit ?`
  return (await reader.all<IndexedRow>(sql, libraryKey, after, limit)).map(toIndexed)
}

export async function countPhotos(reader: Reader, libraryKey: number): Promise<number> {
  const sql = 'select count(*) as n from photo where library_key = ?'
  return (await reader.get<{ n: number }>(sql, libraryKey))?.n ?? 0
}

function toIndexed(row: IndexedRow): IndexedPhoto {
  return {
    key: row.key,
    parent: row.parent as LibraryPath,
    name: row.name,
    fileId: idFromBytes<FileId>(row.file_id),
    kind: KINDS[row.kind],
    size: row.size,
    mtime: row.mtime,
    isDated:
      row.taken_at === takenAtOf(row.corrected_at ?? row.original_at ?? undefined, row.mtime) &&
      row.day === dayOf(row.taken_at),
  }
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

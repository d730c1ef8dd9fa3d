import { type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import { type PathBinding, tableBinding } from '../../libraries/registry/index.ts'
import { inGroups, type Reader, type Transaction } from '../../platform/database/index.ts'

/** A date that somebody corrected. It counts while the path has this content. */
interface CorrectedDate {
  readonly path: LibraryPath
  readonly fileId: FileId
  /** Local time as seconds since 1970. */
  readonly takenAt: number
}

/** The corrected dates at some paths of a library, by path. */
export async function findCorrectedDates(
  reader: Reader,
  libraryKey: number,
  paths: readonly LibraryPath[],
): Promise<Map<LibraryPath, CorrectedDate>> {
  const found = new Map<LibraryPath, CorrectedDate>()
  for (const { some, marks } of inGroups(paths.map(pathKey))) {
    const rows = await reader.all<{ path: string; file_id: Uint8Array; taken_at: number }>(
      `select path, file_id, taken_at from photo_date where library_key = ? and path_key in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const row of rows) {
      const path = row.path as LibraryPath
      found.set(path, { path, fileId: idFromBytes<FileId>(row.file_id), takenAt: row.taken_at })
    }
  }
  return found
}

export async function putCorrectedDate(
  tx: Transaction,
  libraryKey: number,
  { path, fileId, takenAt }: CorrectedDate,
): Promise<void> {
  await tx.run(
    `insert into photo_date (library_key, path_key, path, file_id, taken_at) values (?, ?, ?, ?, ?)
     on conflict (library_key, path_key) do update set file_id = excluded.file_id, taken_at = excluded.taken_at`,
    libraryKey,
    pathKey(path),
    path,
    idToBytes(fileId),
    takenAt,
  )
}

export async function deleteCorrectedDate(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
): Promise<void> {
  await tx.run('delete from photo_date where library_key = ? and path_key = ?', libraryKey, pathKey(path))
}

/** The number of corrected dates of a library; `most` at most. */
export async function countCorrectedDates(reader: Reader, libraryKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'select count(*) as count from (select 1 as one from photo_date where library_key = ? limit ?) counted',
    libraryKey,
    most,
  )
  return row?.count ?? 0
}

/** A corrected date follows its file. A deleted file that is restored has it again. */
export const photoDateBinding: PathBinding = {
  ...tableBinding('photo_date', { rows: 'corrected dates of photos', endsWithItem: false }),
  async copy(tx, from, to) {
    const [date] = (await findCorrectedDates(tx, from.libraryKey, [from.path])).values()
    if (date !== undefined) await putCorrectedDate(tx, to.libraryKey, { ...date, path: to.path })
  },
}

import { inflateSync } from 'node:zlib'
import {
  Dir,
  type Dirent,
  type DirId,
  type FileId,
  type FileObject,
  type FsId,
  fileId,
  idFromBytes,
  idToBytes,
  parseDir,
  parseFile,
  sha1Hex,
} from '../../base/objects/index.ts'
import { unpackChanges, unpackDir, unpackFile } from '../../base/packing/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { AS_RECEIVED, DELTA, DIR, FILE } from './object-encodings.ts'
import { insertObjects, listChain, type ObjectRow, type PreparedObject } from './object-store.ts'

/** Why an object cannot be used. */
export interface ObjectProblem {
  readonly problem: 'missing' | 'damaged'
  readonly reason: string
}

/** A dir whose row was verified, and the totals that the row stores. */
interface InspectedDir {
  readonly entries: readonly Dirent[]
  readonly dir: Dir
  readonly size: number
  readonly fileCount: number
  readonly dirCount: number | undefined
}

const IDS_PER_QUERY = 500

/** Reads a dir from its rows, past any cache, and verifies that it hashes to its id. */
async function inspectDir(
  reader: Reader,
  libraryKey: number,
  id: DirId,
): Promise<InspectedDir | ObjectProblem> {
  const chain = await listChain(reader, libraryKey, id)
  const own = chain.at(-1)
  const [whole, ...deltas] = chain
  if (own === undefined || whole === undefined) return { problem: 'missing', reason: 'it has no row' }
  if (whole.encoding === DELTA) {
    const base = whole.base === null ? 'none' : idFromBytes<DirId>(whole.base)
    return { problem: 'missing', reason: `the base ${base} of its difference has no row` }
  }
  try {
    const dir = readDir(id, whole, deltas)
    const actual = hashOfDir(dir, deltas.length === 0 ? whole : undefined)
    if (actual !== id) return { problem: 'damaged', reason: `its row hashes to ${actual}` }
    const { size, file_count: fileCount, dir_count: dirCount } = own
    return { dir, entries: dir.entries, size, fileCount, dirCount: dirCount ?? undefined }
  } catch (error) {
    return { problem: 'damaged', reason: `its row cannot be decoded (${messageOf(error)})` }
  }
}

function readDir(id: DirId, whole: ObjectRow, deltas: readonly ObjectRow[]): Dir {
  const wholeId = idFromBytes<DirId>(whole.id)
  const first =
    whole.encoding === AS_RECEIVED ? parseDir(inflateSync(whole.data)) : unpackDir(whole.data, wholeId)
  if (deltas.length === 0) return first
  const changes = new Map<string, Dirent | null>()
  for (const { data } of deltas) {
    for (const [name, entry] of unpackChanges(Buffer.from(data))) changes.set(name, entry)
  }
  return first.with(changes, id)
}

/** A dir that is not canonical is stored as it was received, and only those bytes hash to its id. */
function hashOfDir(dir: Dir, row: ObjectRow | undefined): string {
  if (row?.encoding === AS_RECEIVED) return sha1Hex(inflateSync(row.data))
  // Without an id, which would be trusted.
  return Dir.fromSorted(dir.entries).id
}

/** Files by id, verified, or why they cannot be used. */
async function inspectFiles(
  reader: Reader,
  libraryKey: number,
  ids: readonly FileId[],
): Promise<Map<FileId, FileObject | ObjectProblem>> {
  const found = new Map<FileId, FileObject | ObjectProblem>(
    ids.map((id) => [id, { problem: 'missing', reason: 'it has no row' }]),
  )
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<Pick<ObjectRow, 'id' | 'encoding' | 'data'>>(
      `select id, encoding, data from fs_object
       where library_key = ? and kind = ${FILE} and id in (${some.map(() => '?').join(', ')})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const row of rows) {
      const id = idFromBytes<FileId>(row.id)
      found.set(id, readFile(id, row))
    }
  }
  return found
}

function readFile(id: FileId, row: Pick<ObjectRow, 'encoding' | 'data'>): FileObject | ObjectProblem {
  try {
    const received = row.encoding === AS_RECEIVED ? inflateSync(row.data) : undefined
    const file = received === undefined ? unpackFile(Buffer.from(row.data)) : parseFile(received)
    const actual = received === undefined ? fileId(file) : sha1Hex(received)
    return actual === id ? file : { problem: 'damaged', reason: `its row hashes to ${actual}` }
  } catch (error) {
    return { problem: 'damaged', reason: `its row cannot be decoded (${messageOf(error)})` }
  }
}

/** The stored totals of dirs. Missing ones are left out. */
async function findTotals(
  reader: Reader,
  libraryKey: number,
  ids: readonly DirId[],
): Promise<Map<DirId, { size: number; fileCount: number; dirCount: number | undefined }>> {
  const found = new Map<DirId, { size: number; fileCount: number; dirCount: number | undefined }>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    const rows = await reader.all<Pick<ObjectRow, 'id' | 'size' | 'file_count' | 'dir_count'>>(
      `select id, size, file_count, dir_count from fs_object
       where library_key = ? and kind = ${DIR} and id in (${some.map(() => '?').join(', ')})`,
      libraryKey,
      ...some.map(idToBytes),
    )
    for (const row of rows) {
      const dirCount = row.dir_count ?? undefined
      found.set(idFromBytes<DirId>(row.id), { size: row.size, fileCount: row.file_count, dirCount })
    }
  }
  return found
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The other libraries that have an object as a full copy. */
async function listLibrariesWith(reader: Reader, id: FsId, exceptKey: number): Promise<number[]> {
  const rows = await reader.all<{ library_key: number }>(
    `select library_key from fs_object where id = ? and library_key <> ? and encoding <> ${DELTA} order by library_key`,
    idToBytes(id),
    exceptKey,
  )
  return rows.map((row) => row.library_key)
}

/** The stored bytes of an object, whatever they are. */
async function findObjectBytes(
  reader: Reader,
  libraryKey: number,
  id: FsId,
): Promise<Uint8Array | undefined> {
  const sql = 'select data from fs_object where library_key = ? and id = ?'
  return (await reader.get<{ data: Uint8Array }>(sql, libraryKey, idToBytes(id)))?.data
}

/** Repair: replaces the row of an object, or inserts it. */
async function replaceObject(tx: Transaction, libraryKey: number, object: PreparedObject): Promise<void> {
  await tx.run('delete from fs_object where library_key = ? and id = ?', libraryKey, idToBytes(object.id))
  await insertObjects(tx, libraryKey, [object])
}

/** Repair: corrects the totals of a dir. */
async function setTotals(
  tx: Transaction,
  libraryKey: number,
  id: DirId,
  totals: { readonly size: number; readonly fileCount: number; readonly dirCount: number },
): Promise<void> {
  await tx.run(
    'update fs_object set size = ?, file_count = ?, dir_count = ? where library_key = ? and id = ?',
    totals.size,
    totals.fileCount,
    totals.dirCount,
    libraryKey,
    idToBytes(id),
  )
}

/** Objects as they are stored, past any cache, for checks and repair. */
export const storedObjects = {
  findBytes: findObjectBytes,
  findTotals,
  inspectDir,
  inspectFiles,
  listLibrariesWith,
  replace: replaceObject,
  setTotals,
}

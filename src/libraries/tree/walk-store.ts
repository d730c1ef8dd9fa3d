import { inflateSync } from 'node:zlib'
import {
  type Dirent,
  type DirId,
  type FileId,
  idFromBytes,
  idToBytes,
  parseDir,
} from '../../base/objects/index.ts'
import { entriesInDir, unpackBlocks, unpackChanges } from '../../base/packing/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { AS_RECEIVED, DELTA, DIR, FILE } from './object-encodings.ts'
import { listChain, ObjectMissing, type ObjectRow, type ObjectStore, readFileRow } from './object-store.ts'

/** The entries that a dir adds to another version of it, or all of its entries, in batches. */
type AddedEntries = Iterable<readonly Dirent[]>

/**
 * Reads the entries of a dir without caching it, for walks through many dirs. If the dir is stored as a delta and `isKnown` returns
 * true for its base, only the added entries. Throws ObjectMissing.
 */
export async function readAdded(
  reader: Reader,
  libraryKey: number,
  id: DirId,
  isKnown: (base: DirId) => boolean,
): Promise<AddedEntries> {
  const row = await reader.get<Pick<ObjectRow, 'encoding' | 'base' | 'data'>>(
    `select encoding, base, data from fs_object where library_key = ? and id = ? and kind = ${DIR}`,
    libraryKey,
    idToBytes(id),
  )
  if (row === undefined) throw new ObjectMissing(libraryKey, id)
  if (row.encoding !== DELTA) return wholeEntries(row)
  if (row.base !== null && isKnown(idFromBytes<DirId>(row.base))) return [setEntries(unpackChanges(row.data))]
  const [whole, ...deltas] = await listChain(reader, libraryKey, id)
  if (whole === undefined || whole.encoding === DELTA) throw new ObjectMissing(libraryKey, id)
  const changes = new Map<string, Dirent | null>()
  for (const { data } of deltas) {
    for (const [name, entry] of unpackChanges(data)) changes.set(name, entry)
  }
  return changedEntries(whole, changes)
}

/**
 * The entries of a dir in any order, for walks through many dirs. Uses the cache but does not add to it, so that the walk evicts
 * nothing. Throws ObjectMissing.
 */
export async function entriesOnce(
  { db, objects }: { readonly db: Reader; readonly objects: ObjectStore },
  libraryKey: number,
  id: DirId,
): Promise<AddedEntries> {
  const cached = objects.findCached(libraryKey, id)
  return cached === undefined ? readAdded(db, libraryKey, id, () => false) : [cached.dir.entries]
}

function wholeEntries({ encoding, data }: Pick<ObjectRow, 'encoding' | 'data'>): AddedEntries {
  return encoding === AS_RECEIVED ? [parseDir(inflateSync(data)).entries] : entriesInDir(data)
}

function* changedEntries(whole: ObjectRow, changes: ReadonlyMap<string, Dirent | null>) {
  for (const entries of wholeEntries(whole)) yield entries.filter(({ name }) => !changes.has(name))
  yield setEntries(changes)
}

function setEntries(changes: ReadonlyMap<string, Dirent | null>): Dirent[] {
  return [...changes.values()].filter((entry) => entry !== null)
}

/** The concatenated block ids of each file. Missing files are left out. */
export async function listBlocksOf(
  reader: Reader,
  libraryKey: number,
  ids: readonly FileId[],
): Promise<Buffer[]> {
  const rows = await reader.all<Pick<ObjectRow, 'encoding' | 'data'>>(
    `select encoding, data from fs_object
     where library_key = ? and kind = ${FILE} and id in (${ids.map(() => '?').join(', ')})`,
    libraryKey,
    ...ids.map(idToBytes),
  )
  return rows.map((row) =>
    row.encoding === AS_RECEIVED
      ? Buffer.concat(readFileRow(row).blockIds.map(idToBytes))
      : unpackBlocks(row.data).blocks,
  )
}

import { type FsId, idToBytes } from '../../base/objects/index.ts'
import {
  type Deletion,
  inPaddedGroups,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import { DELTA } from './object-encodings.ts'

// Garbage collection condemns an object that nothing reaches, and deletes it later if it is still condemned (record 0036). A condemned
// object counts as missing for a writer that would rely on it without storing it. A writer that stores it releases it first.

/** An object to be condemned. */
interface CondemnableObject {
  readonly id: Uint8Array
  readonly depth: number
}

/**
 * What releases objects that a transaction stores. It comes before the insert, in a statement of its own: a concurrent deletion either sees the release, or is over
 * when the insert runs, which an insert that ignores existing rows does not ensure by itself.
 */
function objectReleases(tx: Transaction, libraryKey: number, ids: readonly Uint8Array[]): Deletion[] {
  if (!tx.mayHaveRows('condemned_object')) return []
  return inPaddedGroups(ids).map(({ some, marks }) => ({
    table: 'condemned_object',
    where: `library_key = ? and id in (${marks})`,
    parameters: [libraryKey, ...some],
  }))
}

/** Releases objects. As for objectReleases. */
export async function releaseObjects(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<number> {
  const releasing = objectReleases(tx, libraryKey, ids).map(({ where, parameters }) =>
    tx.run(`delete from condemned_object where ${where}`, ...parameters),
  )
  return (await Promise.all(releasing)).reduce((sum, count) => sum + count, 0)
}

/**
 * Holds off the deletion of bases until the end of this transaction, which stores deltas to them, and returns how many of `ids` exist.
 * They stay condemned: being the base of a delta does not make what is below them reachable.
 */
export async function holdBases(tx: Transaction, libraryKey: number, ids: readonly FsId[]): Promise<number> {
  const holding = inPaddedGroups(ids.map(idToBytes)).map(async ({ some, marks }) => {
    const hold = `update condemned_object set depth = depth where library_key = ? and id in (${marks})`
    const sql = `select count(*) as found from fs_object where library_key = ? and id in (${marks})`
    const [, row] = await Promise.all([
      tx.mayHaveRows('condemned_object') && tx.run(hold, libraryKey, ...some),
      tx.get<{ found: number }>(sql, libraryKey, ...some),
    ])
    return row?.found ?? 0
  })
  return (await Promise.all(holding)).reduce((sum, count) => sum + count, 0)
}

/** Condemns objects. Those already condemned keep their time. */
function condemnObjects(
  tx: Transaction,
  libraryKey: number,
  objects: readonly CondemnableObject[],
  at: number,
): Promise<number> {
  const rows = objects.map(({ id, depth }) => [libraryKey, id, depth, at])
  const columns = ['library_key', 'id', 'depth', 'condemned_at']
  return tx.insertNew('condemned_object', columns, rows)
}

/** Objects stored as a delta to one of `ids`, except for condemned ones. They are rewritten before their base is deleted. */
async function listDependents(
  reader: Reader,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<{ id: Uint8Array; base: Uint8Array }[]> {
  const found: { id: Uint8Array; base: Uint8Array }[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    found.push(
      ...(await reader.all<{ id: Uint8Array; base: Uint8Array }>(
        `select f.id, f.base from fs_object f where f.library_key = ? and f.base in (${marks}) and not exists
           (select 1 from condemned_object c where c.library_key = f.library_key and c.id = f.id)`,
        libraryKey,
        ...some,
      )),
    )
  }
  return found
}

/** Replaces a delta by a full copy. False if it is not a delta to `base` any more. */
async function rewriteWhole(
  tx: Transaction,
  libraryKey: number,
  { id, base }: { readonly id: Uint8Array; readonly base: Uint8Array },
  { encoding, data }: { readonly encoding: number; readonly data: Uint8Array },
): Promise<boolean> {
  const sql = `update fs_object set encoding = ?, base = null, depth = 0, data = ?
    where library_key = ? and id = ? and base = ? and encoding = ${DELTA}`
  return (await tx.run(sql, encoding, data, libraryKey, id, base)) === 1
}

/**
 * Deletes those of `ids` that are still condemned since before `before` and that no delta is based on. The condemned rows are locked
 * first, so that a concurrent transaction that stores one of the objects, or a delta to it, comes either before or after.
 */
async function deleteCondemnedObjects(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
  before: number,
): Promise<Uint8Array[]> {
  const deleted: Uint8Array[] = []
  for (const { some, marks } of inPaddedGroups(ids)) {
    const locked = await tx.all<{ id: Uint8Array }>(
      `update condemned_object set depth = depth
       where library_key = ? and condemned_at < ? and id in (${marks}) returning id`,
      libraryKey,
      before,
      ...some,
    )
    const free = await withoutBases(
      tx,
      libraryKey,
      locked.map(({ id }) => id),
    )
    for (const group of inPaddedGroups(free)) {
      await tx.run(
        `delete from fs_object where library_key = ? and id in (${group.marks})`,
        libraryKey,
        ...group.some,
      )
    }
    deleted.push(...free)
  }
  await releaseObjects(tx, libraryKey, deleted)
  return deleted
}

/** Those of `ids` that only others of them are based on, directly or over several deltas. */
async function withoutBases(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const free = new Map(ids.map((id) => [Buffer.from(id).toString('hex'), id]))
  const baseOf = new Map<string, string>()
  for (const { some, marks } of inPaddedGroups(ids)) {
    const rows = await tx.all<{ id: Uint8Array; base: Uint8Array }>(
      `select id, base from fs_object where library_key = ? and base in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const { id, base } of rows) {
      baseOf.set(Buffer.from(id).toString('hex'), Buffer.from(base).toString('hex'))
    }
  }
  for (const id of baseOf.keys()) {
    for (let next: string | undefined = id; next !== undefined && !free.has(next); ) {
      const base = baseOf.get(next)
      if (base === undefined || !free.delete(base)) break
      next = base
    }
  }
  return [...free.values()]
}

/** A page of the objects of a library after an id, with their kind, and since when they are condemned. */
async function listObjectsAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<{ id: Uint8Array; kind: number; depth: number; condemned_at: number | null }[]> {
  return reader.all(
    `select f.id, f.kind, f.depth, c.condemned_at from fs_object f
       left join condemned_object c on c.library_key = f.library_key and c.id = f.id
     where f.library_key = ? and f.id > ? order by f.id limit ?`,
    libraryKey,
    after,
    limit,
  )
}

/** Whether anything of a library is condemned. */
async function hasCondemnedObjects(reader: Reader, libraryKey: number): Promise<boolean> {
  const sql = 'select 1 as found from condemned_object where library_key = ? limit 1'
  return (await reader.get(sql, libraryKey)) !== undefined
}

/** The keys of the libraries that have condemned objects. */
async function listKeysWithCondemnedObjects(reader: Reader): Promise<number[]> {
  const sql = 'select distinct library_key from condemned_object'
  return (await reader.all<{ library_key: number }>(sql)).map(({ library_key }) => library_key)
}

/** Objects that nothing reaches, until they are deleted. */
export const condemnedObjects = {
  condemn: condemnObjects,
  delete: deleteCondemnedObjects,
  has: hasCondemnedObjects,
  listDependents,
  listLibraryKeys: listKeysWithCondemnedObjects,
  listAfter: listObjectsAfter,
  releases: objectReleases,
  release: releaseObjects,
  rewriteWhole,
}

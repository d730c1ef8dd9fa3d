import { type CommitId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { GcFigures } from './report.ts'

const COLLECTIONS_KEPT = 100

/** How far a library was collected. */
export interface CollectedLibrary {
  /** The history below this commit is given up. */
  readonly keptSeq: number
  /** When it was given up, Unix seconds. */
  readonly cutAt: number
  /** Whether its commits are deleted. */
  readonly isCut: boolean
  /** The head of the last complete collection, and its time. */
  readonly head: CommitId | undefined
  readonly collectedAt: number | undefined
}

interface CollectedRow {
  kept_seq: number
  cut_at: number
  is_cut: number
  head: Uint8Array | null
  collected_at: number | null
}

export async function findCollected(
  reader: Reader,
  libraryKey: number,
): Promise<CollectedLibrary | undefined> {
  const sql =
    'select kept_seq, cut_at, is_cut, head, collected_at from collected_library where library_key = ?'
  const row = await reader.get<CollectedRow>(sql, libraryKey)
  return (
    row && {
      keptSeq: row.kept_seq,
      cutAt: row.cut_at,
      isCut: row.is_cut === 1,
      head: row.head === null ? undefined : idFromBytes<CommitId>(row.head),
      collectedAt: row.collected_at ?? undefined,
    }
  )
}

/**
 * Gives up the history below a commit. Resolves to the commit below which it is given up then: another collector may have given up
 * more meanwhile, and may delete those trees already.
 */
export async function putCut(
  tx: Transaction,
  libraryKey: number,
  { keptSeq, at }: { readonly keptSeq: number; readonly at: number },
): Promise<number> {
  await tx.run(
    `insert into collected_library (library_key, kept_seq, cut_at, is_cut) values (?, ?, ?, 0)
     on conflict (library_key) do update set kept_seq = excluded.kept_seq, cut_at = excluded.cut_at, is_cut = 0
     where collected_library.kept_seq < excluded.kept_seq`,
    libraryKey,
    keptSeq,
    at,
  )
  return (await findCollected(tx, libraryKey))?.keptSeq ?? keptSeq
}

/** Whether the history below this commit, and no more, is given up. Keeps others from giving up more until the transaction ends. */
export async function holdCut(tx: Transaction, libraryKey: number, keptSeq: number): Promise<boolean> {
  const sql = 'update collected_library set kept_seq = kept_seq where library_key = ? and kept_seq = ?'
  return (await tx.run(sql, libraryKey, keptSeq)) === 1
}

export async function setCut(tx: Transaction, libraryKey: number, keptSeq: number): Promise<void> {
  const sql = 'update collected_library set is_cut = 1 where library_key = ? and kept_seq = ?'
  await tx.run(sql, libraryKey, keptSeq)
}

/** Records a collection that found nothing more to do for this head. */
export async function setCollected(
  tx: Transaction,
  libraryKey: number,
  { head, at }: { readonly head: CommitId; readonly at: number },
): Promise<void> {
  const sql = 'update collected_library set head = ?, collected_at = ? where library_key = ?'
  await tx.run(sql, idToBytes(head), at, libraryKey)
}

/** Records that a collection begins, and returns its key. */
export async function insertCollection(tx: Transaction, beganAt: number): Promise<number> {
  await tx.run('delete from collection where key <= (select max(key) from collection) - ?', COLLECTIONS_KEPT)
  const sql = 'insert into collection (began_at) values (?) returning key'
  const row = await tx.get<{ key: number }>(sql, beganAt)
  if (row === undefined) throw new Error('a collection was inserted and is not there')
  return row.key
}

/** Records how a collection ended, with its figures. */
export async function endCollection(
  tx: Transaction,
  key: number,
  run: { readonly endedAt: number; readonly failure: string | undefined },
  figures: GcFigures & { readonly libraryCount: number },
): Promise<void> {
  const sum = (of: Readonly<Record<string, number>>) =>
    Object.values(of).reduce((total, one) => total + one, 0)
  const { condemned, released, deleted } = figures
  await tx.run(
    `update collection set ended_at = ?, libraries = ?, condemned = ?, released = ?, objects = ?, commits = ?, block_references = ?,
     blocks = ?, freed_bytes = ?, waiting_bytes = ?, failure = ? where key = ?`,
    run.endedAt,
    figures.libraryCount,
    sum({ ...condemned }),
    sum({ ...released }),
    deleted.objects,
    deleted.commits,
    deleted.references,
    deleted.blocks,
    figures.freedBytes,
    figures.waitingBytes,
    run.failure ?? null,
    key,
  )
}

/** Removes a collection that was stopped. The next one starts again. */
export async function deleteCollection(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from collection where key = ?', key)
}

interface CollectionRow {
  began_at: number
  ended_at: number
  failure: string | null
  waiting_bytes: number
}

/** The last collections of any process: a server, or `carrel gc`. */
export async function findLastCollections(reader: Reader): Promise<{
  /** When the newest one began if it has not ended: it runs, or its process was killed. */
  readonly unfinishedSince: number | undefined
  readonly ended:
    | {
        readonly beganAt: number
        readonly endedAt: number
        readonly failure: string | undefined
        readonly waitingBytes: number
      }
    | undefined
}> {
  const newest = await reader.get<{ began_at: number; ended_at: number | null }>(
    'select began_at, ended_at from collection order by key desc limit 1',
  )
  const ended = await reader.get<CollectionRow>(
    `select began_at, ended_at, failure, waiting_bytes from collection
     where ended_at is not null order by ended_at desc, key desc limit 1`,
  )
  return {
    unfinishedSince: newest?.ended_at === null ? newest.began_at : undefined,
    ended: ended && {
      beganAt: ended.began_at,
      endedAt: ended.ended_at,
      failure: ended.failure ?? undefined,
      waitingBytes: ended.waiting_bytes,
    },
  }
}

/** How far garbage collection got in a library that is purged. */
export const collectionRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from collected_library where library_key = ?', libraryKey)
  },
}

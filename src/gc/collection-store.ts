import type { Reader, Transaction } from '../database/index.ts'
import { type CommitId, idFromBytes, idToBytes } from '../objects/index.ts'
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

/** Gives up the history below a commit. */
export async function putCut(
  tx: Transaction,
  libraryKey: number,
  { keptSeq, at }: { readonly keptSeq: number; readonly at: number },
): Promise<void> {
  await tx.run(
    `insert into collected_library (library_key, kept_seq, cut_at, is_cut) values (?, ?, ?, 0)
     on conflict (library_key) do update set kept_seq = excluded.kept_seq, cut_at = excluded.cut_at, is_cut = 0`,
    libraryKey,
    keptSeq,
    at,
  )
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

/** The figures of a collection. */
export async function insertCollection(
  tx: Transaction,
  run: { readonly beganAt: number; readonly endedAt: number; readonly failure: string | undefined },
  figures: GcFigures & { readonly libraryCount: number },
): Promise<void> {
  const sum = (of: Readonly<Record<string, number>>) =>
    Object.values(of).reduce((total, one) => total + one, 0)
  const columns = [
    'began_at',
    'ended_at',
    'libraries',
    'condemned',
    'released',
    'objects',
    'commits',
    'block_references',
    'blocks',
    'freed_bytes',
    'waiting_bytes',
    'failure',
  ]
  const { condemned, released, deleted } = figures
  await tx.insert('collection', columns, [
    [
      run.beganAt,
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
    ],
  ])
  await tx.run('delete from collection where key <= (select max(key) from collection) - ?', COLLECTIONS_KEPT)
}

/** The last collection of any process. */
export async function findLastCollection(reader: Reader): Promise<
  | {
      readonly beganAt: number
      readonly endedAt: number | undefined
      readonly failure: string | undefined
      readonly waitingBytes: number
    }
  | undefined
> {
  const row = await reader.get<{
    began_at: number
    ended_at: number | null
    failure: string | null
    waiting_bytes: number
  }>('select began_at, ended_at, failure, waiting_bytes from collection order by key desc limit 1')
  return (
    row && {
      beganAt: row.began_at,
      endedAt: row.ended_at ?? undefined,
      failure: row.failure ?? undefined,
      waitingBytes: row.waiting_bytes,
    }
  )
}

import { type CommitId, idFromBytes, idToBytes, type LibraryId } from '../../base/objects/index.ts'
import { accountRows } from '../../people/accounts/index.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import { type LibraryDependent, libraryRows, librarySizes } from '../registry/index.ts'

/**
 * Stored bytes of a library by what references them. A block is counted once, in the first category of:
 * current files, restorable deleted files, older revisions, unreferenced.
 */
export interface UsageBytes {
  readonly current: number
  readonly trash: number
  readonly history: number
  /** Held by the library but not referenced by any visible commit. Garbage collection frees them. */
  readonly unreferenced: number
  /** Bytes among all of these that another library holds too. They are stored once. */
  readonly shared: number
}

/** The counted bytes and the state they were counted for. */
export interface LibraryUsage extends UsageBytes {
  readonly head: CommitId
  readonly oldestSeq: number
  /** Unix seconds. */
  readonly computedAt: number
  readonly blocks: number
}

interface UsageRow {
  head: Uint8Array
  oldest_seq: number
  computed_at: number
  current_bytes: number
  trash_bytes: number
  history_bytes: number
  unreferenced_bytes: number
  shared_bytes: number
  blocks: number
}

export async function findLibraryUsage(
  reader: Reader,
  libraryKey: number,
): Promise<LibraryUsage | undefined> {
  const row = await reader.get<UsageRow>('select * from library_usage where library_key = ?', libraryKey)
  return (
    row && {
      head: idFromBytes<CommitId>(row.head),
      oldestSeq: row.oldest_seq,
      computedAt: row.computed_at,
      current: row.current_bytes,
      trash: row.trash_bytes,
      history: row.history_bytes,
      unreferenced: row.unreferenced_bytes,
      shared: row.shared_bytes,
      blocks: row.blocks,
    }
  )
}

/** Writes nothing if the library was purged meanwhile. */
export async function putLibraryUsage(db: Database, libraryKey: number, usage: LibraryUsage): Promise<void> {
  await db.write(
    async (tx) => {
      await tx.run('delete from library_usage where library_key = ?', libraryKey)
      await tx.run(
        `insert into library_usage (library_key, head, oldest_seq, computed_at, current_bytes, trash_bytes,
           history_bytes, unreferenced_bytes, shared_bytes, blocks)
         select l.key, ?, ?, ?, ?, ?, ?, ?, ?, ? from ${libraryRows.relation} l where l.key = ?`,
        idToBytes(usage.head),
        usage.oldestSeq,
        usage.computedAt,
        usage.current,
        usage.trash,
        usage.history,
        usage.unreferenced,
        usage.shared,
        usage.blocks,
        libraryKey,
      )
    },
    { durable: false },
  )
}

/** Repair: the library is counted again. */
export async function deleteLibraryUsage(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from library_usage where library_key = ?', libraryKey)
}

/** Bytes and number of all blocks. A block that several libraries hold is counted once. */
export interface StoredBlocks {
  readonly bytes: number
  readonly blocks: number
}

/**
 * Keys of libraries above `after`, deleted ones included, whose count is missing or of another head. Not those without commits, which are being restored or
 * imported: their rows name the head that they will have, so a count of what is there so far would be taken for that of the whole library.
 */
export async function listStaleAfter(reader: Reader, after: number, limit: number): Promise<number[]> {
  const rows = await reader.all<{ key: number }>(
    `select library.key from ${libraryRows.relation} library
       left join library_usage on library_usage.library_key = library.key
     where library.key > ? and (deleted_at is null or deleted_at > 0) and library.head_seq > 0
       and (library_usage.head is null or library_usage.head <> library.head)
     order by library.key limit ?`,
    after,
    limit,
  )
  return rows.map(({ key }) => key)
}

/** Stored bytes of an account: the sum over its libraries. A block in two of them counts twice. */
export interface AccountUsage extends UsageBytes {
  readonly email: string
  /** The file size of its libraries, as the quota counts it. Unlike the stored bytes, it counts equal files each time and is always current. */
  readonly fileSize: number
  readonly libraries: number
  /** Bytes of deleted libraries, of all categories. */
  readonly deleted: number
  /** Libraries that are not counted yet. */
  readonly uncounted: number
}

const ALL_BYTES = '(current_bytes + trash_bytes + history_bytes + unreferenced_bytes)'
const ofAlive = (column: string) => `sum(case when deleted_at is null then coalesce(${column}, 0) else 0 end)`
/** An account without libraries is a row of nulls. */
const IS_LIBRARY = 'library.key is not null'

const SUMS = `${ofAlive('current_bytes')} as current_bytes, ${ofAlive('trash_bytes')} as trash_bytes,
  ${ofAlive('history_bytes')} as history_bytes, ${ofAlive('unreferenced_bytes')} as unreferenced_bytes,
  ${ofAlive('shared_bytes')} as shared_bytes,
  ${librarySizes.fileSizeSum} as file_size,
  sum(case when ${IS_LIBRARY} and deleted_at is null then 1 else 0 end) as libraries,
  sum(case when deleted_at is null then 0 else coalesce(${ALL_BYTES}, 0) end) as deleted_bytes,
  sum(case when ${IS_LIBRARY} and library_usage.library_key is null then 1 else 0 end) as uncounted`

const COUNTED = 'left join library_usage on library_usage.library_key = library.key'

type SumRow = Record<string, number | string | null>

/** A library of an account, with its last count. */
export interface OwnedLibraryUsage {
  readonly key: number
  readonly id: LibraryId
  readonly name: string
  /** Bytes of its files, each counted in full; always current. */
  readonly fileSize: number
  /** Undefined until it is counted for the first time. */
  readonly counted: (UsageBytes & { readonly computedAt: number }) | undefined
  /** Whether there was no commit since it was counted. */
  readonly isCurrent: boolean
}

interface OwnedRow extends Omit<UsageRow, 'head' | 'computed_at' | 'oldest_seq' | 'blocks'> {
  readonly key: number
  readonly id: string
  readonly name: string
  readonly size: number
  readonly computed_at: number | null
  readonly is_current: number
}

/** The libraries of an owner without deleted ones, those with most stored bytes first. */
export async function listOwnedUsage(
  reader: Reader,
  ownerKey: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<OwnedLibraryUsage[]> {
  const rows = await reader.all<OwnedRow>(
    `select library.key, library.id, library.name, library.size, library_usage.computed_at,
       coalesce(current_bytes, 0) as current_bytes, coalesce(trash_bytes, 0) as trash_bytes,
       coalesce(history_bytes, 0) as history_bytes, coalesce(unreferenced_bytes, 0) as unreferenced_bytes,
       coalesce(shared_bytes, 0) as shared_bytes,
       case when library_usage.head = library.head then 1 else 0 end as is_current
     from ${libraryRows.relation} library ${COUNTED}
     where library.owner_key = ? and library.deleted_at is null
     order by coalesce(${ALL_BYTES}, library.size) desc, library.key limit ? offset ?`,
    ownerKey,
    limit,
    offset,
  )
  return rows.map((row) => ({
    key: row.key,
    id: row.id as LibraryId,
    name: row.name,
    fileSize: row.size,
    counted:
      row.computed_at === null
        ? undefined
        : {
            current: row.current_bytes,
            trash: row.trash_bytes,
            history: row.history_bytes,
            unreferenced: row.unreferenced_bytes,
            shared: row.shared_bytes,
            computedAt: row.computed_at,
          },
    isCurrent: row.is_current === 1,
  }))
}

/** The sum over the libraries of an owner. */
export async function sumOwnedUsage(reader: Reader, ownerKey: number): Promise<Omit<AccountUsage, 'email'>> {
  const row = await reader.get<SumRow>(
    `select ${SUMS} from ${libraryRows.relation} library ${COUNTED}
     where library.owner_key = ? and (deleted_at is null or deleted_at > 0)`,
    ownerKey,
  )
  return sumsIn(row ?? {})
}

/** All accounts, the largest first; also those that own nothing. */
export async function listAccountUsage(
  reader: Reader,
  { offset, limit }: { offset: number; limit: number },
): Promise<AccountUsage[]> {
  const rows = await reader.all<SumRow>(
    `select account.email, ${SUMS}, sum(coalesce(${ALL_BYTES}, 0)) as total
     from ${accountRows.briefRelation} account
       left join ${libraryRows.relation} library
         on library.owner_key = account.key and (library.deleted_at is null or library.deleted_at > 0)
       ${COUNTED}
     group by account.key, account.email order by total desc, account.key limit ? offset ?`,
    limit,
    offset,
  )
  return rows.map((row) => ({ email: String(row['email']), ...sumsIn(row) }))
}

/** The sum over all libraries of the server. */
export async function sumUsage(reader: Reader): Promise<Omit<AccountUsage, 'email'>> {
  const row = await reader.get<SumRow>(
    `select ${SUMS} from ${libraryRows.relation} library ${COUNTED} where deleted_at is null or deleted_at > 0`,
  )
  return sumsIn(row ?? {})
}

/** A sum over no rows is null. PostgreSQL sums bigint as numeric, which arrives as text. */
function sumsIn(row: SumRow): Omit<AccountUsage, 'email'> {
  const sum = (name: string) => Number(row[name] ?? 0)
  return {
    current: sum('current_bytes'),
    trash: sum('trash_bytes'),
    history: sum('history_bytes'),
    unreferenced: sum('unreferenced_bytes'),
    shared: sum('shared_bytes'),
    fileSize: sum('file_size'),
    libraries: sum('libraries'),
    deleted: sum('deleted_bytes'),
    uncounted: sum('uncounted'),
  }
}

/** Last counted bytes of older revisions and deleted files in the libraries of an owner. */
export async function historyBytesOf(reader: Reader, ownerKey: number): Promise<number> {
  const row = await reader.get<{ bytes: number | null }>(
    `select sum(u.history_bytes + u.trash_bytes) as bytes
     from library_usage u join ${libraryRows.relation} l on l.key = u.library_key where l.owner_key = ?`,
    ownerKey,
  )
  return row?.bytes ?? 0
}

/** The counted sizes of a library that is purged. */
export const usageRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from library_usage where library_key = ?', libraryKey)
  },
}

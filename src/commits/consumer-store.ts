import type { Database, Reader, Transaction } from '../database/index.ts'

/** The position of a consumer: the number of the last commit it processed in a library; 0 for none. */
export async function consumerPosition(reader: Reader, libraryKey: number, name: string): Promise<number> {
  const sql = 'select seq from follower where library_key = ? and name = ?'
  return (await reader.get<{ seq: number }>(sql, libraryKey, name))?.seq ?? 0
}

/** The positions of all consumers of a library. */
export function listPositions(reader: Reader, libraryKey: number): Promise<{ name: string; seq: number }[]> {
  return reader.all('select name, seq from follower where library_key = ? order by name', libraryKey)
}

/** Sets the position of a consumer, whatever it was. */
export async function moveConsumer(
  tx: Transaction,
  libraryKey: number,
  name: string,
  seq: number,
): Promise<void> {
  await tx.run(
    `insert into follower (library_key, name, seq) values (?, ?, ?)
     on conflict (library_key, name) do update set seq = excluded.seq`,
    libraryKey,
    name,
    seq,
  )
}

/** The move of a consumer's position from `from` to `to`, which may be equal. */
interface ConsumerMove {
  readonly libraryKey: number
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * Writes derived data in one transaction with the position. False, without writing, if the position is not
 * `from` any more because another process was first. Not flushed: data lost in a power failure is derived
 * again.
 */
export function writeFollowed(
  db: Database,
  { libraryKey, name, from, to }: ConsumerMove,
  write?: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  return db.write(
    async (tx) => {
      const columns = ['library_key', 'name', 'seq']
      const sql = 'update follower set seq = ? where library_key = ? and name = ? and seq = ?'
      const [, moved] = await Promise.all([
        tx.insert('follower', columns, [[libraryKey, name, 0]], { ignoreExisting: true }),
        tx.run(sql, to, libraryKey, name, from),
      ])
      // The row stays locked until this transaction ends.
      if (moved === 0) return false
      await write?.(tx)
      return true
    },
    { durable: false },
  )
}

/** The number of the last commit that every consumer of a library has processed; undefined if it has none. */
export async function slowestPosition(reader: Reader, libraryKey: number): Promise<number | undefined> {
  const sql = 'select min(seq) as seq from follower where library_key = ?'
  return (await reader.get<{ seq: number | null }>(sql, libraryKey))?.seq ?? undefined
}

import type { Database, Reader, Transaction } from '../database/index.ts'

/** The number of the last commit of a library that a follower has followed; 0 for none. */
export async function followedSeq(reader: Reader, libraryKey: number, name: string): Promise<number> {
  const sql = 'select seq from follower where library_key = ? and name = ?'
  return (await reader.get<{ seq: number }>(sql, libraryKey, name))?.seq ?? 0
}

/** Puts a follower at a commit, wherever it is. */
export async function moveFollower(
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

/** A follower's way through a library: it stands at `from` and goes to `to`, which may be where it stands. */
export interface FollowerMove {
  readonly libraryKey: number
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * Writes what was derived, in one transaction with the follower's position. False, and nothing is written, if the
 * follower is not at `from` any more: another process was first. What a power cut takes is derived again.
 */
export function writeFollowed(
  db: Database,
  { libraryKey, name, from, to }: FollowerMove,
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
      // Nobody else moves it until this is committed.
      if (moved === 0) return false
      await write?.(tx)
      return true
    },
    { durable: false },
  )
}

import type { Database, Reader, Transaction } from '../../platform/database/index.ts'

/** The position of a consumer: the number of the last commit it processed in a library; 0 for none. */
async function consumerPosition(reader: Reader, libraryKey: number, name: string): Promise<number> {
  const sql = 'select seq from follower where library_key = ? and name = ?'
  return (await reader.get<{ seq: number }>(sql, libraryKey, name))?.seq ?? 0
}

/** The positions of all consumers of a library. */
async function listPositions(reader: Reader, libraryKey: number): Promise<{ name: string; seq: number }[]> {
  return reader.all('select name, seq from follower where library_key = ? order by name', libraryKey)
}

/** Sets the position of a consumer, whatever it was. */
async function moveConsumer(tx: Transaction, libraryKey: number, name: string, seq: number): Promise<void> {
  await tx.run(
    `insert into follower (library_key, name, seq) values (?, ?, ?)
     on conflict (library_key, name) do update set seq = excluded.seq`,
    libraryKey,
    name,
    seq,
  )
}

/** The move of a consumer's position from `from` to `to`, which may be equal. */
export interface ConsumerMove {
  readonly libraryKey: number
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Moves the position, which stays locked until the transaction ends. False if it is not `from` any more, because another process was first. */
export async function moveFollowed(
  tx: Transaction,
  { libraryKey, name, from, to }: ConsumerMove,
): Promise<boolean> {
  const sql = 'update follower set seq = ? where library_key = ? and name = ? and seq = ?'
  const [, moved] = await Promise.all([
    putPositions(tx, libraryKey, [name]),
    tx.run(sql, to, libraryKey, name, from),
  ])
  return moved === 1
}

/** As moveFollowed, for all consumers of a library that move alike in one statement. */
export async function moveTogether(tx: Transaction, moves: readonly ConsumerMove[]): Promise<boolean> {
  const alike = Map.groupBy(moves, ({ libraryKey, from, to }) => `${libraryKey} ${from} ${to}`)
  const moved = await Promise.all(
    Array.from(alike.values(), async (some) => {
      const [first] = some
      if (first === undefined) return true
      const { libraryKey, from, to } = first
      const names = some.map(({ name }) => name)
      if (from === 0) await putPositions(tx, libraryKey, names)
      const marks = names.map(() => '?').join(', ')
      const sql = `update follower set seq = ? where library_key = ? and seq = ? and name in (${marks})`
      return (await tx.run(sql, to, libraryKey, from, ...names)) === names.length
    }),
  )
  return !moved.includes(false)
}

/** Creates rows of consumers that have none. */
function putPositions(tx: Transaction, libraryKey: number, names: readonly string[]): Promise<void> {
  const rows = names.map((name) => [libraryKey, name, 0])
  return tx.insert('follower', ['library_key', 'name', 'seq'], rows, { ignoreExisting: true })
}

/**
 * Writes derived data in one transaction with the position. False, without writing, if the position is not
 * `from` any more because another process was first. Not flushed: data lost in a power failure is derived
 * again.
 */
function writeFollowed(
  db: Database,
  move: ConsumerMove,
  write: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  return db.write(
    async (tx) => {
      if (!(await moveFollowed(tx, move))) return false
      await write(tx)
      return true
    },
    { durable: false },
  )
}

/** The number of the last commit that every consumer of a library has processed; undefined if it has none. */
async function slowestPosition(reader: Reader, libraryKey: number): Promise<number | undefined> {
  const sql = 'select min(seq) as seq from follower where library_key = ?'
  return (await reader.get<{ seq: number | null }>(sql, libraryKey))?.seq ?? undefined
}

/** The positions of consumers, for stores and transactions of other modules. */
export const positionRows = {
  /** The number of the last commit that each consumer has processed in a library, as a subquery to be joined. */
  relation: '(select library_key, name, seq from follower)',
  find: consumerPosition,
  list: listPositions,
  slowest: slowestPosition,
  set: moveConsumer,
  writeFollowed,
  /** Before all derived rows are purged: without its position, a consumer adds none. */
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await tx.run('delete from follower where library_key = ?', libraryKey)
  },
}

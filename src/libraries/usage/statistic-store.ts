import type { Reader, Transaction } from '../../platform/database/index.ts'

/** The daily figures. */
export type StatisticName =
  | 'storage'
  | 'files'
  | 'libraries'
  | 'accounts'
  | 'active-accounts'
  | 'stored-bytes'
  | 'stored-blocks'

/** A figure of one day. A day is identified by the Unix time of its start in UTC. */
export interface Statistic {
  readonly day: number
  readonly value: number
}

/** Keeps the last value of a day; of active accounts, the maximum. */
export async function putStatistic(
  tx: Transaction,
  day: number,
  name: StatisticName,
  value: number,
): Promise<void> {
  const kept = name === 'active-accounts' ? 'and statistic.value < excluded.value' : ''
  await tx.run(
    `insert into statistic (day, name, value) values (?, ?, ?)
     on conflict (day, name) do update set value = excluded.value where true ${kept}`,
    day,
    name,
    value,
  )
}

/** Deletes the figures of days before `day`. */
export function deleteStatisticsBefore(tx: Transaction, day: number): Promise<number> {
  return tx.run('delete from statistic where day < ?', day)
}

/** The newest recorded day. */
export async function findLatestStatistic(
  reader: Reader,
  name: StatisticName,
): Promise<Statistic | undefined> {
  const sql = 'select day, value from statistic where name = ? order by day desc limit 1'
  return reader.get<{ day: number; value: number }>(sql, name)
}

/** Oldest first. */
export async function listStatistics(
  reader: Reader,
  name: StatisticName,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<Statistic[]> {
  return reader.all<{ day: number; value: number }>(
    'select day, value from statistic where name = ? and day >= ? and day <= ? order by day limit ?',
    name,
    from,
    to,
    limit,
  )
}

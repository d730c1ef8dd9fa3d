import type { Database } from '../database/index.ts'
import type { Accounts, ApiTokens, Groups } from '../identity/index.ts'
import { type LibraryCore, libraryTotals } from '../library/index.ts'
import {
  findLatestStatistic,
  listStatistics,
  putStatistic,
  type Statistic,
  type StatisticName,
} from './statistic-store.ts'
import type { Usage } from './usage.ts'

const DAY = 86_400
const MOST_DAYS = 3660

export interface StatisticsOptions {
  readonly db: Database
  readonly core: LibraryCore
  readonly accounts: Accounts
  readonly apiTokens: ApiTokens
  readonly groups: Groups
  /** Unix seconds. */
  readonly now: () => number
}

/** The numbers of the server now. */
export interface ServerNumbers {
  readonly accounts: number
  readonly activeAccounts: number
  readonly groups: number
  readonly libraries: number
  readonly files: number
  /** Bytes of all files as they are now. */
  readonly size: number
  readonly devices: number
  /** Used within the last day. */
  readonly recentDevices: number
}

/** What there is on the server, now and on each day since it was first counted. */
export class Statistics {
  readonly #options: StatisticsOptions

  constructor(options: StatisticsOptions) {
    this.#options = options
  }

  /** `activeAccounts` are those that may sign in. */
  async now(): Promise<ServerNumbers> {
    const { accounts, apiTokens, groups, core } = this.#options
    const [all, active, groupCount, totals, devices] = await Promise.all([
      accounts.count(),
      accounts.count({ active: true }),
      groups.count(),
      libraryTotals(core),
      apiTokens.countDevices(),
    ])
    return {
      accounts: all,
      activeAccounts: active,
      groups: groupCount,
      ...totals,
      devices: devices.all,
      recentDevices: devices.recent,
    }
  }

  /** Maintenance: notes the numbers of today. Active on a day is who used a token on it. */
  async note(): Promise<void> {
    const { apiTokens, db, now } = this.#options
    const day = now() - (now() % DAY)
    const { accounts, libraries, files, size } = await this.now()
    const active = await apiTokens.countActive(day)
    const numbers: [StatisticName, number][] = [
      ['storage', size],
      ['files', files],
      ['libraries', libraries],
      ['accounts', accounts],
      ['active-accounts', active],
    ]
    await db.write(
      async (tx) => {
        for (const [name, value] of numbers) await putStatistic(tx, day, name, value)
      },
      { durable: false },
    )
  }

  /** Maintenance: once a day, the bytes of all blocks as they are stored. */
  async noteStored(usage: Usage): Promise<void> {
    const { db, now } = this.#options
    const day = now() - (now() % DAY)
    if ((await this.latest('stored-bytes'))?.day === day) return
    const { bytes, blocks } = await usage.stored()
    await db.write(
      async (tx) => {
        await putStatistic(tx, day, 'stored-bytes', bytes)
        await putStatistic(tx, day, 'stored-blocks', blocks)
      },
      { durable: false },
    )
  }

  latest(name: StatisticName): Promise<Statistic | undefined> {
    return findLatestStatistic(this.#options.db, name)
  }

  /** The days that were counted, oldest first. Unix seconds. */
  list(name: StatisticName, from: number, to: number): Promise<Statistic[]> {
    return listStatistics(this.#options.db, name, { from: from - (from % DAY), to, limit: MOST_DAYS })
  }
}

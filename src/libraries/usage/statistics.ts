import type { Accounts, Groups } from '../../people/accounts/index.ts'
import type { ApiTokens } from '../../people/credentials/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type LibraryCore, libraryTotals } from '../library/index.ts'
import {
  deleteStatisticsBefore,
  findLatestStatistic,
  listStatistics,
  putStatistic,
  type Statistic,
  type StatisticName,
} from './statistic-store.ts'
import type { Usage } from './usage.ts'

const DAY = 86_400
const MAX_DAYS = 3660

interface StatisticsOptions {
  readonly db: Database
  readonly core: LibraryCore
  readonly accounts: Accounts
  readonly apiTokens: ApiTokens
  readonly groups: Groups
  /** Unix seconds. */
  readonly now: () => number
}

/** Current figures of the server. */
interface ServerNumbers {
  readonly accounts: number
  readonly activeAccounts: number
  readonly groups: number
  readonly libraries: number
  readonly files: number
  /** Bytes of all current files. */
  readonly size: number
  readonly devices: number
  /** Used within the last day. */
  readonly recentDevices: number
}

/** Figures of the server, now and per day. */
export class Statistics {
  readonly #options: StatisticsOptions

  constructor(options: StatisticsOptions) {
    this.#options = options
  }

  /** `activeAccounts` counts the accounts that may sign in. */
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

  /** Maintenance: records the figures of today, and deletes those that are not shown any more. An account is active on a day it used a token. */
  async record(): Promise<void> {
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
        await deleteStatisticsBefore(tx, day - MAX_DAYS * DAY)
      },
      { durable: false },
    )
  }

  /** Maintenance: records the bytes of all stored blocks once a day. */
  async recordStored(usage: Usage): Promise<void> {
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

  /** The recorded days, oldest first. Unix seconds. */
  list(name: StatisticName, from: number, to: number): Promise<Statistic[]> {
    return listStatistics(this.#options.db, name, { from: from - (from % DAY), to, limit: MAX_DAYS })
  }
}

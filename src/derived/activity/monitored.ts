import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { Account, Accounts } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import type { CommitNotifier, CommitSummary } from './activity-consumer.ts'
import { fitting } from './activity-row.ts'
import { deleteMonitored, insertMonitored, listWatchers, monitoredBy } from './monitored-store.ts'
import { type Notice, repoMonitor } from './notices.ts'
import type { Notifications } from './notifications.ts'
import { type FeedItem, pastViews, seenThrough, viewsOf } from './view.ts'

const MAX_PATHS = 20
const MAX_PATH_CHARACTERS = 16_384

interface MonitoredOptions {
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  readonly notifications: Notifications
}

/**
 * Monitored libraries. An account is notified of commits by others, as far as it may read them at that time.
 */
export class MonitoredLibraries {
  readonly #options: MonitoredOptions

  constructor(options: MonitoredOptions) {
    this.#options = options
  }

  /** Starts at the current head. Idempotent. */
  async add(user: Account, { key, headSeq }: LibraryInfo): Promise<void> {
    await this.#options.db.write((tx) => insertMonitored(tx, user.key, key, headSeq))
  }

  async remove(user: Account, { key }: LibraryInfo): Promise<void> {
    await this.#options.db.write((tx) => deleteMonitored(tx, user.key, key))
  }

  /** Keys of the libraries an account monitors. */
  list(accountKey: number): Promise<Set<number>> {
    return monitoredBy(this.#options.db, accountKey)
  }

  readonly notify: CommitNotifier = async (library, commits) => {
    const { db, accounts, notifications } = this.#options
    const watchers = await listWatchers(db, library.key)
    if (watchers.length === 0) return undefined
    const people = await accounts.findManyByKey(watchers.map(({ accountKey }) => accountKey))
    const pending: { accountKey: number; notice: Notice }[] = []
    for (const { accountKey, sinceSeq } of watchers) {
      const account = people.get(accountKey)
      if (account === undefined || !account.active) continue
      const newCommits = commits.filter(
        ({ commit }) => commit.seq > sinceSeq && commit.creatorName !== account.email,
      )
      if (newCommits.length === 0) continue
      for (const notice of await this.#noticesFor(account, library, newCommits))
        pending.push({ accountKey, notice })
    }
    return async (tx) => {
      for (const { accountKey, notice } of pending) await notifications.put(tx, [accountKey], ...notice)
    }
  }

  async #noticesFor(
    account: Account,
    library: LibraryInfo,
    newCommits: readonly CommitSummary[],
  ): Promise<Notice[]> {
    const readable = await this.#options.access.listReadable(account)
    const outermost = viewsOf(readable.filter(({ libraryKey }) => libraryKey === library.key)).get(
      library.key,
    )
    if (outermost === undefined) return []
    const views = await pastViews(this.#options.access, outermost)
    return newCommits.flatMap(({ activities }) => {
      const seen = activities.flatMap((activity) => seenThrough(views, activity) ?? [])
      const groups = Object.values(Object.groupBy(seen, ({ op, object }) => `${op} ${object}`))
      return groups.flatMap((group) => {
        const notice = noticeOf(group)
        return notice === undefined ? [] : [notice]
      })
    })
  }
}

function noticeOf(group: readonly FeedItem[]): Notice | undefined {
  const [first] = group
  if (first === undefined) return undefined
  const shown = fitting(group.slice(0, MAX_PATHS), MAX_PATH_CHARACTERS)
  return repoMonitor(
    { id: first.libraryId, name: first.libraryName },
    {
      op: first.op,
      object: first.object,
      byEmail: first.author,
      viaLink: first.viaLink === true,
      commitId: first.commitId ?? '',
      paths: shown.map(({ path }) => path),
      oldPaths: shown.flatMap(({ oldPath }) => oldPath ?? []),
    },
  )
}

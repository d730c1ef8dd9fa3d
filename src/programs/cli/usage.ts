import type { Config } from '../../base/config/index.ts'
import { PathIndex } from '../../libraries/history/index.ts'
import { ObjectStore } from '../../libraries/tree/index.ts'
import { type AccountUsage, Usage } from '../../libraries/usage/index.ts'
import { emailAsShown } from '../../people/accounts/index.ts'
import { openExistingDatabase } from './accounts.ts'
import { columns, print, sizeText } from './output.ts'

const DIR_CACHE_BYTES = 8 * 2 ** 20

/** Updates the usage counts and prints them. A server may be running at the same time. */
export async function usage(config: Config, json: boolean): Promise<void> {
  await using db = await openExistingDatabase(config)
  const now = () => Math.floor(Date.now() / 1000)
  const pathIndex = PathIndex.open(db, new ObjectStore(db, DIR_CACHE_BYTES))
  await using counted = new Usage({ db, now, pathIndex, defaultHistoryDays: config.historyDays })
  await counted.refresh()
  const stored = await counted.stored()
  const accounts = await allAccounts(counted)
  const headings = ['E-MAIL', 'LIBRARIES', 'CURRENT', 'TRASH', 'HISTORY', 'UNREFERENCED', 'SHARED', 'DELETED']
  const rows = accounts.map((account) => [
    account.email,
    String(account.libraries),
    sizeText(account.currentBytes),
    sizeText(account.trashBytes),
    sizeText(account.historyBytes),
    sizeText(account.unreferencedBytes),
    sizeText(account.sharedBytes),
    sizeText(account.deletedBytes),
  ])
  print(json, { storedBytes: stored.bytes, storedBlocks: stored.blocks, accounts }, [
    ...columns([headings, ...rows]),
    `Stored: ${sizeText(stored.bytes)} in ${stored.blocks} blocks, each counted once.`,
  ])
}

async function allAccounts(usage: Usage) {
  const all: AccountUsage[] = []
  for (let page = 1, more = true; more; page++) {
    const found = await usage.accounts({ page, perPage: 1000 })
    all.push(...found.accounts)
    more = found.more
  }
  return all.map((account) => ({
    email: emailAsShown(account.email),
    libraries: account.libraries,
    currentBytes: account.current,
    trashBytes: account.trash,
    historyBytes: account.history,
    unreferencedBytes: account.unreferenced,
    sharedBytes: account.shared,
    deletedBytes: account.deleted,
  }))
}

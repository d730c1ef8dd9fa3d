import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { type Account, Accounts, type Directory } from '../../people/accounts/index.ts'
import type { Audit } from '../../people/audit/index.ts'
import { accountSecrets } from '../../people/credentials/index.ts'
import { InitialPasswordFile, Passwords } from '../../people/passwords/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { QuotaLimits } from '../../sharing/quotas/index.ts'
import { accountDependents, groupDependents } from './dependents.ts'

/** The accounts, with the modules that remove their rows of an account. */
export function createAccounts(parts: {
  db: Database
  audit: Audit
  now: () => number
  passwords?: Passwords
  shortestPassword?: number
  directory?: Directory
  /** Only in a server: commands hold no keys. */
  core?: LibraryCore
  initialPassword?: InitialPasswordFile
}): Accounts {
  const { core, now, initialPassword, passwords = new Passwords(), ...rest } = parts
  return new Accounts({
    secrets: accountSecrets(passwords),
    now,
    ...rest,
    async onSignOut(account: Account) {
      await core?.keys.forgetAccount(account.key)
      await initialPassword?.deleteFor(account.email)
    },
    dependents: accountDependents(now),
    groupDependents,
  })
}

export function createInitialPassword(
  { dataDirectory }: Pick<Config, 'dataDirectory'>,
  onError?: (error: unknown) => void,
): InitialPasswordFile {
  return new InitialPasswordFile(path.join(dataDirectory, 'admin-password.txt'), onError)
}

export function quotaLimits({ limits }: Config): QuotaLimits {
  const { quota = 0, unfinished = 0, linkUnfinished = 0, history = 0 } = limits
  return { serverDefault: quota, unfinished, linkUnfinished, history }
}

import type { Transaction } from '../../platform/database/index.ts'
import type { AccountSecrets } from '../accounts/index.ts'
import type { Passwords } from '../passwords/index.ts'
import { secondFactorRows } from '../second-factors/index.ts'
import { deleteAccountTokens, deletePasswordTokens } from './account-token-store.ts'
import { deleteApiTokens, invalidateApiTokens } from './api-token-store.ts'
import { denyDeviceAuthorizationsOf } from './device-authorization-store.ts'
import { deleteScopedTokensOf } from './scoped-token-store.ts'
import { deleteSignInLinksOf } from './sign-in-link-store.ts'
import { deleteSyncTokensOfAccount } from './sync-token-store.ts'
import { deleteWebdavClientsOf } from './webdav-client-store.ts'
import { deleteWebdavSecret } from './webdav-secret-store.ts'

/** What the accounts sign in with: the tables of this module. */
export function accountSecrets(passwords: Passwords): AccountSecrets {
  return {
    hash: (password, source) => passwords.hash(password, source),
    isCommon: (password, names) => passwords.isCommon(password, names),
    async onSignedOut(tx, accountKey) {
      await deleteApiTokens(tx, accountKey)
      await endSignIns(tx, accountKey)
    },
    async onMailedLinksEnded(tx, accountKey, which) {
      if (which === 'all') await deleteAccountTokens(tx, accountKey)
      else await deletePasswordTokens(tx, accountKey)
    },
    async onAccountRemoved(tx, accountKey) {
      await deleteWebdavSecret(tx, accountKey)
      await secondFactorRows.deleteOfAccount(tx, accountKey)
      await deleteAccountTokens(tx, accountKey)
      await invalidateApiTokens(tx, accountKey)
      await endSignIns(tx, accountKey)
    },
  }
}

/** What ends with the API tokens of an account, whether they are deleted or, with the account, kept as invalid. */
async function endSignIns(tx: Transaction, accountKey: number): Promise<void> {
  await deleteScopedTokensOf(tx, accountKey)
  await deleteSignInLinksOf(tx, accountKey)
  await denyDeviceAuthorizationsOf(tx, accountKey)
  await deleteSyncTokensOfAccount(tx, accountKey)
  await deleteWebdavClientsOf(tx, accountKey)
  await secondFactorRows.deleteTrustedDevices(tx, accountKey)
}

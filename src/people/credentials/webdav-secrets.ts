import type { Database } from '../../platform/database/index.ts'
import type { Account } from '../accounts/index.ts'
import { type Audit, type AuditActor, accountAction } from '../audit/index.ts'
import type { Passwords } from '../passwords/index.ts'
import type { CredentialNotice } from './credential-notice.ts'
import { deleteWebdavClientsWithPassword } from './webdav-client-store.ts'
import { deleteWebdavSecret, findWebdavSecret, putWebdavSecret } from './webdav-secret-store.ts'

/** Why a secret is rejected. */
export type SecretProblem = 'too-long' | 'too-short' | 'too-weak' | 'not-plain'

const fewest = 8
const most = 29
const kinds = [/\d/, /[a-z]/, /[A-Z]/, /[^\da-zA-Z]/]

interface WebdavSecretsOptions {
  readonly db: Database
  readonly passwords: Passwords
  readonly audit: Audit
  readonly onAdded: CredentialNotice
}

/** A separate password of an account for WebDAV clients. Only its hash is stored. */
export class WebdavSecrets {
  readonly #options: WebdavSecretsOptions

  constructor(options: WebdavSecretsOptions) {
    this.#options = options
  }

  /** '' removes the secret. Returns the problem if the secret is rejected. */
  async set(account: Account, secret: string, by: AuditActor): Promise<SecretProblem | undefined> {
    const { audit, db, onAdded, passwords } = this.#options
    const problem = secret === '' ? undefined : problemOf(secret)
    if (problem !== undefined) return problem
    const hash = secret === '' ? undefined : await passwords.hash(secret, account.email)
    await db.write(async (tx) => {
      const isSet = (await findWebdavSecret(tx, account.key)) !== undefined
      if (hash === undefined) await deleteWebdavSecret(tx, account.key)
      else await putWebdavSecret(tx, account, hash)
      if (!isSet && hash === undefined) return
      // The account password opens WebDAV only without a WebDAV password, so its clients end with the first one.
      await deleteWebdavClientsWithPassword(tx, account.key)
      await audit.record(tx, by, accountAction('password-changed', account.email, { of: 'webdav' }))
      if (hash !== undefined) await onAdded(tx, account, { kind: 'webdav', address: by.address })
    })
    return undefined
  }

  async isSet(account: Pick<Account, 'key'>): Promise<boolean> {
    return (await findWebdavSecret(this.#options.db, account.key)) !== undefined
  }
}

function problemOf(secret: string): SecretProblem | undefined {
  if (secret.length > most) return 'too-long'
  if (secret.length < fewest) return 'too-short'
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'not-plain'
  return kinds.filter((kind) => kind.test(secret)).length < 2 ? 'too-weak' : undefined
}

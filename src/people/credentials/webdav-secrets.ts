import type { Database } from '../../platform/database/index.ts'
import type { Account, TransactionHook } from '../accounts/index.ts'
import type { Passwords } from '../passwords/index.ts'
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
}

/** A separate password of an account for WebDAV clients. Only its hash is stored. */
export class WebdavSecrets {
  readonly #db: Database
  readonly #passwords: Passwords

  constructor({ db, passwords }: WebdavSecretsOptions) {
    this.#db = db
    this.#passwords = passwords
  }

  /** '' removes the secret. Returns the problem if the secret is rejected. `also` is called unless there was none to remove. */
  async set(account: Account, secret: string, also?: TransactionHook): Promise<SecretProblem | undefined> {
    const problem = secret === '' ? undefined : problemOf(secret)
    if (problem !== undefined) return problem
    const hash = secret === '' ? undefined : await this.#passwords.hash(secret, account.email)
    await this.#db.write(async (tx) => {
      const isSet = (await findWebdavSecret(tx, account.key)) !== undefined
      if (hash === undefined) await deleteWebdavSecret(tx, account.key)
      else await putWebdavSecret(tx, account, hash)
      if (!isSet && hash === undefined) return
      // The account password opens WebDAV only without a WebDAV password, so its clients end with the first one.
      await deleteWebdavClientsWithPassword(tx, account.key)
      await also?.(tx)
    })
    return undefined
  }

  async isSet(account: Pick<Account, 'key'>): Promise<boolean> {
    return (await findWebdavSecret(this.#db, account.key)) !== undefined
  }
}

function problemOf(secret: string): SecretProblem | undefined {
  if (secret.length > most) return 'too-long'
  if (secret.length < fewest) return 'too-short'
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'not-plain'
  return kinds.filter((kind) => kind.test(secret)).length < 2 ? 'too-weak' : undefined
}

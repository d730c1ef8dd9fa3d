import type { Database } from '../database/database.ts'
import type { Account } from './account.ts'
import type { Passwords } from './passwords.ts'
import type { Also } from './scoped-tokens.ts'
import { deleteWebdavSecret, findWebdavSecret, putWebdavSecret } from './webdav-secret-store.ts'

/** Why a secret is not taken. */
export type SecretProblem = 'too-long' | 'too-short' | 'too-weak' | 'not-plain'

const fewest = 8
const most = 29
const kinds = [/\d/, /[a-z]/, /[A-Z]/, /[^\da-zA-Z]/]

/** A second password of an account, for clients that speak WebDAV; only its hash is kept. */
export class WebdavSecrets {
  readonly #db: Database
  readonly #passwords: Passwords

  constructor(db: Database, passwords: Passwords) {
    this.#db = db
    this.#passwords = passwords
  }

  /** '' takes the secret away. Gives what is wrong with one that is not taken. */
  async set(account: Account, secret: string, also?: Also): Promise<SecretProblem | undefined> {
    const problem = secret === '' ? undefined : problemOf(secret)
    if (problem !== undefined) return problem
    const hash = secret === '' ? undefined : await this.#passwords.hash(secret)
    await this.#db.write(async (tx) => {
      if (hash === undefined) await deleteWebdavSecret(tx, account.key)
      else await putWebdavSecret(tx, account, hash)
      await also?.(tx)
    })
    return undefined
  }

  async isSet(account: Pick<Account, 'key'>): Promise<boolean> {
    return (await findWebdavSecret(this.#db, account.key)) !== undefined
  }

  /** Takes as long whether or not there is a secret. */
  async verify(account: Pick<Account, 'key'>, secret: string): Promise<boolean> {
    if (secret.length > most) return false
    return this.#passwords.verify(secret, await findWebdavSecret(this.#db, account.key))
  }
}

function problemOf(secret: string): SecretProblem | undefined {
  if (secret.length > most) return 'too-long'
  if (secret.length < fewest) return 'too-short'
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'not-plain'
  return kinds.filter((kind) => kind.test(secret)).length < 2 ? 'too-weak' : undefined
}

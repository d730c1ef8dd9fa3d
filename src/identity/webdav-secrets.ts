import type { Database } from '../database/index.ts'
import type { Account } from './account.ts'
import { PasswordGuard, type PasswordGuardOptions, type PasswordOutcome } from './password-guard.ts'
import type { Passwords } from './passwords.ts'
import type { TransactionHook } from './scoped-tokens.ts'
import { deleteWebdavClientsWithPassword } from './webdav-client-store.ts'
import { deleteWebdavSecret, findWebdavSecret, putWebdavSecret } from './webdav-secret-store.ts'

/** Why a secret is rejected. */
export type SecretProblem = 'too-long' | 'too-short' | 'too-weak' | 'not-plain'

const fewest = 8
const most = 29
const kinds = [/\d/, /[a-z]/, /[A-Z]/, /[^\da-zA-Z]/]

interface WebdavSecretsOptions extends PasswordGuardOptions {
  readonly db: Database
  readonly passwords: Passwords
}

/** A separate password of an account for WebDAV clients. Only its hash is stored. */
export class WebdavSecrets {
  readonly #db: Database
  readonly #passwords: Passwords
  readonly #guard: PasswordGuard

  constructor({ db, passwords, ...options }: WebdavSecretsOptions) {
    this.#db = db
    this.#passwords = passwords
    this.#guard = new PasswordGuard(options)
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

  /**
   * Takes the same time whether or not there is a secret. Throws too-many-tries if the hash queue is full.
   */
  verify(account: Pick<Account, 'key'>, secret: string, address: string): Promise<PasswordOutcome> {
    const subject = String(account.key)
    return this.#guard.try({ kind: 'webdav', subject, source: address, address }, async () => {
      if (secret.length > most) return { isRight: false, user: account.key }
      const hash = await findWebdavSecret(this.#db, account.key)
      const isRight = await this.#passwords.verify(secret, hash, { source: address, subject })
      return { isRight, user: account.key }
    })
  }
}

function problemOf(secret: string): SecretProblem | undefined {
  if (secret.length > most) return 'too-long'
  if (secret.length < fewest) return 'too-short'
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'not-plain'
  return kinds.filter((kind) => kind.test(secret)).length < 2 ? 'too-weak' : undefined
}

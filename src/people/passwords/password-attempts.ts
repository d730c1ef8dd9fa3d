import { createHmac } from 'node:crypto'
import { type Database, DatabaseError, type Transaction } from '../../platform/database/index.ts'
import { deriveKeys, type ServerSecret } from '../../platform/secret/index.ts'
import { loginName } from '../accounts/index.ts'
import {
  type AttemptSource,
  countAttempt,
  KNOWN_SECONDS,
  LoginThrottle,
  type NameAttempts,
  recentAttempts,
  WINDOW_SECONDS,
  withoutLast,
  withSuccess,
} from './login-throttle.ts'
import { deleteAttemptsBefore, lockAttempts, putAttempts } from './password-attempt-store.ts'

/** After this many attempts in this process, expired rows are deleted, so that guesses of many names do not fill the table. */
const DELETE_EVERY = 1000

/**
 * Counts attempts with passwords in the database, so that the limits hold for all nodes together and survive a restart. Only keyed hashes are stored:
 * a name may be a password in the wrong field. On a full disk the attempts of this process are counted in memory.
 */
export class PasswordAttempts {
  readonly #db: Database
  readonly #now: () => number
  readonly #key: Buffer
  readonly #fallback: LoginThrottle
  #count = 0

  /** Attempts of different purposes share the table. Their keys differ, so they are counted apart. */
  constructor(db: Database, secret: ServerSecret, now: () => number, purpose = 'password attempts') {
    this.#db = db
    this.#now = now
    this.#key = deriveKeys(secret, purpose)[0]
    this.#fallback = new LoginThrottle(now)
  }

  /** Locks the row of a subject until the transaction ends, so that nodes count what it stands for one after another. */
  static async lock(tx: Transaction, subject: string, now: number): Promise<void> {
    await lockAttempts(tx, subject, now)
  }

  /** As LoginThrottle.begin. */
  begin(name: string, source: AttemptSource): Promise<number | undefined> {
    this.#count += 1
    return this.#change(name, source, countAttempt, () => this.#fallback.begin(name, source))
  }

  /** As LoginThrottle.succeed. */
  async succeed(name: string, source: AttemptSource): Promise<void> {
    await this.#change(name, source, withSuccess, () => {
      this.#fallback.succeed(name, source)
    })
  }

  /** As LoginThrottle.cancel. */
  async cancel(name: string, source: AttemptSource): Promise<void> {
    await this.#change(name, source, withoutLast, () => {
      this.#fallback.cancel(name, source)
    })
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    const now = this.#now()
    return this.#db.write((tx) => deleteAttemptsBefore(tx, now - WINDOW_SECONDS, now - KNOWN_SECONDS), {
      durable: false,
    })
  }

  /** Stores the changed attempts with a name, or returns the seconds to wait that `change` returned instead. */
  async #change(
    name: string,
    { network, device }: AttemptSource,
    change: (attempts: NameAttempts, source: AttemptSource, now: number) => NameAttempts | number,
    withoutDatabase: () => number | undefined,
  ): Promise<number | undefined> {
    const subject = this.#hash(loginName(name))
    const source = { network: this.#hash(network), device: device && this.#hash(device) }
    try {
      const wait = await this.#db.write(
        async (tx) => {
          const now = this.#now()
          const attempts = recentAttempts(await lockAttempts(tx, subject, now), now)
          const changed = change(attempts, source, now)
          await putAttempts(tx, subject, typeof changed === 'number' ? attempts : changed)
          return typeof changed === 'number' ? changed : undefined
        },
        { durable: false },
      )
      if (this.#count >= DELETE_EVERY) {
        this.#count = 0
        await this.deleteExpired()
      }
      return wait
    } catch (error) {
      const isFull =
        error instanceof DatabaseError && (error.reason === 'full' || error.reason === 'unwritable')
      if (!isFull) throw error
      return withoutDatabase()
    }
  }

  #hash(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

import { createHmac } from 'node:crypto'
import { type Database, DatabaseError } from '../database/index.ts'
import { countAttempt, LoginThrottle, recentAttempts, WINDOW_SECONDS } from './login-throttle.ts'
import {
  deleteAttemptsBefore,
  lockAttempts,
  putAttempts,
  type StoredAttempts,
} from './password-attempt-store.ts'
import { deriveKeys } from './sealing.ts'
import type { ServerSecret } from './secret.ts'

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

  /** As LoginThrottle.begin. */
  begin(name: string, address: string): Promise<number | undefined> {
    const source = this.#hash(address)
    this.#count += 1
    return this.#change(
      name,
      (attempts, now) => countAttempt(attempts, source, now),
      () => this.#fallback.begin(name, address),
    )
  }

  /** As LoginThrottle.succeed. */
  async succeed(name: string, address: string): Promise<void> {
    const source = this.#hash(address)
    await this.#change(
      name,
      (attempts) => void attempts.delete(source),
      () => this.#fallback.succeed(name, address),
    )
  }

  /** As LoginThrottle.cancel. */
  async cancel(name: string, address: string): Promise<void> {
    const source = this.#hash(address)
    await this.#change(
      name,
      (attempts) => {
        const times = attempts.get(source)
        times?.pop()
        if (times?.length === 0) attempts.delete(source)
      },
      () => this.#fallback.cancel(name, address),
    )
  }

  /** Maintenance. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteAttemptsBefore(tx, this.#now() - WINDOW_SECONDS), { durable: false })
  }

  async #change<T>(
    name: string,
    change: (attempts: StoredAttempts, now: number) => T,
    withoutDatabase: () => T,
  ): Promise<T> {
    const subject = this.#hash(name.trim().toLowerCase())
    try {
      const result = await this.#db.write(
        async (tx) => {
          const now = this.#now()
          const attempts = recentAttempts(await lockAttempts(tx, subject, now), now)
          const changed = change(attempts, now)
          await putAttempts(tx, subject, attempts)
          return changed
        },
        { durable: false },
      )
      if (this.#count >= DELETE_EVERY) {
        this.#count = 0
        await this.deleteExpired()
      }
      return result
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

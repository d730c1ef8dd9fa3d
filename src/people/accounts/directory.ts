import type { MaybePromise } from '../../base/scheduling/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { type Person, personOf, unknownPerson } from './account.ts'
import { selectAccounts } from './account-store.ts'

const ttlSeconds = 2
const mostCached = 10_000

/**
 * Cache of people by e-mail, for listings. A folder of 10,000 entries costs one lookup per distinct modifier,
 * and none if it is listed again at once. Changes by other processes appear after two seconds.
 */
export class Directory {
  readonly #db: Reader
  readonly #now: () => number
  readonly #cached = new Map<string, { person: Person; until: number }>()

  constructor(db: Reader, now: () => number) {
    this.#db = db
    this.#now = now
  }

  /** The people of all given e-mails, with or without an account, by e-mail as given. */
  async people(emails: Iterable<string>): Promise<Map<string, Person>> {
    const now = this.#now()
    const found = new Map<string, Person>()
    const missing: string[] = []
    for (const email of new Set(emails)) {
      const kept = this.#cached.get(email)
      if (kept && kept.until > now) found.set(email, kept.person)
      else missing.push(email)
    }
    if (missing.length === 0) return found

    const accounts = await selectAccounts(this.#db, 'email', missing.filter(isStorable))
    const known = new Map(accounts.map((account) => [account.email, personOf(account)]))
    for (const email of missing) {
      const person = known.get(email) ?? unknownPerson(email)
      found.set(email, person)
      this.#store(email, person, now + ttlSeconds)
    }
    return found
  }

  person(email: string): MaybePromise<Person> {
    const kept = this.#cached.get(email)
    if (kept && kept.until > this.#now()) return kept.person
    return this.people([email]).then((people) => people.get(email) ?? unknownPerson(email))
  }

  /** Invalidates an entry after a change in this process. */
  invalidate(email: string): void {
    this.#cached.delete(email)
  }

  #store(email: string, person: Person, until: number): void {
    // Deleted first, so that the oldest entries stay at the front.
    this.#cached.delete(email)
    this.#cached.set(email, { person, until })
    if (this.#cached.size <= mostCached) return
    const oldest = this.#cached.keys().next()
    if (!oldest.done) this.#cached.delete(oldest.value)
  }
}

/** PostgreSQL rejects text with NUL or lone surrogates. No account has such an e-mail. */
function isStorable(email: string): boolean {
  return !email.includes('\0') && email.isWellFormed()
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe } from 'node:test'
import type { Account } from '../../src/people/accounts/account.ts'
import { Accounts } from '../../src/people/accounts/accounts.ts'
import { Directory } from '../../src/people/accounts/directory.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import { accountSecrets } from '../../src/people/credentials/account-secrets.ts'
import { ApiTokens } from '../../src/people/credentials/api-tokens.ts'
import type { Device } from '../../src/people/credentials/device.ts'
import { Login } from '../../src/people/credentials/login.ts'
import { type SyncedLibrary, SyncTokens } from '../../src/people/credentials/sync-tokens.ts'
import { PasswordChecks } from '../../src/people/passwords/password-checks.ts'
import { type FailedAuthentication, PasswordGuard } from '../../src/people/passwords/password-guard.ts'
import { Passwords } from '../../src/people/passwords/passwords.ts'
import { SecondFactors } from '../../src/people/second-factors/second-factors.ts'
import type { Database, Transaction } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { findPostgres } from './postgres.ts'

/** The minimum cost of argon2, because these tests do not measure hashing. */
export const cheapCost = { memory: 8, passes: 1, parallelism: 1 }

export const secret = [Buffer.from('a secret for tests only')] as const

export const laptop: Device = {
  platform: 'linux',
  deviceId: 'd'.repeat(40),
  deviceName: 'Laptop',
  clientVersion: '9.0.4',
  platformVersion: '6.1',
}

interface IdentityOptions {
  readonly rateLimit?: boolean
}

type OpenIdentity = (options?: IdentityOptions) => Promise<TestIdentity>

/** Ann, at some address, as the actor of audited operations. */
export const byAnn = { actor: 'ann@example.org', address: '192.0.2.7' }

/** The whole module on one database, with a clock that only the test moves. */
export class TestIdentity implements AsyncDisposable {
  readonly db: Database
  readonly audit: Audit
  readonly passwords: Passwords
  readonly directory: Directory
  readonly accounts: Accounts
  readonly apiTokens: ApiTokens
  readonly syncTokens: SyncTokens
  readonly login: Login
  readonly secondFactors: SecondFactors
  readonly failures: FailedAuthentication[] = []
  readonly removed: string[] = []
  time = 1_700_000_000
  /** Called like a dependent module when an account is removed, after the account was recorded. */
  onRemove: (tx: Transaction, account: Account) => Promise<void> = async () => {}
  readonly #close: () => Promise<void>
  readonly #rateLimit: boolean

  constructor(db: Database, options: IdentityOptions = {}, close: () => Promise<void> = async () => {}) {
    const now = () => this.time
    this.#close = close
    this.db = db
    this.audit = new Audit(db, now, -1)
    this.passwords = new Passwords({ cost: cheapCost })
    this.directory = new Directory(db, now)
    this.accounts = this.accountsWith(this.passwords)
    this.apiTokens = new ApiTokens({ db, audit: this.audit, secret, now, dependents: [] })
    this.syncTokens = new SyncTokens(db, now)
    this.secondFactors = new SecondFactors({
      db,
      audit: this.audit,
      secret,
      now,
      guard: new PasswordGuard({ now, rateLimit: options.rateLimit ?? true }),
      policy: { requiredOf: 'off', graceDays: 0 },
      onChanged: () => Promise.resolve(),
      endPasswordClients: () => Promise.resolve(),
    })
    this.#rateLimit = options.rateLimit ?? true
    this.login = this.loginWith(this.passwords)
  }

  loginWith(passwords: Passwords): Login {
    const { apiTokens, audit, db } = this
    const now = () => this.time
    const checks = new PasswordChecks({
      accounts: this.accountsWith(passwords),
      passwords,
      now,
      rateLimit: this.#rateLimit,
      onFailure: (failure) => this.failures.push(failure),
    })
    const { secondFactors } = this
    return new Login({ db, audit, checks, apiTokens, passwords, secondFactors, secret, now })
  }

  /** Whether `password` is the password of the account. */
  async isPassword(email: string, password: string): Promise<boolean> {
    const found = await this.accounts.findCredentials(email)
    return this.passwords.verify(password, found?.passwordHash, { source: '', subject: '' })
  }

  accountsWith(passwords: Passwords): Accounts {
    return new Accounts({
      db: this.db,
      audit: this.audit,
      secrets: accountSecrets(passwords),
      now: () => this.time,
      directory: this.directory,
      dependents: [
        {
          onAccountRemoved: async (tx, account) => {
            await this.onRemove(tx, account)
            this.removed.push(account.email)
          },
        },
      ],
      groupDependents: [],
    })
  }

  /** Creates an account of that name at example.org with the password `secret of <name>`. */
  signUp(name: string, more: Partial<Parameters<Accounts['create']>[0]> = {}): Promise<Account> {
    return this.accounts.create(
      { email: `${name}@example.org`, password: `secret of ${name}`, ...more },
      undefined,
    )
  }

  /** Inserts a minimal library row for sync tokens. */
  async addLibrary(owner: Account): Promise<SyncedLibrary> {
    const id = crypto.randomUUID()
    const none = new Uint8Array(20)
    await this.db.write(async (tx) => {
      const columns = ['id', 'owner_key', 'name', 'description', 'head', 'head_seq', 'root', 'size']
      columns.push('file_count', 'updated_at', 'modifier', 'created_at')
      const time = this.time
      await tx.insert('library', columns, [
        [id, owner.key, 'Notes', '', none, 1, none, 0, 0, time, owner.email, time],
      ])
    })
    const row = await this.db.get<{ key: number }>('select key from library where id = ?', id)
    if (!row) throw new Error('the library row is missing')
    return { key: row.key, epoch: 0, sub: undefined }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

/** On a SQLite file in a temporary folder, which is deleted when the test ends. */
export async function openOnSqlite(
  options: IdentityOptions = {},
): Promise<TestIdentity & { folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'carrel-identity-'))
  const file = path.join(folder, 'carrel.db')
  const db = await openDatabase({ kind: 'sqlite', file }, { onFatal: throwFatal })
  const identity = new TestIdentity(db, options, async () => {
    await db[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  return Object.assign(identity, { folder })
}

/** Runs the suite on SQLite and on PostgreSQL. Each test opens a database without accounts. */
export async function onEachDatabase(name: string, suite: (open: OpenIdentity) => void): Promise<void> {
  describe(`${name} on SQLite`, () => suite(openOnSqlite))

  const server = await findPostgres()
  if (typeof server === 'string') {
    describe(`${name} on PostgreSQL`, { skip: server }, () => {})
    return
  }
  const url = await server.createDatabase()
  const db = await openDatabase({ kind: 'postgres', url }, { onFatal: throwFatal })
  describe(`${name} on PostgreSQL`, () => {
    after(async () => {
      await db[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })
    suite(async (options) => {
      await db.write(async (tx) => {
        for (const table of ['library', 'account']) await tx.run(`delete from ${table}`)
      })
      return new TestIdentity(db, options)
    })
  })
}

function throwFatal(error: Error): never {
  throw error
}

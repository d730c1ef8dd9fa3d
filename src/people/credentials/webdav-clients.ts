import { TwoGenerationCache } from '../../base/scheduling/index.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'
import { type Audit, accountAction } from '../audit/index.ts'
import { cut } from './device.ts'
import { lockScopedToken } from './scoped-token-store.ts'
import {
  countWebdavClients,
  deleteWebdavClientsBefore,
  deleteWebdavClientsWithPassword,
  evictWebdavClient,
  insertWebdavClient,
  listWebdavClients,
  touchWebdavClient,
  type WebdavClient,
  type WebdavCredential,
} from './webdav-client-store.ts'
import { findWebdavSecret } from './webdav-secret-store.ts'

const HOUR = 3600
const DAY = 86_400
const KEPT_SECONDS = 90 * DAY
/** Clients of one account. The least recently used is evicted, unless it was used within the hour. */
const MAX_CLIENTS = 20
const MAX_REMEMBERED = 20_000
const MAX_PROGRAM = 64
const MAX_USER_AGENT = 255

/** A request that was authenticated. */
interface WebdavUse {
  readonly account: Account
  readonly credential: WebdavCredential
  /** Changes with the credential: a stored hash, or the key of a token. */
  readonly identity: string
  readonly client: {
    readonly address: string
    readonly network: string
    header(name: string): string | undefined
  }
}

interface WebdavClientsOptions {
  readonly db: Database
  /** Unix seconds. */
  readonly now: () => number
  readonly audit: Audit
}

/**
 * The programs that use WebDAV, which sends a credential with each request and has no sessions. A program is recorded at its first request and then
 * once an hour, so that requests write nothing. One that is new, or was not used for a day, is audited as a sign-in.
 */
export class WebdavClients {
  readonly #options: WebdavClientsOptions
  /** Clients that this process recorded within the hour. */
  readonly #recorded = new TwoGenerationCache<string, true>(MAX_REMEMBERED, () => 1)

  constructor(options: WebdavClientsOptions) {
    this.#options = options
  }

  /** Ends those that sign in with the password of the account, in the transaction after which it is not enough. */
  async endOfAccountPassword(tx: Transaction, accountKey: number): Promise<void> {
    if ((await findWebdavSecret(tx, accountKey)) !== undefined) return
    await deleteWebdavClientsWithPassword(tx, accountKey)
  }

  /** Records the use of a credential, unless this process did so within the hour. */
  async recordUse(use: WebdavUse): Promise<void> {
    const now = this.#options.now()
    const { account, identity, client } = use
    const { address } = client
    const userAgent = client.header('user-agent') ?? ''
    const name = `${account.epoch} ${Math.floor(now / HOUR)} ${identity} ${address} ${programIn(userAgent)}`
    if (this.#recorded.get(name)) return
    this.#recorded.set(name, true)
    await writeIfSpace(this.#options.db, (tx) => this.#record(tx, use, userAgent, now))
  }

  /** Most recently used first. */
  list({ key }: Pick<Account, 'key'>): Promise<WebdavClient[]> {
    return listWebdavClients(this.#options.db, key)
  }

  /** Maintenance. */
  deleteOld(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteWebdavClientsBefore(tx, now() - KEPT_SECONDS), { durable: false })
  }

  async #record(tx: Transaction, use: WebdavUse, userAgent: string, now: number): Promise<void> {
    const { account, credential, client } = use
    // Locked, so that the limit is exact, and a credential that is being revoked leaves no client.
    if (!(await accountRows.lockActive(tx, account))) return
    const { address, network } = client
    const scopedTokenKey = account.scope?.tokenKey
    if (scopedTokenKey !== undefined && !(await lockScopedToken(tx, scopedTokenKey))) return
    const key = {
      accountKey: account.key,
      credential,
      scopedTokenKey,
      network,
      program: programIn(userAgent),
    }
    const by = { address, userAgent: cut(userAgent, MAX_USER_AGENT) }
    const usedAt = await touchWebdavClient(tx, key, by, now)
    if (usedAt === undefined) {
      const isFull = (await countWebdavClients(tx, account.key)) >= MAX_CLIENTS
      if (isFull && !(await evictWebdavClient(tx, account.key, now - HOUR))) return
      if (!(await insertWebdavClient(tx, key, by, now))) return
    } else if (now - usedAt < DAY) return
    const action = accountAction('login', account.email, { via: 'webdav', credential })
    await this.#options.audit.record(tx, { actor: account.email, address }, action)
  }
}

/** The name of a program: its user agent up to the version. */
function programIn(userAgent: string): string {
  return cut(userAgent.split('/', 1)[0], MAX_PROGRAM)
}

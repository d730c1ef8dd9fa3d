import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Client, HttpClient, type Observer } from './client.ts'
import { bodyOf, type Inside, NotTried, type Stage } from './stage.ts'
import { uploadFile } from './transfer.ts'

interface RemoteStageOptions {
  readonly url: string
  readonly token: string
  /** Token of a second account. An administrator needs none: accounts are created. */
  readonly otherToken?: string | undefined
  /** The largest upload that the server accepts, in bytes. */
  readonly largestUpload?: number | undefined
}

/** Quotas are set in megabytes. */
const MEGABYTE = 1_000_000

/** Attempts of a check whose effect follows a response, such as the index of the search. They take about 15 seconds. */
const MAX_LOOKS = 80

/** Calls whose response names a new library. */
const CREATING =
  /^\/(api2\/repos\/|api\/v2\.1\/repos\/|api2\/default-repo\/|api\/v2\.1\/groups\/\d+\/libraries\/)$/

/**
 * Statements are tried at a server that runs elsewhere, with the rights of one account. What they create is recorded as it is
 * created, and removed when this is disposed. Nothing else of the account is changed.
 */
export class RemoteStage implements Stage, AsyncDisposable {
  readonly checksNotes = false
  readonly smallestQuota = MEGABYTE
  readonly user: Client
  /** What could not be removed, as sentences. Known once disposed. */
  readonly left: string[] = []
  readonly #isStaff: boolean
  readonly #largestUpload: number | undefined
  readonly #clients: Client[] = []
  readonly #libraries = new Map<string, Client>()
  readonly #groups = new Map<number, Client>()
  readonly #accounts: string[] = []
  /** The default library of an account that had one. It is not ours to delete. */
  readonly #kept: string | undefined
  #other: Client | undefined

  private constructor(
    user: { readonly client: Client; readonly isStaff: boolean; readonly defaultLibrary: string | undefined },
    options: RemoteStageOptions,
  ) {
    this.#isStaff = user.isStaff
    this.#kept = user.defaultLibrary
    this.#largestUpload = options.largestUpload
    this.user = this.#client(options.url, options.token, user.client.email)
  }

  /** Throws AssertionError if the account cannot be read with the token. */
  static async open(options: RemoteStageOptions): Promise<RemoteStage> {
    const { url, token, otherToken } = options
    const { email, is_staff } = await accountOf(url, token)
    const client = new HttpClient({ url, token, email })
    const { exists, repo_id } = (await client.get('/api2/default-repo/')).body ?? {}
    const isStaff = is_staff === true
    const stage = new RemoteStage({ client, isStaff, defaultLibrary: exists ? repo_id : undefined }, options)
    if (otherToken !== undefined) {
      stage.#other = stage.#client(url, otherToken, (await accountOf(url, otherToken)).email)
    } else if (isStaff) {
      stage.#other = await stage.signUp()
    }
    return stage
  }

  get other(): Client {
    if (this.#other !== undefined) return this.#other
    throw new NotTried('needs a second account')
  }

  get largestUpload(): number {
    if (this.#largestUpload !== undefined) return this.#largestUpload
    throw new NotTried('needs the largest upload of the server')
  }

  get inside(): Inside {
    throw new NotTried('needs control over the process of the server')
  }

  async library(files: Record<string, string> = {}): Promise<string> {
    const id = await this.user.createLibrary('Plans')
    for (const [path, text] of Object.entries(files)) await uploadFile(this.user, id, path, text)
    return id
  }

  async admin(): Promise<Client> {
    if (this.#isStaff) return this.user
    throw new NotTried('needs an administrator')
  }

  async signUp(): Promise<Client> {
    const admin = await this.admin()
    const [email, password] = [`conformance-${randomUUID()}@example.org`, `P-${randomUUID()}`]
    const made = bodyOf(await admin.post('/api/v2.1/admin/users/', { form: { email, password } }))
    const account: string = made.email ?? email
    this.#accounts.push(account)
    const anonymous = new HttpClient({ url: admin.url })
    const { token } = bodyOf(
      await anonymous.post('/api2/auth-token/', { form: { username: email, password } }),
    )
    return this.#client(admin.url, token, account)
  }

  async limitSpace(account: Client): Promise<void> {
    const path = `/api/v2.1/admin/users/${encodeURIComponent(account.email)}/`
    bodyOf(await (await this.admin()).put(path, { form: { quota_total: this.smallestQuota / MEGABYTE } }))
  }

  async eventually(check: () => Promise<void>): Promise<void> {
    for (let looks = 0, pauseMs = 10; ; looks += 1, pauseMs = Math.min(pauseMs * 1.5, 200)) {
      try {
        return await check()
      } catch (error) {
        if (looks === MAX_LOOKS) throw error
      }
      await setTimeout(pauseMs)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [id, creator] of this.#libraries) {
      // Statements transfer libraries, so the creator may not be the owner any more.
      const owners = [creator, ...this.#clients.filter((client) => client !== creator)]
      await this.#remove(`the library ${id}`, owners, `/api2/repos/${id}/`)
    }
    for (const [id, owner] of this.#groups) {
      await this.#remove(`the group ${id}`, [owner], `/api/v2.1/groups/${id}/`)
    }
    for (const email of this.#accounts) {
      const path = `/api/v2.1/admin/users/${encodeURIComponent(email)}/`
      await this.#remove(`the account ${email}`, [this.user], path)
    }
  }

  async #remove(what: string, clients: readonly Client[], path: string): Promise<void> {
    let reason = ''
    for (const client of clients) {
      try {
        const { status } = await client.delete(path)
        if (status === 200 || status === 404) return
        reason = String(status)
      } catch (error) {
        reason = (error as Error).message
      }
    }
    this.left.push(`${what} could not be removed: ${reason}`)
  }

  #client(url: string, token: string, email: string): Client {
    const client = new HttpClient({ url, token, email, onReply: this.#recordCreated })
    this.#clients.push(client)
    return client
  }

  readonly #recordCreated: Observer = (client, method, path, { status, body }) => {
    if (method !== 'POST' || status >= 300 || typeof body !== 'object' || body === null) return
    if (path === '/api/v2.1/groups/' && Number.isSafeInteger(body.id)) this.#groups.set(body.id, client)
    const id: unknown = CREATING.test(path) ? body.repo_id : undefined
    if (typeof id === 'string' && id !== this.#kept) this.#libraries.set(id, client)
  }
}

async function accountOf(url: string, token: string): Promise<{ email: string; is_staff?: unknown }> {
  return bodyOf(await new HttpClient({ url, token }).get('/api2/account/info/'))
}

import assert from 'node:assert/strict'
import { parseLibraryId } from '../../src/base/objects/ids.ts'
import { parsePath } from '../../src/base/paths/paths.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { insertLock } from '../../src/libraries/library/lock-store.ts'
import type { Client, Reply } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'

/** The time of the test clocks. */
export const NOON = 1_754_000_000
export const NOON_TEXT = '2025-07-31T22:13:20+00:00'
export const EMPTY = '0'.repeat(40)

/** A library for testing folder and file calls. */
export class Workspace {
  readonly client: Client
  readonly id: string
  readonly #server: TestServer

  constructor(server: TestServer, client: Client, id: string) {
    this.#server = server
    this.client = client
    this.id = id
  }

  static async make(server: TestServer, client?: Client, name = 'Plans'): Promise<Workspace> {
    const owner = client ?? (await server.signUp())
    return new Workspace(server, owner, await owner.createLibrary(name))
  }

  /** The URL of an `/api2/` call on the library. */
  v2(rest: string): string {
    return `/api2/repos/${this.id}/${rest}`
  }

  v21(rest: string): string {
    return `/api/v2.1/repos/${this.id}/${rest}`
  }

  async folder(path: string): Promise<void> {
    const form = { operation: 'mkdir', create_parents: 'true' }
    const reply = await this.client.post(this.v2('dir/'), { query: { p: path }, form })
    assert.equal(reply.status, 201, reply.text)
  }

  async file(path: string): Promise<void> {
    const reply = await this.client.post(this.v21('file/'), {
      query: { p: path },
      form: { operation: 'create' },
    })
    assert.equal(reply.status, 200, reply.text)
  }

  async names(path = '/'): Promise<string[]> {
    const reply = await this.client.get(this.v2('dir/'), { p: path })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.map((entry: { name: string }) => entry.name)
  }

  async head(): Promise<string> {
    return (await this.info()).head
  }

  /** The description of the newest commit. */
  async lastCommit(): Promise<string | undefined> {
    const reply = await this.client.get(this.v21('history/'), { per_page: 1 })
    return reply.body.data[0]?.description
  }

  /** A lock of another account, which may write in the library from now on: without that right no lock is in effect. */
  async lockFor(path: string, holder: Client, expiresAt: number | null = null): Promise<void> {
    if (holder.email !== this.client.email) {
      const form = { share_type: 'user', username: holder.email, permission: 'rw' }
      const shared = await this.client.put(this.v2('dir/shared_items/'), { query: { p: '/' }, form })
      assert.equal(shared.status, 200, shared.text)
    }
    const { accounts, core, now } = this.#server.running.services
    const account = await accounts.findByLogin(holder.email)
    const parsed = parsePath(path)
    const { key } = await this.info()
    if (account === undefined || parsed === undefined) throw new Error(`cannot lock ${path}`)
    const lock = { path: parsed, accountKey: account.key, lockedAt: now(), expiresAt }
    assert.ok(await dbOf(core).write((tx) => insertLock(tx, key, lock, now())))
  }

  async makeReadOnly(): Promise<void> {
    const { core } = this.#server.running.services
    await dbOf(core).write((tx) => tx.run('update library set status = 1 where id = ?', this.id))
  }

  private async info() {
    const { access, accounts } = this.#server.running.services
    const account = await accounts.findByLogin(this.client.email)
    const id = parseLibraryId(this.id)
    if (account === undefined || id === undefined) throw new Error('this workspace has no library')
    return (await access.open(account, id)).info
  }
}

/** Status and body together, so that a failure shows both. */
export function assertReply(reply: Reply, status: number, body: unknown, message?: string): void {
  assert.deepEqual({ status: reply.status, body: reply.body }, { status, body }, message)
}

export function assertError(reply: Reply, status: number, text: string, message?: string): void {
  assertReply(reply, status, { error_msg: text }, message)
}

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Client } from '../support/client.ts'
import { SyncClient, type TreeSpec } from '../support/sync-client.ts'
import {
  download,
  emptyTrash,
  expectOk,
  FileJournal,
  hashOf,
  namesOf,
  runTask,
  sendChunk,
  sendFile,
  uploadedBytes,
} from '../support/workload.ts'

const CHUNK = 40_000

/** A client that repeats one kind of write and knows what was acknowledged. */
export interface Writer {
  readonly kind: string
  /** One write. Throws AssertionError for a wrong response, any other error if the connection broke. */
  write(client: Client): Promise<void>
  /**
   * Everything acknowledged is there. The write that was cut off is there completely or not at all. A restored server does not have
   * unfinished uploads, which start over.
   */
  verify(client: Client, options?: { readonly isRestored: boolean }): Promise<void>
}

type Random = () => number

/** One writer of each kind, each in a library of its own. */
export async function createWriters(client: Client, random: Random): Promise<Writer[]> {
  const library = (name: string) => client.createLibrary(name)
  return [
    new Uploads(await library('uploads'), random),
    new Chunks(await library('chunks'), random),
    new Edits(await library('edits'), random),
    new Pushes(await library('pushes'), random),
    new Locks(await library('locks')),
    new Links(await library('links')),
    new Shares(await library('shares')),
    new Tasks(await library('task source'), await library('task target')),
    new Trash(await library('trash')),
  ]
}

/** Whole files, some of them stored as block files. */
class Uploads implements Writer {
  readonly kind = 'upload'
  readonly #library: string
  readonly #random: Random
  readonly #sent = new FileJournal('upload')

  constructor(library: string, random: Random) {
    this.#library = library
    this.#random = random
  }

  async write(client: Client): Promise<void> {
    const name = `${this.#sent.size}.bin`
    const bytes = randomBytes(1 + Math.floor(this.#random() ** 3 * 500_000))
    const record = this.#sent.send(name, bytes)
    await sendFile(client, this.#library, name, bytes)
    record.isAcknowledged = true
  }

  async verify(client: Client): Promise<void> {
    const names = await namesOf(client, this.#library)
    await this.#sent.verify(names, (name) => download(client, this.#library, name))
  }
}

/** Files in chunks. What was acknowledged of an unfinished one must be there to go on. */
class Chunks implements Writer {
  readonly kind = 'chunk'
  readonly #library: string
  readonly #random: Random
  readonly #done = new Map<string, string>()
  #count = 0
  #bytes = Buffer.alloc(0)
  #acknowledged = 0

  constructor(library: string, random: Random) {
    this.#library = library
    this.#random = random
  }

  get #name(): string {
    return `chunked ${this.#count}.bin`
  }

  async write(client: Client): Promise<void> {
    if (this.#bytes.length === 0) this.#bytes = randomBytes(50_000 + Math.floor(this.#random() * 150_000))
    const start = this.#acknowledged
    await sendChunk(client, this.#library, { name: this.#name, bytes: this.#bytes, start, length: CHUNK })
    this.#acknowledged = Math.min(start + CHUNK, this.#bytes.length)
    if (this.#acknowledged < this.#bytes.length) return
    this.#finish()
  }

  async verify(client: Client, { isRestored } = { isRestored: false }): Promise<void> {
    const names = await namesOf(client, this.#library)
    for (const [name, hash] of this.#done) {
      assert.ok(names.includes(name), `${name} was acknowledged and is gone`)
      assert.equal(hashOf(await download(client, this.#library, name)), hash, name)
    }
    this.#done.clear()
    // The last chunk may have been stored without an answer.
    if (names.includes(this.#name)) this.#finish()
    if (this.#acknowledged === 0 || isRestored) return
    const kept = await uploadedBytes(client, this.#library, this.#name)
    assert.ok(kept >= this.#acknowledged, `${kept} of ${this.#acknowledged} acknowledged bytes`)
    this.#acknowledged = kept
  }

  #finish(): void {
    this.#done.set(this.#name, hashOf(this.#bytes))
    this.#count += 1
    this.#bytes = Buffer.alloc(0)
    this.#acknowledged = 0
  }
}

/** Creates, renames and deletes. */
class Edits implements Writer {
  readonly kind = 'edit'
  readonly #library: string
  readonly #random: Random
  readonly #names = new Set<string>()
  #unanswered: { remove?: string; add?: string } | undefined
  #count = 0

  constructor(library: string, random: Random) {
    this.#library = library
    this.#random = random
  }

  async write(client: Client): Promise<void> {
    const url = `/api/v2.1/repos/${this.#library}/file/`
    const known = [...this.#names]
    const some = known[Math.floor(this.#random() * known.length)]
    const fresh = `note ${this.#count++}`
    const choice = known.length < 20 ? 0 : this.#random()
    if (some === undefined || choice < 0.4) {
      this.#unanswered = { add: fresh }
      expectOk(await client.post(url, { query: { p: `/${fresh}` }, form: { operation: 'create' } }))
    } else if (choice < 0.7) {
      this.#unanswered = { remove: some, add: fresh }
      const form = { operation: 'rename', newname: fresh }
      expectOk(await client.post(url, { query: { p: `/${some}` }, form }))
    } else {
      this.#unanswered = { remove: some }
      expectOk(await client.delete(url, { query: { p: `/${some}` } }))
    }
    this.#settle()
  }

  async verify(client: Client): Promise<void> {
    const found = (await namesOf(client, this.#library)).sort()
    if (found.join() !== [...this.#names].sort().join()) this.#settle()
    assert.deepEqual(found, [...this.#names].sort())
    this.#unanswered = undefined
  }

  #settle(): void {
    const { remove, add } = this.#unanswered ?? {}
    if (remove !== undefined) this.#names.delete(remove)
    if (add !== undefined) this.#names.add(add)
    this.#unanswered = undefined
  }
}

/** A desktop client that pushes one more file at a time. */
class Pushes implements Writer {
  readonly kind = 'push'
  readonly #library: string
  readonly #random: Random
  readonly #acknowledged = new Map<string, Buffer>()
  #sync: SyncClient | undefined
  #parent: string | undefined
  #count = 0

  constructor(library: string, random: Random) {
    this.#library = library
    this.#random = random
  }

  async write(client: Client): Promise<void> {
    this.#sync ??= await SyncClient.link(client, this.#library)
    this.#parent ??= await this.#sync.head()
    const name = `file ${this.#count++}`
    const content = Buffer.alloc(1 + Math.floor(this.#random() ** 3 * 200_000), name)
    const folder = Object.fromEntries([...this.#acknowledged].slice(-20))
    const spec: TreeSpec = { device: { ...folder, [name]: content } }
    this.#parent = await this.#sync.push(spec, this.#parent)
    this.#acknowledged.set(name, content)
    for (const old of [...this.#acknowledged.keys()].slice(0, -21)) this.#acknowledged.delete(old)
  }

  async verify(client: Client): Promise<void> {
    const sync = await SyncClient.link(client, this.#library)
    const files = await sync.clone()
    // The address of the server changes with every start, and an unanswered push may be the head.
    this.#sync = undefined
    for (const [name, content] of [...this.#acknowledged].slice(-20)) {
      assert.deepEqual(files.get(`/device/${name}`), content, `${name} was pushed`)
    }
  }
}

/** Locks and unlocks one file. */
class Locks implements Writer {
  readonly kind = 'lock'
  readonly #api: string
  #isLocked: boolean | 'unknown' | undefined

  constructor(library: string) {
    this.#api = `/api/v2.1/repos/${library}/file/`
  }

  async write(client: Client): Promise<void> {
    const query = { p: '/locked.txt' }
    if (this.#isLocked === undefined || this.#isLocked === 'unknown') {
      this.#isLocked = await this.#read(client)
      if (this.#isLocked === undefined) {
        expectOk(await client.post(this.#api, { query, form: { operation: 'create' } }))
        this.#isLocked = false
      }
    }
    const next = !this.#isLocked
    this.#isLocked = 'unknown'
    expectOk(await client.put(this.#api, { query, form: { operation: next ? 'lock' : 'unlock' } }))
    this.#isLocked = next
  }

  async verify(client: Client): Promise<void> {
    if (typeof this.#isLocked === 'boolean') assert.equal(await this.#read(client), this.#isLocked)
  }

  async #read(client: Client): Promise<boolean | undefined> {
    const found = await client.get(this.#api, { p: '/locked.txt' })
    return found.status === 404 ? undefined : found.body.is_locked
  }
}

/** Creates and deletes share links. */
class Links implements Writer {
  readonly kind = 'link'
  readonly #library: string
  readonly #tokens = new Set<string>()
  #deleting: string | undefined

  constructor(library: string) {
    this.#library = library
  }

  async write(client: Client): Promise<void> {
    const [oldest] = this.#tokens
    if (this.#tokens.size < 5 || oldest === undefined) {
      const form = { repo_id: this.#library, path: '/' }
      const made = await client.post('/api/v2.1/multi-share-links/', { form })
      expectOk(made)
      this.#tokens.add(made.body.token)
      return
    }
    this.#deleting = oldest
    this.#tokens.delete(oldest)
    expectOk(await client.delete(`/api/v2.1/share-links/${oldest}/`))
    this.#deleting = undefined
  }

  async verify(client: Client): Promise<void> {
    const listed = await client.get('/api/v2.1/share-links/', { repo_id: this.#library })
    expectOk(listed)
    const found = new Set<string>(listed.body.map(({ token }: { token: string }) => token))
    for (const token of this.#tokens) assert.ok(found.has(token), `link ${token} was acknowledged`)
    if (this.#deleting !== undefined && found.has(this.#deleting)) this.#tokens.add(this.#deleting)
    this.#deleting = undefined
    // A link that was made without an answer stays, because nobody knows its token.
    for (const token of found) this.#tokens.add(token)
  }
}

/** Shares a library with everyone and ends the share. */
class Shares implements Writer {
  readonly kind = 'share'
  readonly #library: string
  #isShared: boolean | 'unknown' = false

  constructor(library: string) {
    this.#library = library
  }

  async write(client: Client): Promise<void> {
    if (this.#isShared === 'unknown') this.#isShared = await this.#read(client)
    const next = !this.#isShared
    this.#isShared = 'unknown'
    const url = `/api2/shared-repos/${this.#library}/`
    const query = { share_type: 'public', permission: 'r' }
    expectOk(next ? await client.put(url, { query }) : await client.delete(url, { query }))
    this.#isShared = next
  }

  async verify(client: Client): Promise<void> {
    if (this.#isShared !== 'unknown') assert.equal(await this.#read(client), this.#isShared)
  }

  async #read(client: Client): Promise<boolean> {
    const listed = await client.get('/api2/repos/public/')
    expectOk(listed)
    return listed.body.some(
      (one: { id?: string; repo_id?: string }) => (one.repo_id ?? one.id) === this.#library,
    )
  }
}

/** Copies between libraries as a background task. */
class Tasks implements Writer {
  readonly kind = 'task'
  readonly #source: string
  readonly #target: string
  readonly #copied = new Set<string>()
  #hasSource = false
  #count = 0

  constructor(source: string, target: string) {
    this.#source = source
    this.#target = target
  }

  async write(client: Client): Promise<void> {
    if (!this.#hasSource) {
      await sendFile(client, this.#source, 'a.bin', Buffer.alloc(100_000, 'task'), [['replace', '1']])
      this.#hasSource = true
    }
    const folder = `/copy ${this.#count++}`
    const url = `/api/v2.1/repos/${this.#target}/dir/`
    expectOk(await client.post(url, { query: { p: folder }, form: { operation: 'mkdir' } }))
    const [source, target] = [this.#source, this.#target]
    await runTask(client, { operation: 'copy', source, target, name: 'a.bin', folder }, 5)
    this.#copied.add(folder)
  }

  async verify(client: Client): Promise<void> {
    const query = { p: '/', recursive: 1 }
    const listed = await client.get(`/api/v2.1/repos/${this.#target}/dir/`, query)
    expectOk(listed)
    const files = new Map<string, number>(
      listed.body.dirent_list
        .filter((entry: { type: string }) => entry.type === 'file')
        .map((entry: { parent_dir: string; size: number }) => [
          entry.parent_dir.replace(/\/$/, ''),
          entry.size,
        ]),
    )
    for (const folder of this.#copied) assert.equal(files.get(folder), 100_000, `${folder} was copied`)
  }
}

/** Deletes files, then empties the trash. */
class Trash implements Writer {
  readonly kind = 'empty trash'
  readonly #library: string
  readonly #api: string
  #deleted: string[] = []
  #emptied = new Set<string>()
  #count = 0

  constructor(library: string) {
    this.#library = library
    this.#api = `/api/v2.1/repos/${library}`
  }

  async write(client: Client): Promise<void> {
    const name = `deleted ${this.#count++}`
    const query = { p: `/${name}` }
    expectOk(await client.post(`${this.#api}/file/`, { query, form: { operation: 'create' } }))
    expectOk(await client.delete(`${this.#api}/file/`, { query }))
    this.#deleted.push(name)
    if (this.#deleted.length < 3) return
    const emptied = this.#deleted
    this.#deleted = []
    await emptyTrash(client, this.#library)
    for (const one of emptied) this.#emptied.add(one)
  }

  async verify(client: Client): Promise<void> {
    const listed = await client.get(`${this.#api}/trash/`, { path: '/' })
    expectOk(listed)
    const found: string[] = listed.body.data.map((item: { obj_name: string }) => item.obj_name)
    assert.deepEqual(
      found.filter((name) => this.#emptied.has(name)),
      [],
      'the trash was emptied',
    )
    for (const name of this.#deleted) assert.ok(found.includes(name), `${name} was deleted`)
  }
}

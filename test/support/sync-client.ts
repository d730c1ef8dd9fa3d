import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import { classicCommitId } from '../../src/base/objects/commit.ts'
import { Dir } from '../../src/base/objects/dir.ts'
import { type Dirent, dirDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import { encodeFile } from '../../src/base/objects/file.ts'
import { type BlockId, type DirId, EMPTY_ID, type FileId } from '../../src/base/objects/ids.ts'
import { Client, type Reply } from './client.ts'

/** A tree: text or bytes for a file, a record for a folder. */
export type TreeSpec = { readonly [name: string]: string | Buffer | TreeSpec | Dirent }

/** Objects and blocks of a tree, by id. */
export interface MadeTree {
  readonly root: DirId
  readonly objects: Map<string, Buffer>
  readonly blocks: Map<string, Buffer>
}

/** A commit as a client writes it. */
export interface SentCommit {
  readonly id: string
  readonly json: Record<string, unknown>
}

const BLOCK_BYTES = 1024 * 1024
export const MTIME = 1_700_000_000

/** A client of the sync protocol, step by step like desktop clients. */
export class SyncClient {
  readonly url: string
  readonly library: string
  readonly token: string
  readonly email: string
  readonly clientId = randomBytes(20).toString('hex')

  constructor(url: string, library: string, token: string, email: string) {
    this.url = url
    this.library = library
    this.token = token
    this.email = email
  }

  static async link(client: Client, library: string): Promise<SyncClient> {
    const info = await client.get(`/api2/repos/${library}/download-info/`)
    assert.equal(info.status, 200, info.text)
    return new SyncClient(client.url, library, info.body.token, info.body.email)
  }

  call(
    method: string,
    path: string,
    body?: Uint8Array | string,
    headers: Record<string, string> = { 'Seafile-Repo-Token': this.token },
  ): Promise<Reply> {
    const type: Record<string, string> =
      method === 'POST' ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}
    return new Client(this.url).call(method, `/seafhttp/repo/${this.library}/${path}`, {
      headers: { ...type, ...headers },
      ...(body !== undefined && { raw: body }),
    })
  }

  async bytes(path: string): Promise<Buffer> {
    const response = await fetch(`${this.url}/seafhttp/repo/${this.library}/${path}`, {
      headers: { 'Seafile-Repo-Token': this.token },
    })
    assert.equal(response.status, 200)
    return Buffer.from(await response.arrayBuffer())
  }

  async head(): Promise<string> {
    const reply = await this.call('GET', 'commit/HEAD')
    assert.equal(reply.status, 200, reply.text)
    return reply.body.head_commit_id
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async commit(id: string): Promise<any> {
    const reply = await this.call('GET', `commit/${id}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  /** A commit on `parent` with any fields changed. */
  makeCommit(root: string, parent: string | null, change: Record<string, unknown> = {}): SentCommit {
    const fields = {
      rootId: root as DirId,
      creator: this.clientId,
      creatorName: this.email,
      description: `Changed ${randomBytes(4).toString('hex')}`,
      ctime: Math.floor(Date.now() / 1000),
    }
    const json: Record<string, unknown> = {
      commit_id: classicCommitId(fields),
      root_id: root,
      repo_id: this.library,
      creator_name: fields.creatorName,
      creator: fields.creator,
      description: fields.description,
      ctime: fields.ctime,
      parent_id: parent,
      second_parent_id: null,
      repo_name: 'as the client knows it',
      repo_desc: '',
      repo_category: null,
      device_name: 'unknown',
      client_version: '8.0.10',
      no_local_history: 1,
      version: 1,
      ...change,
    }
    return { id: String(json['commit_id']), json }
  }

  putCommit({ id, json }: SentCommit): Promise<Reply> {
    return this.call('PUT', `commit/${id}`, JSON.stringify(json))
  }

  putHead(id: string): Promise<Reply> {
    return this.call('PUT', `commit/HEAD/?head=${id}`, '')
  }

  async sendObjects({ objects }: MadeTree): Promise<void> {
    const ids = [...objects.keys()]
    const missing = await this.call('POST', 'check-fs/', JSON.stringify(ids))
    assert.equal(missing.status, 200, missing.text)
    const wanted = new Map(missing.body.map((id: string) => [id, objects.get(id)]))
    const reply = await this.call('POST', 'recv-fs/', packets(wanted as Map<string, Buffer>))
    assert.equal(reply.status, 200, reply.text)
  }

  async sendBlocks({ blocks }: MadeTree): Promise<void> {
    const missing = await this.call('POST', 'check-blocks/', JSON.stringify([...blocks.keys()]))
    assert.equal(missing.status, 200, missing.text)
    for (const id of missing.body) {
      const reply = await this.call('PUT', `block/${id}`, blocks.get(id))
      assert.equal(reply.status, 200, reply.text)
    }
  }

  /** Sends a tree and a commit of it on `parent`, without moving the head. */
  async send(spec: TreeSpec | MadeTree, parent: string, change: Record<string, unknown> = {}) {
    const tree = isMade(spec) ? spec : makeTree(spec, this.email)
    const commit = this.makeCommit(tree.root, parent, change)
    const reply = await this.putCommit(commit)
    assert.equal(reply.status, 200, reply.text)
    await this.sendObjects(tree)
    await this.sendBlocks(tree)
    return commit.id
  }

  /** Sends a commit and moves the head to it. Returns its id. */
  async push(
    spec: TreeSpec | MadeTree,
    parent?: string,
    change: Record<string, unknown> = {},
  ): Promise<string> {
    const id = await this.send(spec, parent ?? (await this.head()), change)
    const reply = await this.putHead(id)
    assert.equal(reply.status, 200, reply.text)
    return id
  }

  async listIds(head: string, known?: string): Promise<string[]> {
    const query = known === undefined ? '' : `&client-head=${known}`
    const reply = await this.call('GET', `fs-id-list/?server-head=${head}${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  /** Fetches objects by id until all have arrived. */
  async fetchObjects(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const got = new Map<string, Buffer>()
    for (let left = [...new Set(ids)]; left.length > 0; left = left.filter((id) => !got.has(id))) {
      const response = await fetch(`${this.url}/seafhttp/repo/${this.library}/pack-fs/`, {
        method: 'POST',
        headers: {
          'Seafile-Repo-Token': this.token,
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        body: JSON.stringify(left.slice(0, 100)),
      })
      assert.equal(response.status, 200)
      const sent = Buffer.from(await response.arrayBuffer())
      assert.ok(sent.length > 0, 'an empty answer would make a client loop')
      for (const [id, json] of readPackets(sent)) {
        assert.equal(sha1(json), id)
        got.set(id, json)
      }
    }
    return got
  }

  /** All files of a commit with their bytes, as a clone reads them. Folders are null. */
  async clone(head?: string): Promise<Map<string, Buffer | null>> {
    const at = head ?? (await this.head())
    const { root_id: root } = await this.commit(at)
    const objects = await this.fetchObjects(await this.listIds(at))
    const found = new Map<string, Buffer | null>()
    const walk = async (id: string, path: string): Promise<void> => {
      if (id === EMPTY_ID) return
      const { dirents } = JSON.parse(String(objects.get(id)))
      for (const entry of dirents) {
        const below = `${path}/${entry.name}`
        if ((entry.mode & 0o170000) === 0o040000) {
          found.set(below, null)
          await walk(entry.id, below)
        } else {
          found.set(below, await this.#file(objects, entry.id))
        }
      }
    }
    await walk(root, '')
    return found
  }

  async #file(objects: Map<string, Buffer>, id: string): Promise<Buffer> {
    if (id === EMPTY_ID) return Buffer.alloc(0)
    const { block_ids: blockIds, size } = JSON.parse(String(objects.get(id)))
    const blocks: Buffer[] = []
    for (const block of blockIds) {
      const bytes = await this.bytes(`block/${block}`)
      assert.equal(sha1(bytes), block)
      blocks.push(bytes)
    }
    const whole = Buffer.concat(blocks)
    assert.equal(whole.length, size)
    return whole
  }
}

/** The objects and blocks of a tree. A dirent stands for itself. */
export function makeTree(spec: TreeSpec, modifier: string, mtime = MTIME): MadeTree {
  const objects = new Map<string, Buffer>()
  const blocks = new Map<string, Buffer>()
  const dir = (entries: TreeSpec): DirId => {
    const made = Dir.of(
      Object.entries(entries).map(([name, value]): Dirent => {
        if (isDirent(value)) return value
        if (typeof value !== 'string' && !Buffer.isBuffer(value)) {
          return dirDirent({ id: dir(value), name, mtime })
        }
        const bytes = Buffer.from(value)
        const { id, size } = file(bytes)
        return fileDirent({ id, name, mtime, size, modifier })
      }),
    )
    if (made.size > 0) objects.set(made.id, made.encoded())
    return made.id
  }
  const file = (bytes: Buffer): { id: FileId; size: number } => {
    if (bytes.length === 0) return { id: EMPTY_ID, size: 0 }
    const blockIds: BlockId[] = []
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const block = bytes.subarray(at, at + BLOCK_BYTES)
      blockIds.push(sha1(block) as BlockId)
      blocks.set(sha1(block), block)
    }
    const json = encodeFile({ blockIds, size: bytes.length })
    objects.set(sha1(json), json)
    return { id: sha1(json) as FileId, size: bytes.length }
  }
  return { root: dir(spec), objects, blocks }
}

/** Objects in wire format. */
export function packets(objects: ReadonlyMap<string, Buffer>): Buffer {
  return Buffer.concat(Array.from(objects, ([id, json]) => packet(id, deflateSync(json))))
}

export function packet(id: string, packed: Buffer): Buffer {
  const head = Buffer.alloc(44)
  head.write(id, 0, 'latin1')
  head.writeUInt32BE(packed.length, 40)
  return Buffer.concat([head, packed])
}

export function readPackets(bytes: Buffer): Map<string, Buffer> {
  const objects = new Map<string, Buffer>()
  for (let at = 0; at < bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 40)
    const length = bytes.readUInt32BE(at + 40)
    const end = at + 44 + length
    assert.ok(end <= bytes.length, 'a packet is cut short')
    objects.set(id, inflateSync(bytes.subarray(at + 44, end)))
    at = end
  }
  return objects
}

export function sha1(bytes: Buffer | string): string {
  return createHash('sha1').update(bytes).digest('hex')
}

function isDirent(value: object | string): value is Dirent {
  return typeof value === 'object' && !Buffer.isBuffer(value) && 'kind' in value && 'mtime' in value
}

function isMade(spec: TreeSpec | MadeTree): spec is MadeTree {
  return 'objects' in spec && spec['objects'] instanceof Map
}

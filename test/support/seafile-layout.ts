import { createHash, hash, pbkdf2Sync, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { deflateSync } from 'node:zlib'
import { type Encrypted, encryptedBlock, encryptedLibrary, encryptedView } from './seafile-encryption.ts'

// Writes the data folder and the databases of a Seafile server, as they are documented, without using our own encoders: an error in
// those must not cancel itself out.

export const EMPTY = '0'.repeat(40)

/** A tree: texts or bytes by name, folders as objects. */
export interface SourceTree {
  [name: string]: string | Buffer | SourceTree
}

/** How a library is written. */
interface LibraryOptions {
  readonly name: string
  readonly owner: string
  /** 1 unless given. */
  readonly version?: 0 | 1
  readonly encVersion?: 1 | 2 | 3 | 4
  readonly password?: string
  /** The library that has its fs objects and blocks, if it is virtual. */
  readonly origin?: SourceLibrary
}

type Row = Record<string, string | number | null>

/** A Seafile server on disk. */
export class SeafileServer {
  readonly folder: string
  readonly tables = new Map<string, Row[]>()
  clock = 1_700_000_000
  /** Objects and blocks that are written, and the folders that exist, so that each is written once. */
  readonly #written = new Set<string>()
  readonly #folders = new Set<string>()

  constructor(folder: string) {
    this.folder = folder
  }

  get data(): string {
    return path.join(this.folder, 'seafile-data')
  }

  add(table: string, row: Row): void {
    const rows = this.tables.get(table) ?? []
    rows.push(row)
    this.tables.set(table, rows)
  }

  /** A password is hashed as the server does. */
  addUser(
    email: string,
    { password = 'secret', isStaff = false, isActive = true, ...profile }: UserOptions = {},
  ): void {
    const salt = hash('sha256', email, 'buffer')
    const tag = pbkdf2Sync(password, salt, 1000, 32, 'sha256').toString('hex')
    this.add('EmailUser', {
      id: (this.tables.get('EmailUser')?.length ?? 0) + 1,
      email,
      passwd: `PBKDF2SHA256$1000$${salt.toString('hex')}$${tag}`,
      is_staff: isStaff ? 1 : 0,
      is_active: isActive ? 1 : 0,
      ctime: this.clock * 1_000_000,
    })
    this.add('profile_profile', {
      id: (this.tables.get('profile_profile')?.length ?? 0) + 1,
      user: email,
      nickname: profile.nickname ?? '',
      contact_email: profile.contactEmail ?? null,
      login_id: null,
    })
  }

  async addLibrary(options: LibraryOptions): Promise<SourceLibrary> {
    const library = new SourceLibrary(this, options)
    this.add('Repo', { id: (this.tables.get('Repo')?.length ?? 0) + 1, repo_id: library.id })
    this.add('RepoOwner', { id: 1, repo_id: library.id, owner_id: options.owner })
    await library.commit({}, 'Created library')
    return library
  }

  /** A folder of a library as a library, as sharing it creates one. */
  async addVirtual(origin: SourceLibrary, folder: string, root: string): Promise<SourceLibrary> {
    const view = new SourceLibrary(this, {
      name: path.basename(folder),
      owner: origin.owner,
      origin,
    })
    await view.commitRoot(root, 'Created library')
    this.add('Repo', { id: 0, repo_id: view.id })
    this.add('RepoOwner', { id: 1, repo_id: view.id, owner_id: origin.owner })
    this.add('VirtualRepo', {
      id: 1,
      repo_id: view.id,
      origin_repo: origin.id,
      path: folder,
      base_commit: origin.head,
    })
    return view
  }

  /** The databases as SQLite files, where an installation without MySQL has them. */
  async writeSqlite(): Promise<string> {
    const files: Record<string, RegExp> = {
      'ccnet/PeerMgr/usermgr.db': /^(EmailUser|LDAPUsers|UserRole)$/,
      'ccnet/GroupMgr/groupmgr.db': /^(Group|GroupUser)$/,
      'seafile-data/seafile.db':
        /^(Repo.*|Branch|VirtualRepo|SharedRepo|InnerPubRepo|UserQuota|GarbageRepos)$/,
      'seahub.db': /_/,
    }
    for (const [file, names] of Object.entries(files)) {
      const full = path.join(this.folder, file)
      await mkdir(path.dirname(full), { recursive: true })
      await rm(full, { force: true })
      using db = new DatabaseSync(full)
      for (const [table, rows] of this.tables) {
        if (!names.test(table)) continue
        const columns = Object.keys(rows[0] ?? {})
        db.exec(`create table "${table}" (${columns.map((name) => `"${name}"`).join(', ')})`)
        const insert = db.prepare(`insert into "${table}" values (${columns.map(() => '?').join(', ')})`)
        for (const row of rows) insert.run(...columns.map((name) => row[name] ?? null))
      }
    }
    return this.folder
  }

  /** The databases as a dump of MySQL. */
  async writeDump(): Promise<string> {
    const lines = ['-- MySQL dump 10.13', 'SET NAMES utf8mb4;', 'USE `seafile_db`;']
    lines.push(
      'CREATE TABLE `Event` (',
      '  `uuid` binary(16) NOT NULL,',
      '  PRIMARY KEY (`uuid`)',
      ') ENGINE=InnoDB;',
    )
    lines.push("INSERT INTO `Event` VALUES (_binary '\\0a\\';'),(0x00ff);")
    for (const [table, rows] of this.tables) {
      const columns = Object.keys(rows[0] ?? {})
      lines.push(`DROP TABLE IF EXISTS \`${table}\`;`, `CREATE TABLE \`${table}\` (`)
      lines.push(
        ...columns.map((name) => `  \`${name}\` text DEFAULT NULL,`),
        '  KEY `k` (`x`)',
        ') ENGINE=InnoDB;',
      )
      const tuples = rows.map((row) => `(${columns.map((name) => literal(row[name] ?? null)).join(',')})`)
      lines.push(`INSERT INTO \`${table}\` VALUES ${tuples.join(',')};`)
    }
    const file = path.join(this.folder, 'dump.sql')
    await writeFile(file, `${lines.join('\n')}\n`)
    return file
  }

  /** Writes an object or block unless it is written. Synchronously, which takes half the time for so many small files. */
  put(
    kind: 'commits' | 'fs' | 'blocks',
    version: number,
    store: string,
    id: string,
    bytes: () => Buffer,
  ): void {
    const file = this.fileOf(kind, version, store, id)
    if (this.#written.has(file)) return
    this.#written.add(file)
    const folder = path.dirname(file)
    if (!this.#folders.has(folder)) mkdirSync(folder, { recursive: true })
    this.#folders.add(folder)
    writeFileSync(file, bytes())
  }

  fileOf(kind: 'commits' | 'fs' | 'blocks', version: number, store: string, id: string): string {
    const root = version === 0 ? path.join(this.data, kind) : path.join(this.data, 'storage', kind, store)
    return path.join(root, id.slice(0, 2), id.slice(2))
  }
}

interface UserOptions {
  readonly password?: string
  readonly isStaff?: boolean
  readonly isActive?: boolean
  readonly nickname?: string
  readonly contactEmail?: string
}

function literal(value: string | number | null): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  const escaped = value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')
  return `'${escaped}'`
}

/** A commit that was written, with the tree that it should have. */
interface Revision {
  readonly id: string
  readonly tree: SourceTree
}

/** A library of the source, which grows by commits. */
export class SourceLibrary {
  readonly id = randomUUID()
  readonly owner: string
  name: string
  head = ''
  /** All commits of the main line, oldest first. */
  readonly revisions: Revision[] = []
  readonly encrypted: Encrypted | undefined
  readonly version: 0 | 1
  readonly #server: SeafileServer
  readonly #store: string
  /** The ids of files that are written, by their text or buffer: commits share what they have in common. */
  readonly #files = new Map<string | Buffer, string>()
  /** Blocks of at most as many bytes, so that some files have several. */
  blockBytes = 100_000

  constructor(
    server: SeafileServer,
    { name, owner, version = 1, encVersion, password, origin }: LibraryOptions,
  ) {
    this.#server = server
    this.name = name
    this.owner = owner
    this.version = version
    this.#store = origin?.id ?? this.id
    if (encVersion !== undefined)
      this.encrypted = encryptedLibrary(this.id, encVersion, password ?? 'library password')
    else if (origin?.encrypted !== undefined) this.encrypted = encryptedView(this.id, origin.encrypted)
  }

  /** Replaces the whole tree. */
  async commit(tree: SourceTree, description: string, options: CommitOptions = {}): Promise<string> {
    const id = await this.commitRoot(await this.writeTree(tree), description, options)
    if (options.isSide !== true) this.revisions.push({ id, tree })
    return id
  }

  async commitRoot(root: string, description: string, options: CommitOptions = {}): Promise<string> {
    const { parent = this.head, secondParent, by = this.owner } = options
    const ctime = this.#server.clock++
    const fields = `${root}\0${EMPTY}\0${by}\0${description}\0`
    const time = Buffer.alloc(8)
    time.writeBigInt64BE(BigInt(ctime))
    const id = createHash('sha1').update(fields).update(time).digest('hex')
    const { encrypted } = this
    const json = {
      commit_id: id,
      root_id: root,
      repo_id: this.id,
      creator_name: by,
      creator: EMPTY,
      description,
      ctime,
      parent_id: parent === '' ? null : parent,
      second_parent_id: secondParent ?? null,
      repo_name: this.name,
      repo_desc: 'imported',
      repo_category: null,
      ...(encrypted !== undefined && { encrypted: 'true', ...encrypted.fields }),
      no_local_history: 1,
      ...(this.version === 1 && { version: 1 }),
    }
    this.#server.put('commits', this.version, this.id, id, () => Buffer.from(JSON.stringify(json)))
    if (options.isSide !== true) {
      this.head = id
      this.#setHead()
    }
    return id
  }

  #setHead(): void {
    const rows = this.#server.tables.get('Branch') ?? []
    const row = rows.find((one) => one['repo_id'] === this.id)
    if (row === undefined)
      this.#server.add('Branch', {
        id: rows.length + 1,
        name: 'master',
        repo_id: this.id,
        commit_id: this.head,
      })
    else row['commit_id'] = this.head
  }

  /** Writes the dirs and files of a tree, and returns the id of its root. */
  async writeTree(tree: SourceTree): Promise<string> {
    const entries: SourceEntry[] = []
    for (const [name, value] of Object.entries(tree)) {
      const bytes = Buffer.from(name)
      if (typeof value === 'string' || Buffer.isBuffer(value)) {
        const size = typeof value === 'string' ? Buffer.byteLength(value) : value.length
        const id = this.#files.get(value) ?? (await this.writeFile(Buffer.from(value)))
        this.#files.set(value, id)
        entries.push({ name: bytes, mode: 33188, id, size })
      } else entries.push({ name: bytes, mode: 16384, id: await this.writeTree(value), size: undefined })
    }
    return this.writeDir(entries)
  }

  /** Names are bytes, so that a test can write invalid ones. */
  async writeDir(entries: readonly SourceEntry[]): Promise<string> {
    if (entries.length === 0) return EMPTY
    const sorted = [...entries].sort((a, b) => b.name.compare(a.name))
    return this.version === 0 ? this.#writeDirV0(sorted) : this.#writeDirV1(sorted)
  }

  async #writeDirV1(entries: readonly SourceEntry[]): Promise<string> {
    const parts = entries.map(({ name, mode, id, size }) => {
      const quoted = Buffer.concat([
        Buffer.from('"'),
        Buffer.from(escapeName(name.toString('latin1')), 'latin1'),
        Buffer.from('"'),
      ])
      const modifier = size === undefined ? '' : `"modifier": "${this.owner}", `
      const end = size === undefined ? '' : `, "size": ${size}`
      const start = `{"id": "${id}", "mode": ${mode}, ${modifier}"mtime": 1600000000, "name": `
      return Buffer.concat([Buffer.from(start), quoted, Buffer.from(`${end}}`)])
    })
    const joined = parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(', '), part]))
    const json = Buffer.concat([
      Buffer.from('{"dirents": ['),
      ...joined,
      Buffer.from('], "type": 3, "version": 1}'),
    ])
    const id = hash('sha1', json)
    this.#server.put('fs', 1, this.#store, id, () => deflateSync(json))
    return id
  }

  async #writeDirV0(entries: readonly SourceEntry[]): Promise<string> {
    const hashed = createHash('sha1')
    const stored: Buffer[] = [number32(3)]
    for (const { name, mode, id } of entries) {
      const little = Buffer.alloc(4)
      little.writeUInt32LE(mode)
      hashed.update(id).update(name).update(little)
      stored.push(number32(mode), Buffer.from(id), number32(name.length), name)
    }
    const id = hashed.digest('hex')
    this.#server.put('fs', 0, this.#store, id, () => Buffer.concat(stored))
    return id
  }

  async writeFile(content: Buffer): Promise<string> {
    if (content.length === 0) return EMPTY
    const blocks: string[] = []
    for (let start = 0; start < content.length; start += this.blockBytes) {
      const plain = content.subarray(start, start + this.blockBytes)
      const bytes = this.encrypted === undefined ? plain : encryptedBlock(this.encrypted, plain)
      const id = hash('sha1', bytes)
      this.#server.put('blocks', this.version, this.#store, id, () => bytes)
      blocks.push(id)
    }
    return this.writeFileObject(blocks, content.length)
  }

  async writeFileObject(blocks: readonly string[], size: number): Promise<string> {
    if (this.version === 0) {
      const ids = Buffer.from(blocks.join(''), 'hex')
      const id = hash('sha1', ids)
      const long = Buffer.alloc(8)
      long.writeBigUInt64BE(BigInt(size))
      this.#server.put('fs', 0, this.#store, id, () => Buffer.concat([number32(1), long, ids]))
      return id
    }
    const json = Buffer.from(
      `{"block_ids": [${blocks.map((id) => `"${id}"`).join(', ')}], "size": ${size}, "type": 1, "version": 1}`,
    )
    const id = hash('sha1', json)
    this.#server.put('fs', 1, this.#store, id, () => deflateSync(json))
    return id
  }
}

interface SourceEntry {
  readonly name: Buffer
  readonly mode: number
  readonly id: string
  /** Undefined for a folder. */
  readonly size: number | undefined
}

interface CommitOptions {
  readonly parent?: string
  readonly secondParent?: string
  readonly by?: string
  /** Not on the main line: the head stays. */
  readonly isSide?: boolean
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function escapeName(latin1: string): string {
  return latin1
    .replace(/["\\]/g, '\\$&')
    .replace(
      /[\u0000-\u001f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )
}

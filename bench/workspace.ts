import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client as PostgresClient } from 'pg'
import { type Config, readConfig } from '../src/base/config/index.ts'
import { ADMIN } from '../test/support/server.ts'
import { BenchServer } from './bench-server.ts'
import { LibraryBuilder } from './library-builder.ts'
import type { MemoryPeak } from './memory.ts'

export interface WorkspaceOptions {
  /** Parent of the working folder. */
  readonly parent: string
  /** Folder that is kept and may come from an earlier run. Default: a new one in `parent`. */
  readonly kept?: string
  /** Undefined for SQLite in the data folder. */
  readonly postgresUrl: string | undefined
  /** Log level of the server. */
  readonly log: string
  /** Folder for CPU profiles of the server; without it none are made. */
  readonly profile: string | undefined
  readonly peak: MemoryPeak
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A data folder and a database, filled through the core while no server runs, then served. */
export class Workspace implements AsyncDisposable {
  readonly folder: string
  readonly #options: WorkspaceOptions
  /** Settings of the server, also for commands beside it. */
  readonly env: Record<string, string>
  readonly #config: Config
  #server: BenchServer | undefined

  private constructor(folder: string, options: WorkspaceOptions) {
    this.folder = folder
    this.#options = options
    this.env = {
      CARREL_DATA: path.join(folder, 'data'),
      CARREL_RATE_LIMIT: 'off',
      // The largest curve has ten million files, and their folders are entries, too.
      CARREL_MAX_LIBRARY_ENTRIES: '0',
      CARREL_LOG: options.log,
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      ...(options.postgresUrl !== undefined && { CARREL_DATABASE: options.postgresUrl }),
      ...options.settings,
    }
    this.#config = readConfig({ env: this.env, cwd: folder })
  }

  static async create(options: WorkspaceOptions): Promise<Workspace> {
    const folder = options.kept ?? (await mkdtemp(path.join(options.parent, 'workspace-')))
    const workspace = new Workspace(folder, options)
    await mkdir(workspace.#config.dataDirectory, { mode: 0o700, recursive: true })
    return workspace
  }

  /** The result of `make`, from this run or from an earlier one in this folder. */
  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const file = path.join(this.folder, `${name}.json`)
    const known = await readFile(file, 'utf8').catch(() => undefined)
    if (known !== undefined) return JSON.parse(known) as T
    const made = await make()
    await writeFile(file, JSON.stringify(made))
    return made
  }

  /** Creates libraries through the core, without a server. Everything is closed when it resolves. */
  async prepare<T>(work: (builder: LibraryBuilder) => Promise<T>): Promise<T> {
    await using builder = await LibraryBuilder.open(this.#config)
    return await work(builder)
  }

  /** Settings of a server that is measured. */
  get serverEnv(): Record<string, string> {
    const { profile } = this.#options
    if (profile === undefined) return this.env
    return { ...this.env, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }
  }

  /** Starts the server on the prepared data, with an API token of the administrator. */
  async serve(): Promise<BenchServer> {
    const apiToken = await this.prepare((builder) => builder.issueApiToken())
    this.#server = await BenchServer.start({
      data: this.#config.dataDirectory,
      env: this.serverEnv,
      apiToken,
      peak: this.#options.peak,
    })
    return this.#server
  }

  /** Bytes in the data folder and in the PostgreSQL database. Exact when nothing is running. */
  async storedBytes(): Promise<number> {
    const inFolder = await bytesBelow(this.#config.dataDirectory)
    const { postgresUrl } = this.#options
    return postgresUrl === undefined ? inFolder : inFolder + (await databaseBytes(postgresUrl))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop()
    if (this.#options.kept === undefined) await rm(this.folder, { recursive: true, force: true })
  }
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(path.join(entry.parentPath, entry.name))).size
  }
  return bytes
}

async function databaseBytes(url: string): Promise<number> {
  const client = new PostgresClient({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}

import { access, constants, statfs } from 'node:fs/promises'
import type { Database } from '../../platform/database/index.ts'

interface ServerStateOptions {
  readonly db: Database
  readonly dataDirectory: string
  readonly version: string
  readonly database: 'sqlite' | 'postgres'
  readonly blocks: 'disk' | 's3'
  /** Unix seconds. */
  readonly now: () => number
}

/** Shown as free where nothing limits it. In bytes. */
const UNBOUNDED = 2 ** 50

type CheckName = 'database' | 'data-folder'

/** Health of the server: version, start time, and checks of the database and the data folder. */
export class ServerState {
  readonly #options: ServerStateOptions
  /** Unix seconds. */
  readonly startedAt: number

  constructor(options: ServerStateOptions) {
    this.#options = options
    this.startedAt = options.now()
  }

  get about() {
    const { version, database, blocks } = this.#options
    return { version, database, blocks }
  }

  /** Result of each health check. */
  async checks(): Promise<Record<CheckName, boolean>> {
    const { db, dataDirectory } = this.#options
    const [database, folder] = await Promise.all([
      isFine(db.ping()),
      isFine(access(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK)),
    ])
    return { database, 'data-folder': folder }
  }

  /**
   * Bytes that blocks can still take. A bucket of S3 has no limit, and 1 PiB stands for that: file managers refuse to copy what does not fit, and some
   * read an unknown amount as none.
   */
  async storeRoom(): Promise<number> {
    const disk = this.#options.blocks === 'disk' ? await this.disk() : undefined
    return disk?.free ?? UNBOUNDED
  }

  /** Bytes of the file system of the data folder; undefined where the system does not report them. */
  async disk(): Promise<{ free: number; total: number } | undefined> {
    try {
      const { bavail, blocks, bsize } = await statfs(this.#options.dataDirectory)
      return { free: bavail * bsize, total: blocks * bsize }
    } catch {
      return undefined
    }
  }
}

async function isFine(check: Promise<unknown>): Promise<boolean> {
  try {
    await check
    return true
  } catch {
    return false
  }
}

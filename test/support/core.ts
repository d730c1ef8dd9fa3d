import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { type LibraryPath, parsePath, ROOT } from '../../src/base/paths/paths.ts'
import { createLibraryCore, type LibraryCore } from '../../src/libraries/library/core.ts'
import { createLibrary, getLibrary } from '../../src/libraries/library/libraries.ts'
import { type Actor, type EditableLibrary, Library } from '../../src/libraries/library/library.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { type DatabaseSetting, openDatabase } from '../../src/platform/database/open.ts'
import type { BlockStore } from '../../src/platform/storage/block-store.ts'
import {
  type DiskImplementation,
  openDiskBlockStore,
} from '../../src/platform/storage/disk/disk-block-store.ts'
import { libraryDependents, pathBindings } from '../../src/programs/assembly/dependents.ts'

export interface TestCoreOptions {
  /** SQLite in a temporary folder unless given. */
  readonly setting?: DatabaseSetting
  readonly now?: () => number
  readonly dirCacheBytes?: number
  /** Holds the database and the blocks, and is kept. A new folder, which is deleted at the end, unless given. */
  readonly folder?: string
  readonly implementation?: DiskImplementation
  /** Thrown unless given. */
  readonly onConsumerError?: (error: unknown) => void
}

/** The core on a real database, without a server. */
export interface TestCore extends AsyncDisposable {
  readonly core: LibraryCore
  readonly blocks: BlockStore
  readonly db: Database
  readonly file: string
  /** Creates an account. */
  actor(email?: string): Promise<Actor>
  newLibrary(actor: Actor, name?: string): Promise<EditableLibrary>
  /** The library at its current head. */
  reopen(library: { info: { id: LibraryId }; actor: Actor }): Promise<EditableLibrary>
}

let accounts = 0

export async function openTestCore(options: TestCoreOptions = {}): Promise<TestCore> {
  const folder = options.folder ?? (await mkdtemp(path.join(os.tmpdir(), 'carrel-core-')))
  const file = path.join(folder, 'carrel.db')
  const db = await openDatabase(options.setting ?? { kind: 'sqlite', file }, {
    onFatal(error) {
      throw error
    },
  })
  const now = options.now ?? (() => Math.floor(Date.now() / 1000))
  const { implementation = 'fast' } = options
  const blocks = await openDiskBlockStore({ directory: path.join(folder, 'blocks'), implementation })
  const core = createLibraryCore({
    audit: new Audit(db, now, -1),
    db,
    blocks,
    now,
    dirCacheBytes: options.dirCacheBytes ?? 2 ** 26,
    defaultHistoryDays: -1,
    dependents: libraryDependents,
    pathBindings,
    onConsumerError:
      options.onConsumerError ??
      ((error) => {
        throw error
      }),
  })
  const open = async (id: LibraryId, actor: Actor) =>
    new Library(core, await getLibrary(core, id), actor, 'rw').editable(ROOT)
  return {
    core,
    blocks,
    db,
    file,
    async actor(email = `actor${++accounts}@example.org`) {
      const row = await db.write((tx) =>
        tx.get<{ key: number }>(
          `insert into account (email, password_hash, role, active, created_at)
           values (?, '', 'default', 1, 0) returning key`,
          email,
        ),
      )
      return { key: row?.key ?? 0, email, epoch: 0 }
    },
    async newLibrary(actor, name = 'Notes') {
      const { id } = await createLibrary(core, actor, { name, description: '' }, undefined)
      return open(id, actor)
    },
    reopen: ({ info, actor }) => open(info.id, actor),
    async [Symbol.asyncDispose]() {
      await core[Symbol.asyncDispose]()
      await blocks[Symbol.asyncDispose]()
      await db[Symbol.asyncDispose]()
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Parses a path that is known to be valid. */
export function at(text: string): LibraryPath {
  const path = parsePath(text)
  if (path === undefined) throw new Error(`not a path: ${text}`)
  return path
}

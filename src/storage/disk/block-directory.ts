import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type BlockId, parseBlockId } from '../../objects/index.ts'
import { BlockStoreError } from '../index.ts'
import { DirectorySync } from './directory-sync.ts'
import { codeOf, reading, writing } from './disk-errors.ts'

export interface BlockDirectoryOptions {
  readonly directory: string
  /** Another process of this server has the store open, so temp files may be in use and stay. */
  readonly shared?: boolean
}

/** Forces the entries of a folder to disk. */
type SyncDirectory = (folder: string) => Promise<void>

const folders: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, '0'),
)

const MAX_CONCURRENT_LOOKUPS = 32

/**
 * The layout on disk that all disk stores share: one file `ab/cdef…` per block, and `tmp/` for blocks not complete yet. A file gets its
 * block id as its name by a rename once its bytes are flushed.
 */
export class BlockDirectory {
  readonly #directory: string
  readonly #directorySync: DirectorySync

  private constructor(directory: string, syncDirectory: SyncDirectory) {
    this.#directory = directory
    this.#directorySync = new DirectorySync(syncDirectory)
  }

  /** Creates the folders durably and checks that they are writable. Throws BlockStoreError. */
  static async open(
    { directory, shared = false }: BlockDirectoryOptions,
    syncDirectory: SyncDirectory = syncFolder,
  ): Promise<BlockDirectory> {
    const temporary = path.join(directory, 'tmp')
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Temp files hold blocks that were never acknowledged (I4).
      if (!shared) await rm(temporary, { recursive: true, force: true })
      await mkdir(temporary, { recursive: true, mode: 0o700 })
      await createFolders(directory, syncDirectory)
      const trial = path.join(temporary, `trial-${randomUUID()}`)
      await writeFile(trial, '', { mode: 0o600 })
      await rm(trial)
    } catch (cause) {
      throw new BlockStoreError(
        `Blocks cannot be kept in ${directory} (${codeOf(cause)}): make it a folder this account may write to.`,
        { cause },
      )
    }
    return new BlockDirectory(directory, syncDirectory)
  }

  fileOf(id: BlockId): string {
    return path.join(this.#directory, id.slice(0, 2), id.slice(2))
  }

  /** A path for a temp file, never returned twice. */
  newTemporary(): string {
    return path.join(this.#directory, 'tmp', `in-${randomUUID()}`)
  }

  /** Renames a flushed temp file to its block id and flushes the folder; `onRenamed` runs in between. Removes the temp file on failure. */
  async publish(id: BlockId, temporary: string, onRenamed?: (file: string) => void): Promise<void> {
    const file = this.fileOf(id)
    try {
      await writing(id, rename(temporary, file))
    } catch (error) {
      await removeTemporary(temporary)
      throw error
    }
    onRenamed?.(file)
    await this.sync(id)
  }

  /** Resolves once the folder entry of a block is durable. */
  sync(id: BlockId): Promise<void> {
    return writing(id, this.#directorySync.sync(path.dirname(this.fileOf(id))))
  }

  async remove(id: BlockId): Promise<void> {
    await writing(id, rm(this.fileOf(id), { force: true }))
  }

  /** In bytes. Throws BlockMissing. */
  async size(id: BlockId): Promise<number> {
    return (await reading(id, stat(this.fileOf(id)))).size
  }

  /** In bytes; undefined if there is no such block. */
  async findSize(id: BlockId): Promise<number | undefined> {
    const found = stat(this.fileOf(id)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    return (await reading(id, found))?.size
  }

  /** Those of `ids` without a file, in order. */
  async missing(ids: readonly BlockId[]): Promise<BlockId[]> {
    const missing: BlockId[] = []
    for (let start = 0; start < ids.length; start += MAX_CONCURRENT_LOOKUPS) {
      const group = ids.slice(start, start + MAX_CONCURRENT_LOOKUPS)
      const sizes = await Promise.all(group.map((id) => this.findSize(id)))
      missing.push(...group.filter((_, index) => sizes[index] === undefined))
    }
    return missing
  }

  /** All block ids, ascending. */
  async *list(): AsyncGenerator<BlockId, void> {
    for (const folder of folders) {
      const names = await readdir(path.join(this.#directory, folder))
      for (const name of names.sort()) {
        const id = parseBlockId(folder + name)
        if (id !== undefined) yield id
      }
    }
  }
}

/** A temp file that cannot be removed now is removed at the next start. */
export async function removeTemporary(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {})
}

/** `fsync` of a folder. A no-op where the file system cannot sync folders, as on some network file systems. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync().catch((error: unknown) => {
    if (!cannotSyncFolders.has(codeOf(error))) throw error
  })
}

export const cannotSyncFolders: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'])

// All folders are created at the start, so that a put has to flush only an entry, never a folder.
async function createFolders(directory: string, syncDirectory: SyncDirectory) {
  const present = new Set(await readdir(directory))
  for (const folder of folders.filter((name) => !present.has(name))) {
    await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 })
  }
  // At every start: the process that created the folders may have died before it flushed them.
  await syncDirectory(directory)
  await syncDirectory(path.dirname(path.resolve(directory)))
}

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type BlockId, parseBlockId } from '../../../base/objects/index.ts'
import { type BlockFile, BlockMissing, BlockStoreError } from '../index.ts'
import { DirectorySync } from './directory-sync.ts'
import { codeOf, reading, removing, UNNAMED, writing } from './disk-errors.ts'
import type { AdoptedFile } from './file-adopter.ts'
import { FolderHandles } from './folder-handles.ts'

export interface BlockDirectoryOptions {
  readonly directory: string
  /** Another process of this server has the store open, so temp files may be in use and stay. */
  readonly shared?: boolean
  /** Folders that stay open at most; all 256 unless given. */
  readonly openFolders?: number
  /** The blocks are copies, so nothing is flushed. One that a power failure has damaged is found by its hash with the first read after the start. */
  readonly isCache?: boolean
  /** Called once when a folder could not be flushed. No block may be acknowledged afterwards. */
  readonly onFatal?: (error: Error) => void
}

const folders: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, '0'),
)

const MAX_CONCURRENT_LOOKUPS = 32
const REMOVED = 'removed'

/**
 * The layout on disk that all disk stores share: one file `ab/cdef…` per block, `tmp/` for blocks not complete yet, and `removed/` for
 * retired blocks. A file gets its block id as its name by a rename once its bytes are flushed.
 */
export class BlockDirectory implements Disposable {
  readonly isCache: boolean
  readonly #directory: string
  readonly #handles: FolderHandles
  readonly #directorySync: DirectorySync

  private constructor(
    directory: string,
    handles: FolderHandles,
    { isCache = false, onFatal = () => {} }: BlockDirectoryOptions,
  ) {
    this.isCache = isCache
    this.#directory = directory
    this.#handles = handles
    this.#directorySync = new DirectorySync((folder) => handles.sync(folder), onFatal)
  }

  /** Creates the folders durably and checks that they are writable. Throws BlockStoreError. */
  static async open(options: BlockDirectoryOptions): Promise<BlockDirectory> {
    const { directory, shared = false, openFolders = folders.length } = options
    const handles = new FolderHandles(openFolders)
    const temporary = path.join(directory, 'tmp')
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Temp files hold blocks that were never acknowledged (I4).
      if (!shared) await rm(temporary, { recursive: true, force: true })
      await mkdir(temporary, { recursive: true, mode: 0o700 })
      await mkdir(path.join(directory, REMOVED), { recursive: true, mode: 0o700 })
      await createFolders(directory)
      handles.openAll(folders.map((name) => path.join(directory, name)))
      const trial = path.join(temporary, `trial-${randomUUID()}`)
      await writeFile(trial, '', { mode: 0o600 })
      await rm(trial)
    } catch (cause) {
      handles[Symbol.dispose]()
      throw new BlockStoreError(
        `Blocks cannot be kept in ${directory} (${codeOf(cause)}): make it a folder this account may write to.`,
        { cause },
      )
    }
    return new BlockDirectory(directory, handles, options)
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

  /** The paths that are needed to adopt a file. */
  adopted({ id, file }: BlockFile): AdoptedFile {
    return {
      id,
      source: file,
      target: this.fileOf(id),
      retired: this.#removedFileOf(id),
      temporary: this.newTemporary(),
    }
  }

  /**
   * Flushes everything on the file system of this folder, with one call instead of one for each file. Files whose ctime is before the result, in
   * milliseconds, are durable: minus infinity if that could not be done. Throws BlockStoreError.
   */
  async flushFileSystem(): Promise<number> {
    const before = await writing(UNNAMED, this.#fileSystemTimeMs())
    return (await syncFileSystem(this.#directory)) ? before : -Infinity
  }

  /** Resolves once the folder entry of a block is durable. */
  async sync(id: BlockId): Promise<void> {
    if (this.isCache) return
    await writing(id, this.#directorySync.sync(path.dirname(this.fileOf(id))))
  }

  /** In bytes. Throws BlockMissing. */
  size(id: BlockId): Promise<number> {
    return this.opened(id, async (file) => (await stat(file)).size)
  }

  /** In bytes; undefined if there is no such block. */
  async findSize(id: BlockId): Promise<number | undefined> {
    try {
      return await this.size(id)
    } catch (error) {
      if (error instanceof BlockMissing) return undefined
      throw error
    }
  }

  /** The result of `open` for the file of a block. A retired block is taken back first. Throws BlockMissing. */
  async opened<T>(id: BlockId, open: (file: string) => Promise<T>): Promise<T> {
    const file = this.fileOf(id)
    try {
      return await reading(id, open(file))
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
    }
    // Whether or not it was retired: another call may just have taken it back.
    await this.restore(id)
    return reading(id, open(file))
  }

  #removedFileOf(id: BlockId): string {
    return path.join(this.#directory, REMOVED, id)
  }

  async retire(id: BlockId): Promise<void> {
    await removing(id, renameIfThere(this.fileOf(id), this.#removedFileOf(id)))
  }

  /** False if it is not retired. Both files, if there are two, have the same bytes. */
  async restore(id: BlockId): Promise<boolean> {
    const isRestored = await writing(id, renameIfThere(this.#removedFileOf(id), this.fileOf(id)))
    if (isRestored) await this.sync(id)
    return isRestored
  }

  /** All retired block ids, ascending. */
  async *listRetired(): AsyncGenerator<BlockId, void> {
    const names = await readdir(path.join(this.#directory, REMOVED))
    for (const name of names.sort()) {
      const id = parseBlockId(name)
      if (id !== undefined) yield id
    }
  }

  /** Resolves to the size of the deleted file. */
  async discard(id: BlockId): Promise<number> {
    const file = this.#removedFileOf(id)
    const found = await stat(file).catch(() => undefined)
    await removing(id, rm(file, { force: true }))
    return found?.size ?? 0
  }

  /** Deletes temp files that have not changed for `idleSeconds`. */
  async deleteLeftovers(idleSeconds: number): Promise<number> {
    const folder = path.join(this.#directory, 'tmp')
    const names = await readdir(folder)
    if (names.length === 0) return 0
    // The clock of this machine may differ from that of the file system. Comparing the two could delete the file of a running upload.
    const before = (await this.#fileSystemTimeMs()) - idleSeconds * 1000
    let bytes = 0
    for (const name of names) {
      const file = path.join(folder, name)
      const found = await stat(file).catch(() => undefined)
      if (found === undefined || Math.max(found.mtimeMs, found.ctimeMs) >= before) continue
      await removeTemporary(file)
      bytes += found.size
    }
    return bytes
  }

  /** The time that the file system gives to a new file. */
  async #fileSystemTimeMs(): Promise<number> {
    const file = this.newTemporary()
    try {
      await writeFile(file, '', { mode: 0o600 })
      return (await stat(file)).ctimeMs
    } finally {
      await removeTemporary(file)
    }
  }

  /** No call may be in progress. */
  [Symbol.dispose](): void {
    this.#handles[Symbol.dispose]()
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

/** False if there is no such file. */
async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** A temp file that cannot be removed now is removed at the next start. */
export async function removeTemporary(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {})
}

/** Creates the folders of a store again after somebody deleted them. */
export async function recreateFolders(directory: string): Promise<void> {
  for (const name of ['tmp', REMOVED, ...folders]) {
    await mkdir(path.join(directory, name), { recursive: true, mode: 0o700 })
  }
}

// All folders are created at the start, so that a put has to flush only an entry, never a folder.
async function createFolders(directory: string) {
  const present = new Set(await readdir(directory))
  for (const folder of folders.filter((name) => !present.has(name))) {
    await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 })
  }
  // At every start: the process that created the folders may have died before it flushed them.
  using parents = new FolderHandles(0)
  await parents.sync(directory)
  await parents.sync(path.dirname(path.resolve(directory)))
}

/**
 * Flushes everything on the file system of a folder, by the program sync, because Node has no call for it. False if that is not possible: there is
 * no such program, it reports a failure, or this is not Linux, where it may return before the bytes are on the disk.
 */
export function syncFileSystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false)
  return new Promise((resolve) => {
    execFile('sync', ['-f', folder], (error) => resolve(error === null))
  })
}

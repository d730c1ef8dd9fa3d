import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { codeOf, createFolder, syncFolder } from './durable-folders.ts'
import { BackupError, type BackupTarget, ObjectMissing, type TargetObject, UNFINISHED } from './target.ts'

/** A folder of the file system. Files are readable by their owner only. */
export class FolderTarget implements BackupTarget {
  readonly place: string
  readonly #folder: string
  readonly #created = new Set<string>()

  constructor(folder: string) {
    this.#folder = path.resolve(folder)
    this.place = this.#folder
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(name)
    const temporary = this.#fileOf(UNFINISHED + randomUUID())
    try {
      await this.#createFolder(path.dirname(temporary))
      await this.#createFolder(path.dirname(file))
      await writeDurably(temporary, bytes)
      await rename(temporary, file)
      await syncFolder(path.dirname(file))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw this.#failed('written', error)
    }
  }

  async get(name: string, range?: { start: number; length: number }): Promise<Buffer> {
    try {
      await using handle = await open(this.#fileOf(name), 'r')
      if (range === undefined) return await handle.readFile()
      const bytes = Buffer.allocUnsafe(range.length)
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, range.start + at)
        if (bytesRead === 0) return bytes.subarray(0, at)
        at += bytesRead
      }
      return bytes
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw new ObjectMissing(name, this.place, { cause: error })
      throw this.#failed('read', error)
    }
  }

  async *list(prefix: string): AsyncGenerator<TargetObject, void> {
    const folder = this.#fileOf(prefix.slice(0, -1))
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []
      throw this.#failed('read', error)
    })
    for (const entry of entries) {
      const name = `${prefix}${entry.name}`
      if (entry.isDirectory()) yield* this.list(`${name}/`)
      else yield { name, size: (await stat(this.#fileOf(name))).size }
    }
  }

  async remove(name: string): Promise<void> {
    const file = this.#fileOf(name)
    try {
      await rm(file, { force: true })
      // A prune removes snapshots, then the packs that only they needed. A power failure must not bring a snapshot back without its packs.
      await syncFolder(path.dirname(file))
    } catch (error) {
      throw this.#failed('changed', error)
    }
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, ...name.split('/'))
  }

  async #createFolder(folder: string): Promise<void> {
    if (this.#created.has(folder)) return
    await createFolder(folder)
    this.#created.add(folder)
  }

  #failed(action: string, cause: unknown): BackupError {
    const code = codeOf(cause)
    const remedy =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'free some space there and run the command again, which continues where it stopped'
        : 'make it a folder this account may read and write, or name another'
    return new BackupError(`The backup folder ${this.place} cannot be ${action} (${code}): ${remedy}.`, {
      cause,
    })
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(file, 'wx', 0o600)
  await handle.writeFile(bytes)
  await handle.sync()
}

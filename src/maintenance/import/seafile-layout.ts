import fs from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type LibraryId, parseCommitId, parseLibraryId } from '../../base/objects/index.ts'
import { ImportError } from './problems.ts'

/** Takes less time on the event loop than fs/promises, and there are two calls for each commit. */
const readFile = promisify(fs.readFile)

type Kind = 'commits' | 'fs' | 'blocks'

/** The objects of one library. A virtual library has those of its origin. */
export interface SourceStore {
  readonly id: LibraryId
  /** 0 or 1. Libraries of version 0 share one store. */
  readonly version: number
}

/**
 * The data folder of a Seafile server, which is only read. Objects are at `storage/<kind>/<library>/ab/cdef…`, those of version 0 at
 * `<kind>/ab/cdef…`.
 */
export class SeafileLayout {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Accepts the data folder, or the folder of the installation with `seafile-data` in it. Throws ImportError. */
  static async open(folder: string): Promise<SeafileLayout> {
    for (const candidate of [folder, path.join(folder, 'seafile-data')]) {
      for (const sign of [path.join('storage', 'commits'), 'commits']) {
        if (await exists(path.join(candidate, sign))) return new SeafileLayout(path.resolve(candidate))
      }
    }
    throw new ImportError(
      `There are no objects of Seafile in ${folder}: name the folder that contains storage/commits, usually called seafile-data.`,
    )
  }

  /** The libraries of version 1 that have commits, ascending. */
  async listLibraries(): Promise<LibraryId[]> {
    const names = await listNames(path.join(this.folder, 'storage', 'commits'))
    return names.flatMap((name) => parseLibraryId(name) ?? [])
  }

  /** Whether a library has fs objects of its own. A virtual library has none. */
  async hasObjects(id: LibraryId): Promise<boolean> {
    return (await listNames(path.join(this.folder, 'storage', 'fs', id))).length > 0
  }

  /** The ids of all stored commits of a library; of all libraries of version 0 without an id. */
  async *listCommits(id: LibraryId | undefined): AsyncGenerator<string, void> {
    const root = this.#root('commits', id === undefined ? undefined : { id, version: 1 })
    for (const prefix of await listNames(root)) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue
      for (const rest of await listNames(path.join(root, prefix))) {
        if (parseCommitId(prefix + rest) !== undefined) yield prefix + rest
      }
    }
  }

  /** The bytes of a commit, of version 1 or else of version 0. Undefined if there is none. */
  async readCommit(library: LibraryId, id: string): Promise<Buffer | undefined> {
    const own = await read(this.#file('commits', { id: library, version: 1 }, id))
    return own ?? read(this.#file('commits', undefined, id))
  }

  /** Where the dirs and files of a library are. */
  objectFolder(store: SourceStore): string {
    return this.#root('fs', store)
  }

  /** The file of a block, which may not exist. */
  blockFile(store: SourceStore, id: string): string {
    return this.#file('blocks', store, id)
  }

  #root(kind: Kind, store: SourceStore | undefined): string {
    return store === undefined || store.version === 0
      ? path.join(this.folder, kind)
      : path.join(this.folder, 'storage', kind, store.id)
  }

  #file(kind: Kind, store: SourceStore | undefined, id: string): string {
    return objectFile(this.#root(kind, store), id)
  }
}

/** The file of an object in the folder of its kind. */
export function objectFile(folder: string, id: string): string {
  return path.join(folder, id.slice(0, 2), id.slice(2))
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** Sorted; empty for a folder that does not exist. */
async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

async function read(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** The file does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

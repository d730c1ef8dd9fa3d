import { type Dirent, type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { DutyCycle } from '../../base/scheduling/index.ts'
import { readAdded } from '../../libraries/tree/index.ts'
import { IdSet } from '../../libraries/usage/index.ts'
import type { Reader } from '../../platform/database/index.ts'

/** A place of an object: a path, and the kept commits in which it is there. */
export interface Place {
  readonly path: LibraryPath
  versions: number
  current: boolean
  newestCommit: string
  oldestCommit: string
}

/** More places are not listed: a damaged folder may be in a million commits under many names. */
const MAX_PLACES = 10_000

/**
 * Finds the paths of objects in the trees of a library. Each distinct dir is read once; below that, only dirs that contain one of the objects
 * are visited again.
 */
export class Locator {
  readonly #reader: Reader
  readonly #libraryKey: number
  readonly #wanted: ReadonlySet<string>
  readonly #dutyCycle: DutyCycle
  readonly #clean = new IdSet()
  readonly #dirty = new Map<DirId, readonly Dirent[]>()
  readonly places = new Map<string, Map<LibraryPath, Place>>()
  #count = 0

  constructor(reader: Reader, libraryKey: number, wanted: ReadonlySet<string>, dutyCycle: DutyCycle) {
    this.#reader = reader
    this.#libraryKey = libraryKey
    this.#wanted = wanted
    this.#dutyCycle = dutyCycle
  }

  /** Adds the places in the tree of a commit. Commits are visited newest first. */
  async visit(root: DirId, commit: string, isCurrent: boolean): Promise<void> {
    const note = (id: string, path: LibraryPath) => this.#note(id, path, commit, isCurrent)
    if (this.#wanted.has(root)) note(root, ROOT)
    const open: { id: DirId; path: LibraryPath }[] = [{ id: root, path: ROOT }]
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      for (const entry of await this.#entriesOf(folder.id)) {
        const path = joinPath(folder.path, entry.name)
        if (this.#wanted.has(entry.id)) note(entry.id, path)
        if (entry.kind === 'dir') open.push({ id: entry.id, path })
      }
    }
  }

  /** The entries of a dir that are wanted or lead to something wanted. */
  async #entriesOf(id: DirId): Promise<readonly Dirent[]> {
    if (id === EMPTY_ID || this.#clean.has(id)) return []
    const known = this.#dirty.get(id)
    if (known !== undefined) return known
    await this.#dutyCycle.restIfDue()
    const found: Dirent[] = []
    for (const entries of await this.#read(id)) {
      for (const entry of entries) {
        if (this.#wanted.has(entry.id)) found.push(entry)
        else if (entry.kind === 'dir' && (await this.#entriesOf(entry.id)).length > 0) found.push(entry)
      }
    }
    if (found.length === 0) this.#clean.add(id)
    else this.#dirty.set(id, found)
    return found
  }

  async #read(id: DirId): Promise<readonly (readonly Dirent[])[]> {
    try {
      return [...(await readAdded(this.#reader, this.#libraryKey, id, () => false))]
    } catch {
      // It is one of those that are looked for.
      return []
    }
  }

  #note(id: string, path: LibraryPath, commit: string, isCurrent: boolean): void {
    const places = this.places.get(id) ?? new Map<LibraryPath, Place>()
    this.places.set(id, places)
    const known = places.get(path)
    if (known !== undefined) {
      known.versions += 1
      known.current ||= isCurrent
      known.oldestCommit = commit
    } else if (this.#count < MAX_PLACES) {
      this.#count += 1
      places.set(path, { path, versions: 1, current: isCurrent, newestCommit: commit, oldestCommit: commit })
    }
  }
}

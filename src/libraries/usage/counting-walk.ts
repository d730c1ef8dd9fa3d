import { type DirId, EMPTY_ID, type FileId } from '../../base/objects/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { listBlocksOf, readAdded } from '../tree/index.ts'
import { type BlockUse, type BlockUses, UNREFERENCED } from './block-uses.ts'
import { IdSet, SeenIds } from './id-set.ts'

const FILES_PER_STEP = 256
const FILES_REMEMBERED = 2 ** 17

/** Cooperative yield (I10), as in `TimeSlicer`. */
export interface Yielding {
  readonly isDue: boolean
  rest(): Promise<void>
}

/**
 * Walks dirs and files of a library and records the use of their blocks. The callers walk uses in order of
 * precedence, so an object that was already visited is skipped.
 */
export class CountingWalk {
  readonly #reader: Reader
  readonly #libraryKey: number
  readonly #uses: BlockUses
  readonly #yielding: Yielding
  readonly #dirs = new IdSet()
  readonly #files = new SeenIds(FILES_REMEMBERED)
  readonly #waiting: FileId[] = []
  #use: BlockUse = UNREFERENCED

  constructor(reader: Reader, libraryKey: number, uses: BlockUses, yielding: Yielding) {
    this.#reader = reader
    this.#libraryKey = libraryKey
    this.#uses = uses
    this.#yielding = yielding
  }

  /** Assigns `use` to all blocks found during `lead`. */
  async as(use: BlockUse, lead: () => Promise<void>): Promise<void> {
    this.#use = use
    await lead()
    await this.#note(this.#waiting.splice(0))
  }

  /** Walks everything below a dir. */
  async below(root: DirId): Promise<void> {
    const isKnown = (dir: DirId) => this.#dirs.has(dir)
    const open: DirId[] = [root]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || !this.#dirs.add(id)) continue
      for (const entries of await readAdded(this.#reader, this.#libraryKey, id, isKnown)) {
        for (const entry of entries) {
          if (entry.kind === 'dir') open.push(entry.id)
          else this.#visit(entry.id)
        }
        await this.#flushBatches()
      }
    }
  }

  async through(file: FileId): Promise<void> {
    this.#visit(file)
    await this.#flushBatches()
  }

  #visit(file: FileId): void {
    if (file !== EMPTY_ID && this.#files.add(file)) this.#waiting.push(file)
  }

  /** A fixed batch size, so that one prepared statement is reused. */
  async #flushBatches(): Promise<void> {
    if (this.#yielding.isDue) await this.#yielding.rest()
    while (this.#waiting.length >= FILES_PER_STEP) await this.#note(this.#waiting.splice(-FILES_PER_STEP))
  }

  async #note(files: readonly FileId[]): Promise<void> {
    if (files.length === 0) return
    for (const blocks of await listBlocksOf(this.#reader, this.#libraryKey, files)) {
      for (let at = 0; at < blocks.length; at += 20) this.#uses.note(blocks, at, this.#use)
    }
    if (this.#yielding.isDue) await this.#yielding.rest()
  }
}

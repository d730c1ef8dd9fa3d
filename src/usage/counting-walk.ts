import type { Reader } from '../database/index.ts'
import { type DirId, EMPTY_ID, type FileId } from '../objects/index.ts'
import { listBlocksOf, readAdded } from '../tree/index.ts'
import { type BlockUse, type BlockUses, UNREFERENCED } from './block-uses.ts'
import { IdSet, SeenIds } from './id-set.ts'

const FILES_A_STEP = 256
const FILES_REMEMBERED = 2 ** 17

/** What keeps a walk from holding up others. */
export interface Rests {
  readonly isDue: boolean
  rest(): Promise<void>
}

/**
 * Walks through dirs and files of a library and notes what their blocks are kept for. It is led through what goes
 * first before what goes after it, so what it meets again it need not look at again.
 */
export class CountingWalk {
  readonly #reader: Reader
  readonly #libraryKey: number
  readonly #uses: BlockUses
  readonly #rests: Rests
  readonly #dirs = new IdSet()
  readonly #files = new SeenIds(FILES_REMEMBERED)
  readonly #waiting: FileId[] = []
  #use: BlockUse = UNREFERENCED

  constructor(reader: Reader, libraryKey: number, uses: BlockUses, rests: Rests) {
    this.#reader = reader
    this.#libraryKey = libraryKey
    this.#uses = uses
    this.#rests = rests
  }

  /** All that `lead` leads through is of this use. */
  async as(use: BlockUse, lead: () => Promise<void>): Promise<void> {
    this.#use = use
    await lead()
    await this.#note(this.#waiting.splice(0))
  }

  /** Through all that is below a dir. */
  async below(root: DirId): Promise<void> {
    const isKnown = (dir: DirId) => this.#dirs.has(dir)
    const open: DirId[] = [root]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || !this.#dirs.add(id)) continue
      for (const entries of await readAdded(this.#reader, this.#libraryKey, id, isKnown)) {
        for (const entry of entries) {
          if (entry.kind === 'dir') open.push(entry.id)
          else this.#meet(entry.id)
        }
        await this.#keepUp()
      }
    }
  }

  async through(file: FileId): Promise<void> {
    this.#meet(file)
    await this.#keepUp()
  }

  #meet(file: FileId): void {
    if (file !== EMPTY_ID && this.#files.add(file)) this.#waiting.push(file)
  }

  /** Always as many at once, so that it is always the same statement. */
  async #keepUp(): Promise<void> {
    if (this.#rests.isDue) await this.#rests.rest()
    while (this.#waiting.length >= FILES_A_STEP) await this.#note(this.#waiting.splice(-FILES_A_STEP))
  }

  async #note(files: readonly FileId[]): Promise<void> {
    if (files.length === 0) return
    for (const blocks of await listBlocksOf(this.#reader, this.#libraryKey, files)) {
      for (let at = 0; at < blocks.length; at += 20) this.#uses.note(blocks, at, this.#use)
    }
    if (this.#rests.isDue) await this.#rests.rest()
  }
}

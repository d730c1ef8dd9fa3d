import { type BlockId, type DirId, EMPTY_ID, type FileId, idToBytes } from '../../base/objects/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { blockRows } from '../../libraries/content/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { ObjectMissing, readAdded, storedObjects } from '../../libraries/tree/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { ScratchIds } from './scratch-store.ts'

/** Something that the trees of a library reach, and that is not there. */
export interface Gap {
  /** The id of the library. */
  readonly library: string
  readonly kind: 'commit' | 'object' | 'block'
  /** For a commit its number. */
  readonly id: string
}

/** For messages. Blocks are named without their library, like those that could not be read. */
export function nameOfGap({ library, kind, id }: Gap): string {
  if (kind === 'block') return `the block ${id}`
  return kind === 'commit'
    ? `the commit ${id} of the library ${library}`
    : `the object ${id} of the library ${library}`
}

const PAGE = 500
/** Gaps of one library. The rest is not listed. */
const MOST = 1000

/**
 * The gaps of the libraries in a database, those in the trash included, or of those in a range of keys. `hasBlock` tells whether the bytes of a block are
 * there.
 */
export async function findGaps(
  reader: Reader,
  hasBlock: (id: BlockId, libraryKey: number) => boolean,
  range: { readonly after: number; readonly last: number } = { after: 0, last: Number.MAX_SAFE_INTEGER },
): Promise<Gap[]> {
  const gaps: Gap[] = []
  for (let { after } = range; ; ) {
    const keys = await libraryRows.listAllKeys(reader, after, PAGE)
    for (const key of keys) {
      if (key > range.last) return gaps
      gaps.push(...(await findGapsOf(reader, key, hasBlock)))
    }
    after = keys.at(-1) ?? 0
    if (after === 0) return gaps
  }
}

/**
 * The gaps of one library: what its commits reach, from the oldest that may be shown to the head. A library without commits is being restored. Memory does not grow with
 * the library.
 */
export async function findGapsOf(
  reader: Reader,
  key: number,
  hasBlock: (id: BlockId, libraryKey: number) => boolean,
): Promise<Gap[]> {
  const library = await libraryRows.findWithDeleted(reader, key)
  if (library === undefined || library.headSeq === 0) return []
  const gaps: Gap[] = []
  const add = (kind: Gap['kind'], id: string) => {
    if (gaps.length < MOST) gaps.push({ library: library.id, kind, id })
  }
  using walk = new Walk(reader, key, hasBlock, add)
  for (let from = Math.max(1, library.validSinceSeq); from <= library.headSeq; from += PAGE) {
    const to = Math.min(from + PAGE - 1, library.headSeq)
    const commits = (await commitRows.listDown(reader, library, to, from)).toReversed()
    const found = new Set(commits.map(({ seq }) => seq))
    for (let seq = from; seq <= to; seq++) if (!found.has(seq)) add('commit', String(seq))
    // Oldest first: each tree then shares most dirs with the one before.
    for (const { rootId } of commits) await walk.below(rootId)
  }
  await walk.below(library.root)
  await walk.end()
  return gaps
}

class Walk implements Disposable {
  readonly #reader: Reader
  readonly #key: number
  readonly #hasBlock: (id: BlockId, libraryKey: number) => boolean
  readonly #onGap: (kind: Gap['kind'], id: string) => void
  readonly #seen = new ScratchIds()
  #files: FileId[] = []

  constructor(
    reader: Reader,
    key: number,
    hasBlock: (id: BlockId, libraryKey: number) => boolean,
    onGap: (kind: Gap['kind'], id: string) => void,
  ) {
    this.#reader = reader
    this.#key = key
    this.#hasBlock = hasBlock
    this.#onGap = onGap
  }

  [Symbol.dispose](): void {
    this.#seen[Symbol.dispose]()
  }

  async below(root: DirId): Promise<void> {
    const open: DirId[] = [root]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || this.#seen.has(idToBytes(id))) continue
      for (const entries of await this.#entriesOf(id)) {
        for (const entry of entries) {
          if (entry.kind === 'dir') open.push(entry.id)
          else if (entry.id !== EMPTY_ID && this.#seen.add(idToBytes(entry.id))) this.#files.push(entry.id)
        }
        if (this.#files.length >= PAGE) await this.#inspect()
      }
      // Not before it was read: what it adds to its own base is all of it.
      this.#seen.add(idToBytes(id))
    }
  }

  end(): Promise<void> {
    return this.#inspect()
  }

  async #entriesOf(id: DirId): ReturnType<typeof readAdded> {
    try {
      return await readAdded(this.#reader, this.#key, id, (base) => this.#seen.has(idToBytes(base)))
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error
      this.#onGap('object', error.id)
      return []
    }
  }

  /** The objects of the files found since, and their blocks. */
  async #inspect(): Promise<void> {
    const blocks: BlockId[] = []
    for (const [id, file] of await storedObjects.inspectFiles(this.#reader, this.#key, this.#files)) {
      if ('problem' in file) this.#onGap('object', id)
      else for (const block of file.blockIds) if (this.#seen.add(idToBytes(block))) blocks.push(block)
    }
    this.#files = []
    for (let start = 0; start < blocks.length; start += PAGE) {
      const some = blocks.slice(start, start + PAGE)
      const held = await blockRows.findHeld(this.#reader, this.#key, some, { orCondemned: true })
      for (const id of some) if (!held.has(id) || !this.#hasBlock(id, this.#key)) this.#onGap('block', id)
    }
  }
}

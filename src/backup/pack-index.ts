/** The kind of a blob: a block of a file (its id is its SHA-1), or rows of a table and lists of them (SHA-256). */
export type BlobKind = 'block' | 'rows'

/** A blob within a pack. */
export interface BlobPlace {
  readonly pack: string
  /** Number within the pack. Part of the nonce if encrypted. */
  readonly part: number
  readonly offset: number
  readonly length: number
}

/** A pack as index objects list it: its blobs in order, each `[kind, id, stored length]`. */
export interface PackEntry {
  readonly id: string
  readonly size: number
  /** Where the first blob begins. */
  readonly start: number
  readonly blobs: readonly (readonly [kind: BlobKind, id: string, length: number])[]
}

/** All blobs of a target by kind and id. */
export class PackIndex {
  readonly #packs = new Map<string, PackEntry>()
  readonly #blobs = new Map<string, BlobPlace>()

  get packs(): ReadonlyMap<string, PackEntry> {
    return this.#packs
  }

  add(pack: PackEntry): void {
    if (this.#packs.has(pack.id)) return
    this.#packs.set(pack.id, pack)
    let offset = pack.start
    for (const [part, [kind, id, length]] of pack.blobs.entries()) {
      const key = kind + id
      if (!this.#blobs.has(key)) this.#blobs.set(key, { pack: pack.id, part, offset, length })
      offset += length
    }
  }

  find(kind: BlobKind, id: string): BlobPlace | undefined {
    return this.#blobs.get(kind + id)
  }
}

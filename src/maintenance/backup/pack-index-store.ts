import { openScratch } from './scratch-store.ts'

/** The kind of a blob: a block of a file (its id is its SHA-1), or rows of a table and lists of them (SHA-256). Ids differ in length by kind. */
export type BlobKind = 'block' | 'rows'

/** A blob within a pack. */
export interface BlobPlace {
  readonly pack: string
  readonly packSize: number
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

const BLOCK_ID_BYTES = 20

interface PackRow {
  key: number
  id: Uint8Array
  size: number
  /** Null if no index object lists the pack. */
  start: number | null
}

type ListedRow = PackRow & { start: number }

/** All blobs of a target by id, in a temporary file: memory does not grow with their number. */
export class PackIndex implements Disposable {
  readonly #file = openScratch(
    `create table pack (key integer primary key, id blob not null unique, size integer not null, start integer);
     create table blob (pack integer not null, part integer not null, id blob not null, start integer not null,
       length integer not null, primary key (pack, part)) without rowid;
     create index blob_by_id on blob (id)`,
  )
  readonly #putPack = this.#file.prepare('insert or ignore into pack (id, size) values (?, ?)')
  readonly #findPack = this.#file.prepare('select key, id, size, start from pack where id = ?')
  readonly #listPack = this.#file.prepare('update pack set start = ? where key = ?')
  readonly #nextPack = this.#file.prepare(
    'select key, id, size, start from pack where key > ? and start is not null order by key limit 1',
  )
  readonly #putBlob = this.#file.prepare(
    'insert into blob (pack, part, id, start, length) values (?, ?, ?, ?, ?)',
  )
  readonly #findBlob = this.#file.prepare(
    `select p.id as pack, p.size as packSize, b.part, b.start as offset, b.length
     from blob b join pack p on p.key = b.pack where b.id = ? order by b.pack limit 1`,
  )
  readonly #blobsOf = this.#file.prepare('select id, length from blob where pack = ? order by part')
  readonly #sumListed = this.#file.prepare('select total(size) as bytes from pack where start is not null')
  readonly #findUnlisted = this.#file.prepare('select 1 from pack where start is null limit 1')
  #count = 0

  /** How many packs are listed. */
  get count(): number {
    return this.#count
  }

  /** The size of all packs that are listed. */
  get bytes(): number {
    return this.#sumListed.get()?.['bytes'] as number
  }

  /** Whether all packs that were found are listed. */
  get isComplete(): boolean {
    return this.#findUnlisted.get() === undefined
  }

  /** Notes that the target has a pack. */
  found(id: string, size: number): void {
    this.#putPack.run(Buffer.from(id, 'hex'), size)
  }

  /** The size of a pack in the target; undefined if it is not there. */
  sizeOf(id: string): number | undefined {
    return this.#rowOf(id)?.size
  }

  /** Lists the blobs of a pack that was found. Repeating is not an error. */
  add(pack: PackEntry): void {
    const row = this.#rowOf(pack.id)
    if (row === undefined || row.start !== null) return
    this.#listPack.run(pack.start, row.key)
    this.#count += 1
    let offset = pack.start
    for (const [part, [, id, length]] of pack.blobs.entries()) {
      this.#putBlob.run(row.key, part, Buffer.from(id, 'hex'), offset, length)
      offset += length
    }
  }

  /** Of several packs with the blob, the first that was listed. */
  find(id: string): BlobPlace | undefined {
    const row = this.#findBlob.get(Buffer.from(id, 'hex')) as
      | (Omit<BlobPlace, 'pack'> & { pack: Uint8Array })
      | undefined
    return row && { ...row, pack: hexOf(row.pack) }
  }

  /** Whether a pack is listed. */
  has(id: string): boolean {
    return (this.#rowOf(id)?.start ?? null) !== null
  }

  /** All listed packs, one at a time. */
  *packs(): Generator<PackEntry, void> {
    for (let key = 0; ; ) {
      const row = this.#nextPack.get(key) as ListedRow | undefined
      if (row === undefined) return
      key = row.key
      yield this.#entryOf(row)
    }
  }

  /** Those of some packs that are listed. */
  *entries(ids: Iterable<string>): Generator<PackEntry, void> {
    for (const id of ids) {
      const row = this.#rowOf(id)
      if (row !== undefined && isListed(row)) yield this.#entryOf(row)
    }
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }

  #rowOf(id: string): PackRow | undefined {
    return this.#findPack.get(Buffer.from(id, 'hex')) as PackRow | undefined
  }

  #entryOf({ key, id, size, start }: ListedRow): PackEntry {
    const blobs = this.#blobsOf.all(key) as { id: Uint8Array; length: number }[]
    return {
      id: hexOf(id),
      size,
      start,
      blobs: blobs.map((blob) => [
        blob.id.length === BLOCK_ID_BYTES ? 'block' : 'rows',
        hexOf(blob.id),
        blob.length,
      ]),
    }
  }
}

function isListed(row: PackRow): row is ListedRow {
  return row.start !== null
}

function hexOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.length).toString('hex')
}

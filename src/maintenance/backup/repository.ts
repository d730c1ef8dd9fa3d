import { createHash, randomBytes } from 'node:crypto'
import { BackupCipher, SALT_LENGTH, type WrappedKey } from './cipher.ts'
import { pack, unpack } from './compression.ts'
import { listBroken, type TargetLock } from './lock.ts'
import { parseOwnJson } from './own-json.ts'
import { type BlobKind, type BlobPlace, type PackEntry, PackIndex } from './pack-index-store.ts'
import { BackupError, type BackupTarget, ObjectDamaged, ObjectMissing, WrongPassphrase } from './target.ts'

const FORMAT = 1
const HEADER = 'carrel-backup.json'
/** A pack is written when it has this many bytes. */
const PACK_BYTES = 16 * 2 ** 20
/** A larger blob is a pack of its own, so that prune can remove it without copying its neighbours. */
const ALONE_BYTES = 2 ** 20
const PACKS_PER_INDEX = 32
/** Bound the memory for tiny blobs: their ids take more than their bytes. */
const BLOBS_PER_PACK = 10_000
const BLOBS_PER_INDEX = 50_000
const INDEX_AFTER_MS = 20_000
const CACHED_PACKS = 4

interface Header {
  readonly format: number
  readonly createdAt: string
  readonly encryption: WrappedKey | null
}

interface PackBuilder {
  readonly salt: Buffer
  /** Only the first `size` bytes are in use. */
  bytes: Buffer
  readonly blobs: [BlobKind, string, number][]
  readonly keys: Set<string>
  size: number
}

/**
 * The content of a backup target: blobs under the hash of their bytes, stored once, in packs; index objects that say which pack has which blob; and
 * the manifests of snapshots. A blob may be relied on once `flush` has resolved: packs are durable before the index that lists them.
 */
export class BackupRepository {
  readonly target: BackupTarget
  readonly isEncrypted: boolean
  readonly #cipher: BackupCipher | undefined
  #index = new PackIndex()
  #builder: PackBuilder | undefined
  readonly #writing = new Map<string, Promise<void>>()
  /** Packs that no index object lists yet, and how many blobs they have. Their blobs are in the index. */
  readonly #unlisted = new Set<string>()
  #unlistedBlobs = 0
  #listedAt = performance.now()
  readonly #cache = new Map<string, Promise<Buffer>>()
  #lock: TargetLock | undefined
  /** The packs that a command which stood still may remove when it goes on. */
  #doomed: ReadonlySet<string> = new Set()
  #isWhole = false
  /** Bytes written to packs by this process. */
  writtenBytes = 0

  private constructor(target: BackupTarget, cipher: BackupCipher | undefined) {
    this.target = target
    this.#cipher = cipher
    this.isEncrypted = cipher !== undefined
  }

  /** Opens the content of a target. With `create`, an empty target is prepared for backups, encrypted if there is a passphrase. */
  static async open(
    target: BackupTarget,
    { passphrase, create = false }: { passphrase?: string | undefined; create?: boolean } = {},
  ): Promise<BackupRepository> {
    const header = await findHeader(target)
    if (header === undefined && !create) {
      throw new BackupError(
        `There is no backup in ${target.place}: name the target that carrel backup wrote.`,
      )
    }
    const cipher =
      header === undefined ? await initialize(target, passphrase) : await unlock(target, header, passphrase)
    const repository = new BackupRepository(target, cipher)
    await repository.reload()
    return repository
  }

  /** Whether everything that earlier backups wrote is there: no pack is missing, in doubt, or without an index object that lists it. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  get index(): PackIndex {
    return this.#index
  }

  /**
   * Reads the index again. Nothing may be unwritten. Packs that are missing or have another size do not count: another pack may have the same blobs. Returns them,
   * with their present size.
   */
  async reload(): Promise<
    { readonly id: string; readonly size: number; readonly found: number | undefined }[]
  > {
    const index = new PackIndex()
    const unusable: { id: string; size: number; found: number | undefined }[] = []
    for await (const { name, size } of this.target.list('packs/')) index.found(packIdOf(name), size)
    for await (const { name } of this.target.list('index/')) {
      const { packs } = parseOwnJson<{ packs: PackEntry[] }>(await this.readSealed(name))
      for (const entry of packs) {
        const { id, size } = entry
        const found = index.sizeOf(id)
        if (found !== size) unusable.push({ id, size, found })
        else if (!this.#doomed.has(packName(id))) index.add(entry)
      }
    }
    this.#index[Symbol.dispose]()
    this.#index = index
    this.#isWhole = unusable.length === 0 && index.isComplete
    return unusable
  }

  /**
   * Prepares for a backup under `lock`. Packs that a command which lost its lock may still remove do not count either, so that the backup writes their blobs
   * again.
   */
  async beginWriting(lock: TargetLock): Promise<void> {
    this.#lock = lock
    this.#doomed = new Set((await listBroken(this.target)).flatMap(({ removing = [] }) => removing))
    await this.reload()
  }

  /** Throws BackupError if the lock is lost, or if a pack that this process found or wrote is gone. */
  async assertWritten(): Promise<void> {
    await this.#lock?.assertHeld()
    let present = 0
    for await (const { name, size } of this.target.list('packs/')) {
      const id = packIdOf(name)
      if (this.#index.has(id) && this.#index.sizeOf(id) === size) present += 1
    }
    if (present === this.#index.count) return
    throw new BackupError(
      `Packs were removed from ${this.target.place} while the backup ran: run the backup again. Nothing is lost.`,
    )
  }

  has(kind: BlobKind, id: string): boolean {
    return this.#builder?.keys.has(kind + id) === true || this.#index.find(id) !== undefined
  }

  /** Stores a blob unless it is stored already. Durable after `flush`. */
  async add(kind: BlobKind, id: string, bytes: Uint8Array): Promise<void> {
    if (this.has(kind, id)) return
    const packed = await pack(bytes)
    // Another call may have added it meanwhile.
    if (this.has(kind, id)) return
    if (packed.length >= ALONE_BYTES) {
      const alone = this.#newBuilder()
      this.#append(alone, kind, id, packed)
      await this.#write(alone)
      return
    }
    this.#builder ??= this.#newBuilder()
    this.#append(this.#builder, kind, id, packed)
    if (this.#builder.size >= PACK_BYTES || this.#builder.blobs.length >= BLOBS_PER_PACK) {
      const full = this.#builder
      this.#builder = undefined
      await this.#write(full)
    }
  }

  /** Stores bytes under their SHA-256, and returns it in hex. */
  async addRows(bytes: Uint8Array): Promise<string> {
    const id = createHash('sha256').update(bytes).digest('hex')
    await this.add('rows', id, bytes)
    return id
  }

  /** Resolves once all added blobs are durable and listed. */
  async flush(): Promise<void> {
    const last = this.#builder
    this.#builder = undefined
    if (last !== undefined) await this.#write(last)
    await Promise.all(this.#writing.values())
    await this.#writeIndex()
  }

  /** The bytes of a blob, verified against its id. Throws ObjectMissing and ObjectDamaged. */
  async read(kind: BlobKind, id: string): Promise<Buffer> {
    const place = this.#index.find(id)
    if (place === undefined)
      throw new ObjectMissing(`The ${kind === 'block' ? 'block' : 'part'} ${id}`, this.target.place)
    const name = packName(place.pack)
    const isSmall = place.length < ALONE_BYTES && place.packSize > place.length * 2
    const whole = isSmall ? await this.#cachedPack(name) : undefined
    const [stored, salt] =
      whole === undefined
        ? await Promise.all([
            this.target.get(name, { start: place.offset, length: place.length }),
            this.#cipher && this.target.get(name, { start: 0, length: SALT_LENGTH }),
          ])
        : [whole.subarray(place.offset, place.offset + place.length), whole.subarray(0, SALT_LENGTH)]
    try {
      const bytes = await unpack(this.#decrypt(kind, id, place, stored, salt))
      if (hashOf(kind, bytes) !== id) throw new Error('The bytes do not hash to their id.')
      return bytes
    } catch (cause) {
      throw new ObjectDamaged(name, this.target.place, { cause })
    }
  }

  /** Reads a pack and verifies it and all its blobs. Throws ObjectMissing and ObjectDamaged. */
  async verifyPack(entry: PackEntry): Promise<void> {
    const name = packName(entry.id)
    const bytes = await this.target.get(name)
    if (sha256(bytes) !== entry.id) throw new ObjectDamaged(name, this.target.place)
    const salt = bytes.subarray(0, SALT_LENGTH)
    let offset = entry.start
    for (const [part, [kind, id, length]] of entry.blobs.entries()) {
      const place = { pack: entry.id, packSize: entry.size, part, offset, length }
      try {
        const stored = bytes.subarray(offset, offset + length)
        const blob = await unpack(this.#decrypt(kind, id, place, stored, salt))
        if (hashOf(kind, blob) !== id) throw new Error('The bytes do not hash to their id.')
      } catch (cause) {
        throw new ObjectDamaged(name, this.target.place, { cause })
      }
      offset += length
    }
  }

  /** Writes a small object, encrypted if the target is. */
  async writeSealed(name: string, bytes: Uint8Array): Promise<void> {
    await this.target.put(name, this.#cipher === undefined ? withHash(bytes) : this.#cipher.seal(name, bytes))
  }

  /** Throws ObjectMissing and ObjectDamaged. */
  async readSealed(name: string): Promise<Buffer> {
    const bytes = await this.target.get(name)
    try {
      return this.#cipher === undefined ? checkedHash(bytes) : this.#cipher.unseal(name, bytes)
    } catch (cause) {
      throw new ObjectDamaged(name, this.target.place, { cause })
    }
  }

  #newBuilder(): PackBuilder {
    // A pack with the same blobs as a doomed one must not get its name.
    const salt = this.#cipher?.newSalt() ?? randomBytes(this.#doomed.size > 0 ? SALT_LENGTH : 0)
    return { salt, bytes: Buffer.from(salt), blobs: [], keys: new Set(), size: salt.length }
  }

  #append(builder: PackBuilder, kind: BlobKind, id: string, packed: Buffer): void {
    const encryptor = this.#cipher?.encryptorOf(builder.salt)
    const stored = encryptor?.encrypt(kind + id, builder.blobs.length, packed) ?? packed
    // Copied: a small Buffer keeps the 8 KiB alive that it was cut from.
    if (builder.size + stored.length > builder.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * builder.bytes.length, builder.size + stored.length))
      builder.bytes.copy(larger, 0, 0, builder.size)
      builder.bytes = larger
    }
    stored.copy(builder.bytes, builder.size)
    builder.blobs.push([kind, id, stored.length])
    builder.keys.add(kind + id)
    builder.size += stored.length
  }

  /** Writes a new pack with the given blobs, which are verified while they are copied. It is not listed yet. */
  async copyPack(blobs: PackEntry['blobs']): Promise<PackEntry> {
    const builder = this.#newBuilder()
    for (const [kind, id] of blobs) this.#append(builder, kind, id, await pack(await this.read(kind, id)))
    const bytes = builder.bytes.subarray(0, builder.size)
    const entry: PackEntry = {
      id: sha256(bytes),
      size: bytes.length,
      start: builder.salt.length,
      blobs: builder.blobs,
    }
    await this.target.put(packName(entry.id), bytes)
    return entry
  }

  // The pack is in the index of this process at once, so that no other call adds its blobs again.
  async #write({ salt, bytes: buffer, size, blobs }: PackBuilder): Promise<void> {
    const bytes = buffer.subarray(0, size)
    const entry: PackEntry = { id: sha256(bytes), size: bytes.length, start: salt.length, blobs }
    this.#index.found(entry.id, entry.size)
    this.#index.add(entry)
    const writing = this.target.put(packName(entry.id), bytes)
    this.#writing.set(entry.id, writing)
    try {
      await writing
    } finally {
      this.#writing.delete(entry.id)
    }
    this.writtenBytes += bytes.length
    this.#unlisted.add(entry.id)
    this.#unlistedBlobs += blobs.length
    const isDue = performance.now() - this.#listedAt > INDEX_AFTER_MS
    if (this.#unlisted.size >= PACKS_PER_INDEX || this.#unlistedBlobs >= BLOBS_PER_INDEX || isDue)
      await this.#writeIndex()
  }

  async #writeIndex(): Promise<void> {
    if (this.#unlisted.size === 0) return
    const packs = [...this.#index.entries(this.#unlisted)]
    this.#unlisted.clear()
    this.#unlistedBlobs = 0
    this.#listedAt = performance.now()
    await this.#lock?.assertHeld()
    await this.writeIndexObject(packs)
  }

  /** Returns the name of the object. */
  async writeIndexObject(packs: readonly PackEntry[]): Promise<string> {
    const bytes = Buffer.from(JSON.stringify({ packs }))
    const name = `index/${randomBytes(16).toString('hex')}`
    await this.writeSealed(name, bytes)
    return name
  }

  #decrypt(kind: BlobKind, id: string, place: BlobPlace, stored: Buffer, salt: Buffer | undefined): Buffer {
    if (this.#cipher === undefined) return stored
    return this.#cipher.encryptorOf(salt ?? Buffer.alloc(0)).decrypt(kind + id, place.part, stored)
  }

  #cachedPack(name: string): Promise<Buffer> {
    const known = this.#cache.get(name)
    if (known !== undefined) return known
    const reading = this.target.get(name)
    reading.catch(() => this.#cache.delete(name))
    this.#cache.set(name, reading)
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= CACHED_PACKS) break
      this.#cache.delete(oldest)
    }
    return reading
  }
}

/** The id of the pack in an object. */
export function packIdOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

/** The object that holds a pack. */
export function packName(id: string): string {
  return `packs/${id.slice(0, 2)}/${id}`
}

async function findHeader(target: BackupTarget): Promise<Header | undefined> {
  try {
    return parseOwnJson<Header>(await target.get(HEADER))
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined
    if (error instanceof SyntaxError) throw new ObjectDamaged(HEADER, target.place, { cause: error })
    throw error
  }
}

async function initialize(
  target: BackupTarget,
  passphrase: string | undefined,
): Promise<BackupCipher | undefined> {
  const made = passphrase === undefined ? undefined : await BackupCipher.create(passphrase)
  const header: Header = {
    format: FORMAT,
    createdAt: new Date().toISOString(),
    encryption: made?.wrapped ?? null,
  }
  await target.put(HEADER, Buffer.from(`${JSON.stringify(header, null, 2)}\n`))
  return made?.cipher
}

async function unlock(
  target: BackupTarget,
  { format, encryption }: Header,
  passphrase: string | undefined,
): Promise<BackupCipher | undefined> {
  if (format !== FORMAT) {
    throw new BackupError(
      `The backup in ${target.place} has format ${format}, and this version of Carrel knows ${FORMAT}: use a newer one.`,
    )
  }
  if (encryption === null) {
    if (passphrase === undefined) return undefined
    throw new WrongPassphrase(
      `The backup in ${target.place} is not encrypted: leave out the passphrase, or name another target for encrypted backups.`,
    )
  }
  if (passphrase === undefined) {
    throw new WrongPassphrase(
      `The backup in ${target.place} is encrypted: name the file with its passphrase in CARREL_BACKUP_PASSPHRASE_FILE.`,
    )
  }
  try {
    return await BackupCipher.open(passphrase, encryption)
  } catch (cause) {
    throw new WrongPassphrase(
      `The passphrase does not open the backup in ${target.place}: use the one it was made with.`,
      {
        cause,
      },
    )
  }
}

function hashOf(kind: BlobKind, bytes: Uint8Array): string {
  return createHash(kind === 'block' ? 'sha1' : 'sha256')
    .update(bytes)
    .digest('hex')
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Without encryption, the first line of a small object is the hash of the rest. */
function withHash(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`sha256 ${sha256(bytes)}\n`), bytes])
}

function checkedHash(bytes: Buffer): Buffer {
  const end = bytes.indexOf(10)
  const content = bytes.subarray(end + 1)
  if (bytes.subarray(0, end).toString() !== `sha256 ${sha256(content)}`)
    throw new Error('The hash does not match.')
  return content
}

import { setImmediate } from 'node:timers/promises'
import type { Dirent, FileDirent, FileObject } from '../../base/objects/index.ts'
import type { DataKey } from '../../libraries/content/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { countAllocated } from '../../platform/http/index.ts'
import type { BorrowedBytes } from '../../platform/storage/index.ts'
import { type ArchiveItem, walkArchive } from './archive-walk.ts'
import { isPackedFormat, packWhole, pays } from './zip/compression.ts'
import { type Deflaters, MAX_DEFLATED } from './zip/deflaters.ts'
import type { ZipEntry, ZipMethod } from './zip/records.ts'
import type { ZipWriter } from './zip/writer.ts'

/** Files up to this size are read completely, with a prefetch of a few files. */
const WHOLE_BYTES = MAX_DEFLATED
// Prefetch depth: keeps reading and deflating busy for at most 14 MiB.
const FILES_AHEAD = 6
const MAX_TURN_MS = 4

interface PackingOptions {
  /** The key of an encrypted library; undefined for a plain one. */
  readonly key: DataKey | undefined
  /** Whether the total size read so far is within the limit. */
  readonly admits: (bytes: number) => boolean | Promise<boolean>
  readonly signal: AbortSignal
  readonly deflaters: Deflaters
  /** Called after each packed file. */
  readonly onFile: () => void
}

/** The total size exceeds the limit of an archive. */
export class ArchiveTooLarge extends Error {
  override name = 'ArchiveTooLarge'
}

/** Number and size of the files in `roots`, without a tree walk. */
export async function countArchive(
  { content }: Library,
  roots: readonly Dirent[],
): Promise<{ files: number; bytes: number }> {
  let files = 0
  let bytes = 0
  const turns = new Turns()
  for (const root of roots) {
    await turns.yieldIfLong()
    const totals = await content.totalsOf(root)
    files += totals.fileCount
    bytes += totals.size
  }
  return { files, bytes }
}

/** Packs `roots` of the library's tree as it was opened. Throws ArchiveTooLarge, and the reason of the signal. */
export async function packArchive(
  library: Library,
  roots: readonly Dirent[],
  writer: ZipWriter,
  options: PackingOptions,
): Promise<void> {
  const reader = new ItemReader(library.content, options)
  const ahead: Promise<Ready>[] = []
  const writeFirst = async () => {
    const ready = await ahead.shift()
    options.signal.throwIfAborted()
    if (ready !== undefined) await write(writer, ready, options.deflaters)
    if (ready?.kind !== 'folder') options.onFile()
  }
  const turns = new Turns()
  try {
    for await (const item of walkArchive(library.tree, roots)) {
      const ready = reader.read(item)
      ready.catch(() => {}) // Reported when it is written.
      ahead.push(ready)
      if (ahead.length > FILES_AHEAD) await writeFirst()
      await turns.yieldIfLong()
    }
    while (ahead.length > 0) await writeFirst()
  } finally {
    await Promise.allSettled(ahead)
  }
}

/** An item that can be written: a folder, a file in memory, or one too long for that. */
type Ready =
  | { readonly kind: 'folder'; readonly entry: ZipEntry }
  | {
      readonly kind: 'whole'
      readonly entry: ZipEntry
      readonly bytes: Buffer
      readonly method: ZipMethod
      readonly packed: Buffer
      /** Called after writing, to return the buffer to the pool. */
      readonly release: (() => void) | undefined
    }
  | {
      readonly kind: 'long'
      readonly entry: ZipEntry
      readonly size: number
      readonly chunks: AsyncGenerator<Buffer, void>
    }

async function write(writer: ZipWriter, ready: Ready, deflaters: Deflaters): Promise<void> {
  if (ready.kind === 'folder') await writer.addFolder(ready.entry)
  else if (ready.kind === 'long') await writeLong(writer, ready, deflaters)
  else {
    await writer.addWhole(ready.entry, ready)
    ready.release?.()
    // Deflated bytes are in a new buffer.
    if (ready.method === 'deflated') countAllocated(ready.bytes.length)
  }
}

async function writeLong(
  writer: ZipWriter,
  { entry, size, chunks }: Extract<Ready, { kind: 'long' }>,
  deflaters: Deflaters,
): Promise<void> {
  try {
    const { value: first } = await chunks.next()
    const start = first ?? Buffer.alloc(0)
    const method = !isPackedFormat(entry.name) && (await pays(start, deflaters)) ? 'deflated' : 'stored'
    await writer.addStream(entry, { size, method, chunks: readAhead(start, chunks) })
  } finally {
    await chunks.return()
  }
}

/** `first` and the following chunks, with a prefetch of one. */
async function* readAhead(first: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  const readNext = () => {
    const next = rest.next()
    next.catch(() => {}) // Handled where it is awaited; on an early end nobody awaits it.
    return next
  }
  let ahead = readNext()
  yield first
  for (let step = await ahead; step.done !== true; step = await ahead) {
    ahead = readNext()
    yield step.value
  }
}

/** Reads the files and enforces the limit, because a synced dirent may state a wrong size. */
class ItemReader {
  readonly #content: Library['content']
  readonly #options: PackingOptions
  #bytes = 0

  constructor(content: Library['content'], options: PackingOptions) {
    this.#content = content
    this.#options = options
  }

  async read({ entry, file }: ArchiveItem): Promise<Ready> {
    if (file === undefined) return { kind: 'folder', entry }
    const object = await this.#open(file)
    if (object.size > WHOLE_BYTES)
      return { kind: 'long', entry, size: object.size, chunks: this.#chunks(object) }
    const { bytes, release } = await this.#whole(object)
    const packed = await packWhole(entry.name, bytes, this.#options.deflaters)
    return { kind: 'whole', entry, bytes, release, ...packed }
  }

  async #open(file: FileDirent): Promise<FileObject> {
    const object = await this.#content.getFile(file.id)
    this.#bytes += object.size
    if (!(await this.#options.admits(this.#bytes))) throw new ArchiveTooLarge()
    return object
  }

  async #whole(object: FileObject): Promise<BorrowedBytes> {
    const { key, signal } = this.#options
    signal.throwIfAborted()
    if (object.size === 0) return { bytes: Buffer.alloc(0), release: undefined }
    return this.#content.readWhole(object, key)
  }

  async *#chunks(object: FileObject): AsyncGenerator<Buffer, void> {
    const { key, signal } = this.#options
    for await (const chunk of this.#content.read(object, undefined, key)) {
      signal.throwIfAborted()
      yield chunk
    }
  }
}

/** Yields to the event loop, because a walk of cached dirs never waits (I10). */
class Turns {
  #since = performance.now()

  async yieldIfLong(): Promise<void> {
    if (performance.now() - this.#since < MAX_TURN_MS) return
    await setImmediate()
    this.#since = performance.now()
  }
}

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fdatasync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import type { BlockId } from '../../../base/objects/index.ts'
import type { AdopterOptions, Adoption } from '../index.ts'
import { codeOf } from './disk-errors.ts'

/** A file to be adopted, and where it goes. */
export interface AdoptedFile {
  readonly id: BlockId
  readonly source: string
  /** The file of the block. */
  readonly target: string
  /** Where the block is if garbage collection retired it. */
  readonly retired: string
  /** A new name in the folder for temp files. */
  readonly temporary: string
}

/** Files to be adopted. */
export interface AdoptedFiles {
  readonly files: readonly AdoptedFile[]
  /** Files whose ctime is before are durable, in milliseconds by the clock of the file system. Minus infinity if none is known to be. */
  readonly flushedBeforeMs: number
}

/** The block could not be stored. Not an Error, because it passes between threads. */
interface FailedAdoption {
  readonly how: 'failed'
  readonly code: string
  readonly message: string
}

/** What became of a file. */
export type Adopted = Adoption | FailedAdoption

/** A file that is verified, under its temporary name unless nothing is to be stored. */
interface Verified {
  readonly adoption: Adoption
  /** Open if its bytes have to be flushed; undefined if they are durable, or there are none. */
  readonly fd: number | undefined
}

const CHUNK_BYTES = 1024 * 1024

/**
 * Stores files as blocks. It shares or copies a file under a temporary name, verifies what it shared or copied, flushes its bytes unless they are
 * durable, and renames it to its block id. The folder is left to be flushed by the caller. All calls except the flush are synchronous, so that the ten
 * short calls for each file do not pass through the thread pool. It runs in a thread, or in a process that may wait.
 */
export class FileAdopter {
  readonly #options: AdopterOptions
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  /** Turned off by the first file that shows that the file system cannot: the others are on the same one. */
  #clones: boolean
  #links: boolean

  constructor(options: AdopterOptions) {
    this.#options = options
    this.#clones = !options.copy
    this.#links = !options.copy
  }

  /** `flushedBeforeMs` is as in AdoptedFiles. A promise if the file has to be flushed: the next one can be adopted meanwhile. */
  adopt(file: AdoptedFile, flushedBeforeMs: number): Adopted | Promise<Adopted> {
    try {
      const { adoption, fd } = this.#adopt(file, flushedBeforeMs)
      if (fd !== undefined) return flushAndPublish(file, adoption, fd)
      publish(file, adoption)
      return adoption
    } catch (error) {
      return failureOf(file, error)
    }
  }

  #adopt(file: AdoptedFile, flushedBeforeMs: number): Verified {
    const { id, source, temporary } = file
    const found = findStats(source)
    if (found === undefined || !found.isFile()) return withoutFile({ how: 'missing' })
    if (found.size === 0) return withoutFile({ how: 'damaged' })
    if (found.size < this.#options.returnBelow) {
      return withoutFile({ how: 'returned', bytes: readShort(id, source, found.size) })
    }
    if (isPresent(file, found.size)) return withoutFile({ how: 'present', size: found.size })
    const how = this.#share(source, temporary)
    if (how === undefined) return this.#copy(file)
    // A reflink is a new file. The other program may have written the bytes of a hard link a moment ago.
    const isDurable = ({ ino, mtimeMs }: Stats) =>
      how === 'hard link' &&
      ino === found.ino &&
      mtimeMs === found.mtimeMs &&
      // From before the file was linked, which changes its ctime.
      found.ctimeMs < flushedBeforeMs
    return this.#verifyShared(file, how, isDurable)
  }

  /** Undefined if the file system can neither clone the file nor link it. */
  #share(source: string, target: string): 'reflink' | 'hard link' | undefined {
    if (this.#clones) {
      const code = codeOfFailed(() =>
        copyFileSync(source, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL),
      )
      if (code === undefined) return 'reflink'
      // What a file system that cannot clone leaves behind.
      removeTemporary(target)
      if (UNSUPPORTED.has(code)) this.#clones = false
    }
    if (this.#links) {
      const code = codeOfFailed(() => linkSync(source, target))
      if (code === undefined) return 'hard link'
      if (UNSUPPORTED.has(code)) this.#links = false
    }
    return undefined
  }

  /** Throws DamagedSource. */
  #verifyShared(
    { id, temporary }: AdoptedFile,
    how: 'reflink' | 'hard link',
    isDurable: (stats: Stats) => boolean,
  ): Verified {
    const fd = openSource(temporary)
    const size = closedOnError(fd, () => this.#verify(id, fd, () => {}))
    const isFlushed = closedOnError(fd, () => isDurable(fstatSync(fd)))
    if (isFlushed) closeSync(fd)
    return { adoption: { how, size }, fd: isFlushed ? undefined : fd }
  }

  /** Reads, hashes and writes in one pass. Throws DamagedSource. */
  #copy({ id, source, temporary }: AdoptedFile): Verified {
    const from = openSource(source)
    try {
      const fd = openSync(temporary, 'wx', 0o600)
      return closedOnError(fd, () => {
        const size = this.#verify(id, from, (bytes) => writeAll(fd, bytes))
        return { adoption: { how: 'copy', size }, fd }
      })
    } finally {
      closeSync(from)
    }
  }

  /** Passes all bytes of a file on and returns how many there are. Throws DamagedSource if they do not hash to `id`. */
  #verify(id: BlockId, fd: number, onBytes: (bytes: Buffer) => void): number {
    const hash = createHash('sha1')
    let size = 0
    for (let length = readSource(fd, this.#chunk); length > 0; length = readSource(fd, this.#chunk)) {
      const bytes = this.#chunk.subarray(0, length)
      hash.update(bytes)
      onBytes(bytes)
      size += length
    }
    if (hash.digest('hex') !== id) throw new DamagedSource('its bytes do not hash to its id')
    return size
  }
}

/** The source cannot be read, or its bytes do not hash to the id. */
class DamagedSource extends Error {}

function withoutFile(adoption: Adoption): Verified {
  return { adoption, fd: undefined }
}

function closedOnError<T>(fd: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

async function flushAndPublish(file: AdoptedFile, adoption: Adoption, fd: number): Promise<Adopted> {
  try {
    try {
      await flush(fd)
    } finally {
      closeSync(fd)
    }
    publish(file, adoption)
    return adoption
  } catch (error) {
    return failureOf(file, error)
  }
}

function flush(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))
  })
}

/** Gives a durable file its name, if one is to be stored. */
function publish({ temporary, target }: AdoptedFile, { how }: Adoption): void {
  if (how !== 'copy' && how !== 'reflink' && how !== 'hard link') return
  renameSync(temporary, target)
  // Renaming one hard link to another of the same file leaves both.
  if (how === 'hard link' && existsSync(temporary)) removeTemporary(temporary)
}

function failureOf({ temporary }: AdoptedFile, error: unknown): Adopted {
  removeTemporary(temporary)
  if (error instanceof DamagedSource) return { how: 'damaged' }
  return { how: 'failed', code: codeOf(error), message: String(error) }
}

/** Codes of a path that names nothing. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

/** Codes of a file system that cannot clone or link, or of two file systems. Others may concern one file, such as too many links. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'EXDEV',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'ENOTTY',
  'EINVAL',
])

/** Of one file: it has too many links, or belongs to another account, and the kernel protects it from links. */
const NOT_SHAREABLE: ReadonlySet<string> = new Set(['EMLINK', 'EPERM', 'EACCES'])

/** Undefined if `share` succeeded. Throws what a copy would not avoid. */
function codeOfFailed(share: () => void): string | undefined {
  try {
    share()
    return undefined
  } catch (error) {
    const code = codeOf(error)
    if (UNSUPPORTED.has(code) || NOT_SHAREABLE.has(code)) return code
    throw error
  }
}

/** Undefined if there is no such file. One that cannot be looked at is not missing: it throws. */
function findStats(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return undefined
    throw error
  }
}

/** A temp file that cannot be removed now is removed at the next start. */
function removeTemporary(file: string): void {
  try {
    unlinkSync(file)
  } catch {}
}

/** Whether the block is stored in this length. A retired one is taken back. */
function isPresent({ target, retired }: AdoptedFile, size: number): boolean {
  const stored = statSync(target, { throwIfNoEntry: false })
  if (stored !== undefined) return stored.size === size
  // An error costs more than this look.
  if (!existsSync(retired)) return false
  try {
    renameSync(retired, target)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  return statSync(target).size === size
}

/** Throws DamagedSource. */
function readShort(id: BlockId, file: string, size: number): Buffer {
  // Memory of its own, so that it can be transferred to another thread.
  const bytes = Buffer.allocUnsafeSlow(size)
  const fd = openSource(file)
  try {
    for (let at = 0; at < size; ) {
      const length = readSource(fd, bytes.subarray(at))
      if (length === 0) throw new DamagedSource('it was cut short')
      at += length
    }
  } finally {
    closeSync(fd)
  }
  if (createHash('sha1').update(bytes).digest('hex') !== id) {
    throw new DamagedSource('its bytes do not hash to its id')
  }
  return bytes
}

function openSource(file: string): number {
  return ofSource(() => openSync(file, 'r'))
}

/** Reads on from the current position. */
function readSource(fd: number, buffer: Buffer): number {
  return ofSource(() => readSync(fd, buffer))
}

/** Throws DamagedSource if the disk of the source cannot be read. */
function ofSource(read: () => number): number {
  try {
    return read()
  } catch (cause) {
    if (codeOf(cause) === 'EIO') throw new DamagedSource('the disk cannot read it', { cause })
    throw cause
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

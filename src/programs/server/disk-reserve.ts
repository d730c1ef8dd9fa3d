import { randomFillSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Fault } from '../../base/errors.ts'
import type { Logger } from '../../base/logging.ts'
import { freeBytesIn, MIN_FREE_BYTES, releaseReserveFile } from '../../platform/data-folder/index.ts'

interface DiskReserveOptions {
  readonly file: string
  /** 0 for no reserve. */
  readonly bytes: number
  /** Whether no other process uses the file yet, so that an unfinished one is a leftover. */
  readonly isAlone: boolean
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

const POLL_MS = 5000
/** How long a look at the file and at the free space is valid. */
const LOOK_MS = 20
const CHUNK_BYTES = 2 ** 20
/** An unfinished file that is older belongs to a process that was killed. */
const UNFINISHED_MS = 60_000
/** A deletion takes less than this. */
const DELETION_BYTES = 2 ** 20

/**
 * A file that keeps space for deleting, signing in and garbage collection. It is deleted when the disk is full, and created again when there
 * is space for it twice. In between the disk counts as full: what grows is refused, so that it does not take the space of the others. All
 * processes of a server share the file, and its absence tells them.
 */
export class DiskReserve implements AsyncDisposable {
  readonly #options: DiskReserveOptions
  readonly #timer: NodeJS.Timeout
  #isFull = false
  #creating: Promise<void> | undefined
  #lookedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: DiskReserveOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref()
    if (options.bytes > 0) this.#creating = this.#start()
  }

  /** Whether nothing that grows may be stored. */
  get isFull(): boolean {
    if (this.#options.bytes === 0 || this.#creating !== undefined) return false
    const now = performance.now()
    if (now - this.#lookedAtMs > LOOK_MS) {
      this.#lookedAtMs = now
      this.#look()
    }
    return this.#isFull
  }

  /** Why nothing that grows may be stored; undefined if it may. */
  get fault(): Fault | undefined {
    return this.isFull ? { code: 'disk-full', canDelete: this.canDelete } : undefined
  }

  /** Whether there is space for a deletion, now or once the reserve is released. */
  get canDelete(): boolean {
    const { bytes, file } = this.#options
    return bytes > 0 && (existsSync(file) || this.#free() > DELETION_BYTES)
  }

  /** Frees the reserved space. False if there is none. */
  release(): boolean {
    const wasFull = this.#isFull
    const isReleased = releaseReserveFile(this.#options.file)
    if (this.#options.bytes === 0 || wasFull) return isReleased
    this.#lookedAtMs = performance.now()
    this.#noteFull()
    // Another process may have released it a moment ago.
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#creating
  }

  #poll(): void {
    const { bytes } = this.#options
    if (bytes === 0 || this.isFull || this.#creating !== undefined) return
    if (this.#free() < MIN_FREE_BYTES) this.release()
  }

  #look(): void {
    const { file, bytes, logger } = this.#options
    const isHeld = existsSync(file)
    if (!isHeld && this.#free() < 2 * bytes) return this.#noteFull()
    if (this.#isFull) logger.info({ reserve: file }, 'there is disk space again')
    this.#isFull = false
    if (!isHeld) this.#creating = this.#create()
  }

  #noteFull(): void {
    if (this.#isFull) return
    this.#isFull = true
    this.#options.logger.warn(
      { reserve: this.#options.file },
      'the disk is full: the reserve is released, uploads are refused, deleting and signing in continue',
    )
  }

  async #start(): Promise<void> {
    const { file, bytes, isAlone } = this.#options
    if (isAlone) await removeLeftovers(file).catch(() => {})
    const found = await stat(file).catch(() => undefined)
    // One of another size is used until there is space for the new one.
    if (found?.size === bytes || this.#free() < 2 * bytes) this.#creating = undefined
    else await this.#create()
  }

  /** Of several processes one creates the file. */
  async #create(): Promise<void> {
    const { file, bytes, logger } = this.#options
    const unfinished = unfinishedOf(file)
    try {
      await fill(unfinished, bytes)
      await rename(unfinished, file)
    } catch (error) {
      const isOfAnother = (error as NodeJS.ErrnoException).code === 'EEXIST'
      if (isOfAnother && !(await isAbandoned(unfinished))) return
      await rm(unfinished, { force: true }).catch(() => {})
      if (!isOfAnother) logger.warn({ err: error }, 'no disk space could be reserved; trying again')
    } finally {
      this.#creating = undefined
    }
  }

  #free(): number {
    return freeBytesIn(path.dirname(this.#options.file))
  }
}

function unfinishedOf(file: string): string {
  return `${file}.unfinished`
}

async function isAbandoned(unfinished: string): Promise<boolean> {
  const found = await stat(unfinished).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > UNFINISHED_MS
}

/** Also those of an earlier version, in which each further process had a file of its own. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = path.dirname(file)
  for (const name of await readdir(folder)) {
    const isLeftover = name === path.basename(unfinishedOf(file)) || /^reserve-\d+$/.test(name)
    if (isLeftover) await rm(path.join(folder, name), { force: true })
  }
}

/** With random bytes, because a file system may compress others. Throws EEXIST if another process does it. */
async function fill(file: string, bytes: number): Promise<void> {
  const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES))
  await using handle = await open(file, 'wx', 0o600)
  for (let at = 0; at < bytes; at += CHUNK_BYTES)
    await handle.write(chunk, 0, Math.min(CHUNK_BYTES, bytes - at))
  await handle.sync()
}

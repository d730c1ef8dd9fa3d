import { randomFillSync } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from '../logging.ts'

interface DiskReserveOptions {
  readonly file: string
  /** 0 for no reserve. */
  readonly bytes: number
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

const POLL_MS = 5000
const RECHECK_MS = 1000
const CHUNK_BYTES = 2 ** 20
/** With less than this the reserve is released before a write fails. */
const MIN_FREE_BYTES = 4 * 2 ** 20

/**
 * A file that keeps space for deleting, signing in and garbage collection. It is deleted when the disk is full, and created again when there
 * is space for it twice. In between the disk counts as full: uploads are refused, so that they do not take the space of the others.
 */
export class DiskReserve implements AsyncDisposable {
  readonly #options: DiskReserveOptions
  readonly #timer: NodeJS.Timeout
  #isHeld = false
  #isReleased = false
  #creating: Promise<void> | undefined
  #checkedAtMs = 0

  constructor(options: DiskReserveOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref()
    if (options.bytes > 0) this.#creating = this.#create()
  }

  /** Whether nothing that grows may be stored. */
  get isFull(): boolean {
    if (!this.#isReleased) return false
    const now = performance.now()
    if (now - this.#checkedAtMs > RECHECK_MS) {
      this.#checkedAtMs = now
      this.#restoreIfSpace()
    }
    return this.#isReleased
  }

  /** Frees the reserved space. False if there is none. */
  release(): boolean {
    if (!this.#isHeld) return false
    this.#isHeld = false
    this.#isReleased = true
    this.#checkedAtMs = performance.now()
    rmSync(this.#options.file, { force: true })
    this.#options.logger.warn(
      { reserve: this.#options.file },
      'the disk is full: the reserve is released, uploads are refused, deleting and signing in continue',
    )
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#creating
  }

  #poll(): void {
    if (this.#isReleased || !this.#isHeld) this.#restoreIfSpace()
    else if (this.#free() < MIN_FREE_BYTES) this.release()
  }

  #restoreIfSpace(): void {
    const { bytes, logger } = this.#options
    if (bytes === 0 || this.#creating !== undefined || this.#free() < 2 * bytes) return
    if (this.#isReleased) logger.info({ reserve: this.#options.file }, 'there is disk space again')
    this.#isReleased = false
    this.#creating = this.#create()
  }

  async #create(): Promise<void> {
    const { file, bytes, logger } = this.#options
    const unfinished = `${file}.unfinished`
    try {
      const found = await stat(file).catch(() => undefined)
      if (found?.size !== bytes) {
        if (this.#free() < 2 * bytes) return
        await fill(unfinished, bytes)
        await rename(unfinished, file)
      }
      this.#isHeld = true
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      logger.warn({ err: error }, 'no disk space could be reserved; trying again')
    } finally {
      this.#creating = undefined
    }
  }

  /** Bytes. 0 if the system does not say. */
  #free(): number {
    try {
      const { bavail, bsize } = statfsSync(path.dirname(this.#options.file))
      return bavail * bsize
    } catch {
      return 0
    }
  }
}

/** With random bytes, because a file system may compress others. */
async function fill(file: string, bytes: number): Promise<void> {
  const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES))
  await using handle = await open(file, 'w', 0o600)
  for (let at = 0; at < bytes; at += CHUNK_BYTES)
    await handle.write(chunk, 0, Math.min(CHUNK_BYTES, bytes - at))
  await handle.sync()
}

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { fail } from '../../base/errors.ts'
import { FairSemaphore, Retries, VISITORS } from '../../base/scheduling/index.ts'
import {
  type ArchiveFailure,
  type ArchiveRow,
  advanceArchive,
  claimArchive,
  deleteArchiveTicket,
  failArchive,
  finishArchive,
  largestArchive,
  listArchiveTickets,
  setArchiveBytes,
} from '../../libraries/archives/index.ts'
import {
  archiveBlockRows,
  blockRows,
  type DataKey,
  deriveFromCredential,
  TempFileCipher,
} from '../../libraries/content/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { reserveMore } from './archive-admission.ts'
import { ArchiveFile } from './archive-file.ts'
import type { ArchivesOptions, ReportedState } from './archive-options.ts'
import { ArchiveTooLarge, countArchive, packArchive } from './archive-packing.ts'
import { type ArchiveRequest, progressOf } from './archive-request.ts'
import { Deflaters } from './zip/deflaters.ts'
import { ZipWriter } from './zip/writer.ts'

const ARCHIVES_AT_ONCE = 2
// One more than two cores, so that none waits for the event loop. The fourth thread of the pool is for other work.
const DEFLATES_AT_ONCE = 3
const PROGRESS_MS = 1_000
/** Bytes of an archive that are stored as blocks in one step. */
const STEP_BYTES = 64 * 2 ** 20
const FILE_PURPOSE = 'file of an archive'

/** An archive that this node packs or has queued. */
interface Packing {
  readonly id: string
  readonly accountKey: number
  /** The tickets whose holders are notified. */
  readonly tickets: Set<string>
  /** The key of an encrypted library, leased until the archive is packed; undefined for a plain one. */
  readonly key: DataKey | undefined
  readonly abort: AbortController
  packed: number
  total: number | undefined
  /** Its file is complete. */
  isPacked: boolean
  /** Settles when packing has stopped; never rejects. */
  done: Promise<void>
}

interface Claim {
  readonly id: string
  readonly claim: string
}

/** A claimed archive, with what packing needs of its row. */
type Claimed = ArchiveRow & { readonly claim: string; bytes: number }

/**
 * Packs the archives that are queued on this node, two at a time. Accounts and links take turns, one archive each. The row of an archive is claimed
 * before it is packed, so that only one node does.
 */
export class ArchivePacker {
  readonly #options: ArchivesOptions
  readonly #workers = new FairSemaphore({
    slots: ARCHIVES_AT_ONCE,
    perKey: 1,
    groups: { [VISITORS]: { slots: ARCHIVES_AT_ONCE - 1 } },
  })
  readonly #deflaters = new Deflaters(DEFLATES_AT_ONCE)
  /** By id. */
  readonly #packings = new Map<string, Packing>()
  readonly #retries = new Retries()
  #closed = false

  constructor(options: ArchivesOptions) {
    this.#options = options
  }

  /** An archive that is queued or being packed here. */
  find(id: string): Packing | undefined {
    return this.#packings.get(id)
  }

  /** The number of archives that are queued or being packed here. */
  get size(): number {
    return this.#packings.size
  }

  /** False while an archive that could not be packed waits for its next attempt. */
  isDue(id: string): boolean {
    return this.#retries.isDue(id)
  }

  /** Queues an archive on this node. */
  enqueue(of: {
    readonly id: string
    readonly requester: string
    readonly accountKey: number
    readonly tickets: readonly string[]
    readonly key?: DataKey | undefined
  }): void {
    if (this.#closed || this.#packings.has(of.id)) return
    const lease = of.key?.lease()
    const packing: Packing = {
      id: of.id,
      accountKey: of.accountKey,
      tickets: new Set(of.tickets),
      key: of.key,
      abort: new AbortController(),
      packed: 0,
      total: undefined,
      isPacked: false,
      done: Promise.resolve(),
    }
    this.#packings.set(of.id, packing)
    packing.done = this.#workers
      .run(of.requester, () => this.#make(packing, of.tickets[0]), packing.abort.signal)
      .catch(() => {}) // Canceled while queued.
      .finally(() => {
        lease?.[Symbol.dispose]()
        this.#packings.delete(of.id)
      })
  }

  /** Whether an archive of files with this many bytes is within the limits. */
  mayHave(bytes: number): boolean {
    const { limit = Number.POSITIVE_INFINITY, space } = this.#options
    return bytes <= Math.min(limit, largestArchive(space) ?? Number.POSITIVE_INFINITY)
  }

  /** Stops packing an archive and removes its file. */
  async discard(id: string): Promise<void> {
    await this.#stop(id)
    await this.removeFile(id)
  }

  async #stop(id: string): Promise<void> {
    const packing = this.#packings.get(id)
    packing?.abort.abort()
    await packing?.done
  }

  /** Removes the file of an archive on this node, if there is one. */
  async removeFile(id: string): Promise<void> {
    try {
      await rm(this.pathOf(id), { force: true })
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** Stops packing for good. Returns the archives that were not finished. */
  async close(): Promise<string[]> {
    this.#closed = true
    const unfinished = [...this.#packings.keys()]
    await Promise.all(unfinished.map((id) => this.#stop(id)))
    this.#deflaters[Symbol.dispose]()
    return unfinished
  }

  /** The file of an archive on this node. */
  pathOf(id: string): string {
    return path.join(this.#options.directory, `${id}.zip`)
  }

  /** Notifies the holder of a ticket of an archive. */
  reportTo(
    ticket: string,
    { accountKey, isEncrypted }: { readonly accountKey: number; readonly isEncrypted: boolean },
    state: ReportedState,
    { zipped, total }: { readonly zipped: number; readonly total: number },
  ): void {
    this.#options.onProgress?.(accountKey, ticket, { state, zipped, total, isEncrypted })
  }

  /** The library of an archive, if the holder of any of its tickets may still read it. Tickets that are not valid are removed. */
  async #findLibrary(id: string): Promise<Library | undefined> {
    const { db, tickets } = this.#options
    for (const hash of await listArchiveTickets(db, id)) {
      const library = await tickets.findLibrary(hash)
      if (library !== undefined) return library
      await db.write((tx) => deleteArchiveTicket(tx, hash), { durable: false })
    }
    return undefined
  }

  /** Packs one archive and records the result in its row. If that cannot be done, `maintain` finds the archive unfinished. */
  async #make(packing: Packing, ticket: string | undefined): Promise<void> {
    const { id } = packing
    try {
      await this.#attempt(packing, ticket)
      this.#retries.forget(id)
    } catch (error) {
      this.#retries.note(id)
      this.#options.onError(error)
    }
  }

  async #attempt(packing: Packing, ticket: string | undefined): Promise<void> {
    const { db, node, isPassing, onError } = this.#options
    const { id } = packing
    const { signal } = packing.abort
    const library = await this.#findLibrary(id)
    if (library === undefined || signal.aborted) return
    const claim = { id, claim: randomUUID(), nodeId: node.id }
    const claimed = await db.write((tx) => claimArchive(tx, db.dialect, id, claim), { durable: false })
    if (claimed === undefined || signal.aborted) return
    const cover = claimed.isEncrypted && ticket !== undefined ? coverOf(ticket, claim.claim) : undefined
    try {
      await this.#finish(packing, { ...claimed, ...claim }, library, cover)
    } catch (error) {
      if (signal.aborted) return
      // The file stays: it belongs to a finished archive if the database carried out what it did not answer.
      if (isPassing(error) && this.#retries.mayRepeat(id)) throw error
      const isTooLarge = error instanceof ArchiveTooLarge
      if (!isTooLarge) onError(error)
      await this.#fail(packing, claim, isTooLarge ? 'size too large' : 'internal error')
    }
  }

  /** Packs a claimed archive and ends it as finished. */
  async #finish(
    packing: Packing,
    claimed: Claimed & { readonly roots: ArchiveRequest['roots'] },
    library: Library,
    cover: TempFileCipher | undefined,
  ): Promise<void> {
    const { core, db, now } = this.#options
    using operation = core.operations.begin()
    const result = await operation.run(() => this.#pack(packing, claimed, claimed.roots, library, cover))
    packing.isPacked = true
    const isFinished = await db.write((tx) => finishArchive(tx, claimed, { ...result, now: now() }), {
      durable: false,
    })
    if (!isFinished || packing.abort.signal.aborted) await this.removeFile(packing.id)
    if (isFinished) this.#report(packing, 'successful', { ...packing, state: 'finished' })
  }

  async #fail(packing: Packing, claim: Claim, failure: ArchiveFailure): Promise<void> {
    const { db, now } = this.#options
    const { packed, total } = packing
    const isFailed = await db.write((tx) => failArchive(tx, claim, { failure, packed, total, now: now() }), {
      durable: false,
    })
    if (!isFailed) return
    if (packing.isPacked) await this.removeFile(packing.id)
    this.#report(packing, 'failed', { ...packing, state: 'failed' })
  }

  /** Packs into a file, and stores its bytes as blocks if other nodes may need them. On any throw the file is removed. */
  async #pack(
    packing: Packing,
    claimed: Claimed,
    roots: ArchiveRequest['roots'],
    library: Library,
    cover: TempFileCipher | undefined,
  ): Promise<{ size: number; total: number; place: 'file' | 'blocks' }> {
    const { core, directory, isShared = async () => false } = this.#options
    await using _progress = this.#keepProgress(packing, claimed)
    const { signal } = packing.abort
    const { files, bytes } = await countArchive(library, roots)
    if (!this.mayHave(bytes)) throw new ArchiveTooLarge()
    packing.total = files
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await using made = new AsyncDisposableStack()
    const filePath = this.pathOf(packing.id)
    // What an earlier attempt of this process left.
    await rm(filePath, { force: true })
    const beforeWrite = () => core.growth.refuseOnFullDisk()
    const file = made.use(new ArchiveFile(filePath, { cover, beforeWrite }))
    const indexCover = cover && TempFileCipher.random()
    const index = made.use(new ArchiveFile(`${filePath}.index`, { cover: indexCover, beforeWrite }))
    const writer = new ZipWriter(file, index)
    const onFile = () => {
      packing.packed += 1
      this.#report(packing, 'running', { ...packing, state: 'running' })
    }
    // A synced tree may state sizes that are too small.
    const admits = (read: number) =>
      this.mayHave(read) && (read <= claimed.bytes || this.#reserveMore(claimed, read))
    await packArchive(library, roots, writer, {
      key: packing.key,
      admits,
      signal,
      deflaters: this.#deflaters,
      onFile,
    })
    const size = await writer.finish()
    await file.close()
    await index[Symbol.asyncDispose]()
    signal.throwIfAborted()
    if (!(await isShared())) {
      made.move()
      return { size, total: files, place: 'file' }
    }
    await this.#storeBlocks(claimed, filePath, size, signal)
    return { size, total: files, place: 'blocks' }
  }

  /** Stores the bytes of a packed file as blocks, a few at a time, so that a node needs space for one step beside the file. */
  async #storeBlocks(claimed: Claimed, file: string, size: number, signal: AbortSignal): Promise<void> {
    const { core, db } = this.#options
    for (let offset = 0; offset < size; offset += STEP_BYTES) {
      signal.throwIfAborted()
      const end = Math.min(offset + STEP_BYTES, size) - 1
      const { blocks, small } = await core.incoming.receive(createReadStream(file, { start: offset, end }))
      await db.write(
        async (tx) => {
          if (!(await setArchiveBytes(tx, claimed, Math.max(claimed.bytes, size))))
            fail({ code: 'task-canceled' })
          await blockRows.insertSmall(tx, small)
          await archiveBlockRows.insert(tx, claimed.key, offset, blocks)
        },
        { durable: false },
      )
    }
  }

  async #reserveMore(claimed: Claimed, bytes: number): Promise<boolean> {
    const isReserved = await reserveMore(this.#options, claimed, bytes)
    if (isReserved) claimed.bytes = bytes
    return isReserved
  }

  /** Writes the progress every second, and aborts when the archive was canceled, or the node was taken for dead. */
  #keepProgress(packing: Packing, claimed: Claimed): AsyncDisposable {
    const { db, onError } = this.#options
    let writing: Promise<void> = Promise.resolve()
    const write = async () => {
      const isOurs = await db.write((tx) => advanceArchive(tx, claimed, packing), { durable: false })
      if (!isOurs) packing.abort.abort()
    }
    let isWriting = false
    const timer = setInterval(() => {
      // The database may be slow for longer than a second.
      if (isWriting) return
      isWriting = true
      writing = write()
        .catch(onError)
        .finally(() => {
          isWriting = false
        })
    }, PROGRESS_MS).unref()
    return {
      [Symbol.asyncDispose]: () => {
        clearInterval(timer)
        return writing
      },
    }
  }

  #report(packing: Packing, state: ReportedState, row: Pick<ArchiveRow, 'state' | 'packed' | 'total'>): void {
    const progress = progressOf({ ...row, failure: undefined })
    const of = { accountKey: packing.accountKey, isEncrypted: packing.key !== undefined }
    for (const ticket of packing.tickets) this.reportTo(ticket, of, state, progress)
  }
}

/**
 * The cipher of the file of an encrypted library, which only holders of the ticket can derive: plaintext is never stored. Each attempt at packing has
 * another key.
 */
export function coverOf(ticket: string, claim: string): TempFileCipher {
  return new TempFileCipher(deriveFromCredential(ticket, Buffer.from(claim), FILE_PURPOSE))
}

import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Tickets } from '../access/index.ts'
import { TempFileCipher } from '../content/index.ts'
import { fail } from '../errors.ts'
import type { Library, LibraryCore } from '../library/index.ts'
import { ROOT } from '../objects/index.ts'
import { FairSemaphore, VISITORS } from '../scheduling/index.ts'
import { ArchiveFile } from './archive-file.ts'
import { ArchiveTooLarge, countArchive, packArchive } from './archive-packing.ts'
import { ArchiveRegistry } from './archive-registry.ts'
import { ArchiveSpace, type SpaceHold } from './archive-space.ts'
import { type ArchiveRequest, ArchiveTask, requesterOf } from './archive-task.ts'
import { Deflaters } from './zip/deflaters.ts'
import { ZipWriter } from './zip/writer.ts'

export interface ArchivesOptions {
  readonly core: LibraryCore
  readonly tickets: Tickets
  /** Unix seconds. */
  readonly now: () => number
  /** How long tickets live. */
  readonly lifeSeconds: number
  /** Bytes the files of an archive may have together; undefined for no limit. */
  readonly limit: number | undefined
  /** Bytes of disk all archives may take together; undefined for no limit. */
  readonly space?: number | undefined
  /** The folder of the archives, used for nothing else. */
  readonly directory: string
  /** Notified of the progress of archives, by the account and the ticket they are for. */
  readonly onProgress?: (
    accountKey: number,
    ticket: string,
    progress: {
      readonly state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled'
      readonly zipped: number
      readonly total: number
    },
  ) => void
  /** Called when an archive fails, or its file cannot be removed. */
  readonly onError: (error: unknown) => void
}

const ARCHIVES_AT_ONCE = 2
// One more than two cores, so that none waits for the event loop. The fourth thread of the pool is for other work.
const DEFLATES_AT_ONCE = 3
const SWEEP_MS = 10_000
const RETRY_SECONDS = 30
/** Overhead per file in an archive: two headers with its path. */
const BYTES_PER_FILE = 512

/**
 * Packs archives in the background, two at a time, and keeps each until its tickets expire. Accounts and links take turns, one
 * archive each. All state is in memory: after a restart, tickets of archives are unknown.
 */
export class Archives implements AsyncDisposable {
  readonly #options: ArchivesOptions
  readonly #registry = new ArchiveRegistry()
  readonly #workers = new FairSemaphore({
    slots: ARCHIVES_AT_ONCE,
    perKey: 1,
    groups: { [VISITORS]: { slots: ARCHIVES_AT_ONCE - 1 } },
  })
  readonly #space: ArchiveSpace
  readonly #deflaters = new Deflaters(DEFLATES_AT_ONCE)
  readonly #runs = new Set<Promise<void>>()
  #sweeper: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ArchivesOptions) {
    this.#options = options
    this.#space = new ArchiveSpace(options.space)
    options.core.events.onEvent(({ kind, library }) => {
      if (kind === 'deleted') void this.#discardOf(library.key)
    })
  }

  /** Called at the start of the server: removes the files of an earlier process. */
  async removeLeftovers(): Promise<void> {
    await rm(this.#options.directory, { recursive: true, force: true })
  }

  /**
   * Starts an archive of the opened tree and returns its ticket. Throws password-needed for
   * an encrypted library that the account has not unlocked, and busy.
   */
  async start(library: Library, request: ArchiveRequest): Promise<string> {
    await this.#sweep()
    const key = this.#options.core.keys.keyFor(library)
    const known = this.#registry.findEqual(library, request)
    if (known !== undefined) return this.#issue(known)
    const requester = requesterOf(library, request)
    await this.#makePlace(requester)
    const space = await this.#reserve(library, request, requester)
    const task = new ArchiveTask(library, request, key)
    task.space = space
    let ticket: string
    try {
      ticket = await this.#issue(task)
    } catch (error) {
      task.releaseKey()
      space[Symbol.dispose]()
      throw error
    }
    if (this.#closed) {
      this.#registry.byTicket.delete(ticket)
      return ticket
    }
    this.#sweeper ??= setInterval(() => void this.#recheck(), SWEEP_MS).unref()
    const run = this.#workers
      .run(requester, () => (task.packing = this.#make(task)), task.signal)
      .catch(() => {}) // Canceled while queued.
      .finally(() => {
        task.releaseKey()
        this.#runs.delete(run)
      })
    this.#runs.add(run)
    return ticket
  }

  /** The archive of a valid ticket whose holder may still read the library. */
  async find(ticket: string): Promise<ArchiveTask | undefined> {
    const task = this.#registry.byTicket.get(ticket)
    if (task === undefined) return undefined
    if (await this.#isValid(ticket, task)) return task
    await this.#drop(ticket, task)
    await this.#sweep()
    return undefined
  }

  /** Cancels or deletes an archive, unless other tickets share it. Idempotent. */
  async cancel(ticket: string): Promise<void> {
    const task = await this.find(ticket)
    if (task === undefined || task.failure !== undefined || task.canceled) return
    if (task.tickets.size > 1) {
      // Other visitors of the link share the archive.
      const own = new ArchiveTask(task.library, task.request, undefined)
      own.tickets.set(ticket, task.tickets.get(ticket) ?? 0)
      task.tickets.delete(ticket)
      own.canceled = true
      this.#registry.byTicket.set(ticket, own)
      this.#report(own, 'canceled')
      return
    }
    task.canceled = true
    await this.#discard(task)
    this.#report(task, 'canceled')
  }

  /** Cancels all archives and removes their files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    await Promise.all(Array.from(this.#registry.byTicket.values(), (task) => this.#discard(task)))
    this.#registry.byTicket.clear()
    await Promise.all(this.#runs)
    this.#deflaters[Symbol.dispose]()
  }

  /** Issues a ticket for an archive. */
  async #issue(task: ArchiveTask): Promise<string> {
    const { tickets, now, lifeSeconds } = this.#options
    const { library, request } = task
    const { link } = request
    const expiresAt = Math.min(now() + lifeSeconds, link?.expiresAt ?? Number.MAX_SAFE_INTEGER)
    const ticket = await tickets.issue(library, { operation: 'archive', path: ROOT, reusable: true, link })
    task.tickets.set(ticket, expiresAt)
    this.#registry.byTicket.set(ticket, task)
    this.#reportTo(ticket, task, 'queued')
    if (task.finished !== undefined) this.#reportTo(ticket, task, 'successful')
    return ticket
  }

  /** Throws busy if the requester, or all requesters together, have reached the limit. */
  async #makePlace(requester: string): Promise<void> {
    if (this.#registry.isFull(requester)) fail({ code: 'busy', seconds: RETRY_SECONDS })
    const surplus = this.#registry.surplus(requester)
    if (surplus !== undefined) await this.#forget(surplus)
  }

  /** Throws busy if space is insufficient now. An archive that can never fit fails during packing. */
  async #reserve(library: Library, { roots }: ArchiveRequest, requester: string): Promise<SpaceHold> {
    const { files, bytes } = await countArchive(this.#options.core, library, roots)
    const needed = this.#mayHave(bytes) ? bytes + files * BYTES_PER_FILE : 0
    const wanted = Math.min(needed, this.#space.largest ?? Number.POSITIVE_INFINITY)
    for (const candidate of [undefined, ...this.#registry.evictable(requester, this.#options.now())]) {
      if (candidate !== undefined) await this.#forget(candidate)
      const hold = this.#space.reserve(requester, wanted)
      if (hold !== undefined) return hold
    }
    return fail({ code: 'busy', seconds: RETRY_SECONDS })
  }

  #mayHave(bytes: number): boolean {
    const { limit = Number.POSITIVE_INFINITY } = this.#options
    return bytes <= Math.min(limit, this.#space.largest ?? Number.POSITIVE_INFINITY)
  }

  /** Removes archives whose tickets have expired. */
  async #sweep(): Promise<void> {
    const now = this.#options.now()
    const ended = [...this.#registry.byTicket].filter(
      ([ticket, task]) => (task.tickets.get(ticket) ?? 0) <= now,
    )
    await Promise.all(ended.map(([ticket, task]) => this.#drop(ticket, task)))
  }

  /** Removes archives that may no longer be read: library deleted, link disabled, or permission revoked. */
  async #recheck(): Promise<void> {
    try {
      for (const [ticket, task] of this.#registry.byTicket)
        if (!(await this.#isValid(ticket, task))) await this.#drop(ticket, task)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  async #isValid(ticket: string, task: ArchiveTask): Promise<boolean> {
    const { tickets, now } = this.#options
    return (task.tickets.get(ticket) ?? 0) > now() && tickets.isValid(ticket)
  }

  /** Removes a ticket; the archive is removed with its last ticket. */
  async #drop(ticket: string, task: ArchiveTask): Promise<void> {
    this.#registry.byTicket.delete(ticket)
    task.tickets.delete(ticket)
    if (task.tickets.size === 0) await this.#discard(task)
  }

  /** Removes an archive with all its tickets. */
  async #forget(task: ArchiveTask): Promise<void> {
    for (const ticket of task.tickets.keys()) this.#registry.byTicket.delete(ticket)
    await this.#discard(task)
  }

  async #discardOf(libraryKey: number): Promise<void> {
    const tasks = [...this.#registry.all()].filter(({ library }) => library.info.key === libraryKey)
    await Promise.all(tasks.map((task) => this.#forget(task)))
  }

  async #discard(task: ArchiveTask): Promise<void> {
    await task.stop()
    try {
      await rm(this.#pathOf(task), { force: true })
      task.space?.[Symbol.dispose]()
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** Whether any ticket of an archive is still valid. If none is, its tickets are removed. */
  async #isWanted(task: ArchiveTask): Promise<boolean> {
    for (const ticket of task.tickets.keys()) if (await this.#isValid(ticket, task)) return true
    for (const ticket of task.tickets.keys()) this.#registry.byTicket.delete(ticket)
    task.space?.[Symbol.dispose]()
    return false
  }

  /** Packs one archive and records the result in its task. */
  async #make(task: ArchiveTask): Promise<void> {
    try {
      if (!(await this.#isWanted(task)) || task.signal.aborted) return
      const size = await this.#pack(task)
      // `cancel` removes the file.
      if (task.signal.aborted) return
      task.space?.resize(size)
      const { id, cover, request } = task
      const file = { id, name: request.name, path: this.#pathOf(task), cover, size }
      task.finished = { ...file, finishedAt: this.#options.now() }
      this.#report(task, 'successful')
    } catch (error) {
      if (task.signal.aborted) return
      const isTooLarge = error instanceof ArchiveTooLarge
      task.failure = isTooLarge ? 'size too large' : 'internal error'
      task.space?.[Symbol.dispose]()
      this.#report(task, 'failed')
      if (!isTooLarge) this.#options.onError(error)
    }
  }

  /** Returns the size of the archive in bytes. On any throw its files are removed. */
  async #pack(task: ArchiveTask): Promise<number> {
    const { core, directory } = this.#options
    using _operation = core.operations.begin()
    const { library, request, key, cover, signal, space } = task
    const { files, bytes } = await countArchive(core, library, request.roots)
    if (!this.#mayHave(bytes)) throw new ArchiveTooLarge()
    task.total = files
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await using made = new AsyncDisposableStack()
    const file = made.use(new ArchiveFile(this.#pathOf(task), cover))
    const index = made.use(new ArchiveFile(`${this.#pathOf(task)}.index`, cover && TempFileCipher.random()))
    const writer = new ZipWriter(file, index)
    const onFile = () => {
      task.packed += 1
      this.#report(task, 'running')
    }
    // A synced tree may state sizes that are too small.
    const admits = (read: number) =>
      this.#mayHave(read) && (space === undefined || read <= space.bytes || space.resize(read))
    await packArchive(core, library, request.roots, writer, {
      key,
      admits,
      signal,
      deflaters: this.#deflaters,
      onFile,
    })
    const size = await writer.finish()
    await file.close()
    await index[Symbol.asyncDispose]()
    made.move()
    return size
  }

  #report(
    task: ArchiveTask,
    state: Parameters<NonNullable<ArchivesOptions['onProgress']>>[2]['state'],
  ): void {
    for (const ticket of task.tickets.keys()) this.#reportTo(ticket, task, state)
  }

  #reportTo(
    ticket: string,
    { library, progress }: ArchiveTask,
    state: Parameters<NonNullable<ArchivesOptions['onProgress']>>[2]['state'],
  ): void {
    this.#options.onProgress?.(library.actor.key, ticket, { state, ...progress })
  }

  #pathOf(task: ArchiveTask): string {
    return path.join(this.#options.directory, `${task.id}.zip`)
  }
}

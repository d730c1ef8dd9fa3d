import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Tickets } from '../access/tickets.ts'
import type { LibraryCore } from '../library/core.ts'
import { Cover } from '../library/cover.ts'
import type { Library } from '../library/library.ts'
import { Slots } from '../library/slots.ts'
import { ROOT } from '../objects/paths.ts'
import { ArchiveFile } from './archive-file.ts'
import { ArchiveTooLarge, countArchive, packArchive } from './archive-packing.ts'
import { ArchiveTask, type ArchiveWish } from './archive-task.ts'
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
  /** Where archives rest for as long as their tickets live. It holds nothing else. */
  readonly directory: string
  /** Told how archives go on, by the account and the ticket they are for. */
  readonly onProgress?: (
    accountKey: number,
    ticket: string,
    progress: {
      readonly state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled'
      readonly zipped: number
      readonly total: number
    },
  ) => void
  /** Told why an archive could not be made, or a file of one not removed. */
  readonly onError: (error: unknown) => void
}

const ARCHIVES_AT_ONCE = 2
// One more than two cores, so that none of them waits for the event loop. The fourth thread of the pool is left to others.
const DEFLATES_AT_ONCE = 3
const SWEEP_MS = 60_000

/**
 * Makes archives in the background, two at a time, and keeps each until its ticket ends. All of this lives
 * in the process: after a restart the tickets of archives are as unknown as if they had never been.
 */
export class Archives implements AsyncDisposable {
  readonly #options: ArchivesOptions
  readonly #tasks = new Map<string, ArchiveTask>()
  readonly #workers = new Slots(ARCHIVES_AT_ONCE)
  readonly #deflaters = new Deflaters(DEFLATES_AT_ONCE)
  readonly #runs = new Set<Promise<void>>()
  #sweeper: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ArchivesOptions) {
    this.#options = options
  }

  /** At the start of the server: nobody can fetch what an earlier process left. */
  async removeLeftovers(): Promise<void> {
    await rm(this.#options.directory, { recursive: true, force: true })
  }

  /**
   * Starts an archive of the tree as the library was opened; gives its ticket. Throws password-needed for
   * an encrypted library whose key is not held for the account.
   */
  async start(library: Library, wish: ArchiveWish): Promise<string> {
    await this.#sweep()
    const { core, tickets, now, lifeSeconds } = this.#options
    const key = core.keys.keyFor(library)
    const { link } = wish
    const ticket = await tickets.issue(library, { operation: 'archive', path: ROOT, reusable: true, link })
    if (this.#closed) return ticket
    const task = new ArchiveTask(library, wish, now() + lifeSeconds, key)
    this.#tasks.set(ticket, task)
    task.onProgress = (state) =>
      this.#options.onProgress?.(library.actor.key, ticket, { state, ...task.progress })
    task.onProgress('queued')
    this.#sweeper ??= setInterval(() => void this.#sweep(), SWEEP_MS).unref()
    const run = this.#workers.run(async () => {
      if (task.signal.aborted) return
      task.packing = this.#make(task)
      await task.packing
    })
    this.#runs.add(run)
    void run.finally(() => {
      task.releaseKey()
      this.#runs.delete(run)
    })
    return ticket
  }

  /** The archive of a ticket, as long as that is valid. */
  async find(ticket: string): Promise<ArchiveTask | undefined> {
    const task = this.#tasks.get(ticket)
    if (task === undefined) return undefined
    if (task.expiresAt <= this.#options.now()) await this.#sweep()
    return (await this.#options.tickets.isValid(ticket)) ? task : undefined
  }

  /** Stops an archive, or throws away a finished one. An unknown ticket is no error. */
  async cancel(ticket: string): Promise<void> {
    const task = await this.find(ticket)
    if (task === undefined || task.failure !== undefined) return
    task.canceled = true
    await this.#discard(task)
    task.onProgress('canceled')
  }

  /** Stops the archives of a library that was deleted, and removes them. */
  async stopOf(libraryKey: number): Promise<void> {
    const found = [...this.#tasks].filter(([, { library }]) => library.info.key === libraryKey)
    for (const [ticket] of found) this.#tasks.delete(ticket)
    await Promise.all(found.map(([, task]) => this.#discard(task)))
  }

  /** Stops everything and removes every file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    await Promise.all(Array.from(this.#tasks.values(), (task) => this.#discard(task)))
    this.#tasks.clear()
    await Promise.all(this.#runs)
    this.#deflaters[Symbol.dispose]()
  }

  /** Forgets archives whose tickets have ended. */
  async #sweep(): Promise<void> {
    const now = this.#options.now()
    const ended = [...this.#tasks].filter(([, task]) => task.expiresAt <= now)
    for (const [ticket] of ended) this.#tasks.delete(ticket)
    await Promise.all(ended.map(([, task]) => this.#discard(task)))
  }

  async #discard(task: ArchiveTask): Promise<void> {
    await task.stop()
    try {
      await rm(this.#pathOf(task), { force: true })
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** Makes one archive, and says in its task how it went. */
  async #make(task: ArchiveTask): Promise<void> {
    try {
      const size = await this.#pack(task)
      // Whoever stopped it removes the file.
      if (task.signal.aborted) return
      const { id, cover, wish } = task
      const file = { id, name: wish.name, path: this.#pathOf(task), cover, size }
      task.finished = { ...file, finishedAt: this.#options.now() }
      task.onProgress('successful')
    } catch (error) {
      if (task.signal.aborted) return
      const isTooLarge = error instanceof ArchiveTooLarge
      task.failure = isTooLarge ? 'size too large' : 'internal error'
      task.onProgress('failed')
      if (!isTooLarge) this.#options.onError(error)
    }
  }

  /** Gives the bytes of the archive. On any throw its files are gone. */
  async #pack(task: ArchiveTask): Promise<number> {
    const { core, limit, directory } = this.#options
    const { library, wish, key, cover, signal } = task
    const { files, bytes } = await countArchive(core, library, wish.roots)
    if (limit !== undefined && bytes > limit) throw new ArchiveTooLarge()
    task.total = files
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await using made = new AsyncDisposableStack()
    const file = made.use(new ArchiveFile(this.#pathOf(task), cover))
    const index = made.use(new ArchiveFile(`${this.#pathOf(task)}.index`, cover && Cover.random()))
    const writer = new ZipWriter(file, index)
    const onFile = () => {
      task.packed += 1
      task.onProgress('running')
    }
    const options = { key, limit, signal, deflaters: this.#deflaters, onFile }
    await packArchive(core, library, wish.roots, writer, options)
    const size = await writer.finish()
    await file.close()
    await index[Symbol.asyncDispose]()
    made.move()
    return size
  }

  #pathOf(task: ArchiveTask): string {
    return path.join(this.#options.directory, `${task.id}.zip`)
  }
}

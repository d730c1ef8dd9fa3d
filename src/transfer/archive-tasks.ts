import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Tickets, ticketHash } from '../access/index.ts'
import {
  type ArchiveRow,
  admitArchive,
  adoptArchives,
  advanceArchive,
  cancelArchive,
  claimArchive,
  deleteArchive,
  deleteArchivesOf,
  deleteArchiveTicket,
  deleteExpiredArchives,
  deleteLostArchives,
  failArchive,
  findArchive,
  findEqualArchive,
  finishArchive,
  fits,
  insertArchive,
  insertArchiveTicket,
  isFreeArchive,
  largestArchive,
  listArchives,
  listArchiveTickets,
  listFreeArchives,
  listKnownArchives,
  listTicketsOfNode,
  releaseArchives,
  setArchiveBytes,
  setArchiveFetched,
} from '../archives/index.ts'
import {
  type DataKey,
  deriveFromCredential,
  insertArchiveBlocks,
  insertSmallBlocks,
  openSealedKey,
  sealKey,
  TempFileCipher,
} from '../content/index.ts'
import { type Database, writeIfSpace } from '../database/index.ts'
import { fail } from '../errors.ts'
import type { Library, LibraryCore } from '../library/index.ts'
import { ROOT } from '../objects/index.ts'
import { FairSemaphore, VISITORS } from '../scheduling/index.ts'
import { ArchiveFile } from './archive-file.ts'
import { ArchiveTooLarge, countArchive, packArchive } from './archive-packing.ts'
import { type ReadArchive, readBlocks, readFile } from './archive-reader.ts'
import {
  type ArchiveProgress,
  type ArchiveRequest,
  identityOf,
  progressOf,
  requesterOf,
} from './archive-request.ts'
import { Deflaters } from './zip/deflaters.ts'
import { ZipWriter } from './zip/writer.ts'

export interface ArchivesOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly tickets: Tickets
  /** Unix seconds. */
  readonly now: () => number
  /** How long tickets live. */
  readonly lifeSeconds: number
  /** Bytes the files of an archive may have together; undefined for no limit. */
  readonly limit: number | undefined
  /** Bytes all archives may take together; undefined for no limit. */
  readonly space?: number | undefined
  /** The folder of the archives, used for nothing else. */
  readonly directory: string
  /** This node. */
  readonly node: { readonly id: string }
  /** Whether other nodes may be asked for a finished archive. Its bytes are then stored as blocks instead of in a file of this node. */
  readonly isShared?: () => Promise<boolean>
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

type ReportedState = Parameters<NonNullable<ArchivesOptions['onProgress']>>[2]['state']

const ARCHIVES_AT_ONCE = 2
// One more than two cores, so that none waits for the event loop. The fourth thread of the pool is for other work.
const DEFLATES_AT_ONCE = 3
const PROGRESS_MS = 1_000
const RETRY_SECONDS = 30
/** Overhead per file in an archive: two headers with its path. */
const BYTES_PER_FILE = 512
/** Bytes of an archive that are stored as blocks in one step. */
const STEP_BYTES = 64 * 2 ** 20
/** Archives of dead nodes that a node takes over at once. */
const MAX_TAKEN = 20
/** The mutex for the limits. Keys of libraries are positive. */
const ADMISSION_MUTEX = -1
const KEY_PURPOSE = 'key for an archive'
const FILE_PURPOSE = 'file of an archive'

/** An archive as the holder of a ticket sees it. */
export interface FoundArchive {
  readonly progress: ArchiveProgress
  /** Undefined until it can be downloaded. */
  readonly finished: FinishedArchive | undefined
  /** Settles when this node has stopped packing it; never rejects. */
  readonly packing: Promise<void> | undefined
  /** Called when a download starts. */
  noteFetched(): Promise<void>
}

interface FinishedArchive {
  readonly etag: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Unix seconds. */
  readonly finishedAt: number
  readonly read: ReadArchive
}

/** An archive that this node packs or has queued. */
interface Packing {
  readonly id: string
  readonly accountKey: number
  /** Tickets that this node issued. Others know only their hashes. */
  readonly tickets: Set<string>
  /** The key of an encrypted library, leased until the archive is packed; undefined for a plain one. */
  readonly key: DataKey | undefined
  readonly abort: AbortController
  packed: number
  total: number | undefined
  /** Settles when packing has stopped; never rejects. */
  done: Promise<void>
}

/** A claimed archive, with what packing needs of its row. */
type Claimed = ArchiveRow & { readonly claim: string; bytes: number }

/**
 * Packs archives in the background, two at a time on each node, and keeps each until its tickets expire. Accounts and links take turns, one
 * archive each. An archive is a row, so any node answers for it. It names the node that packs it; when that node is dead, another one starts again. The
 * limits hold for all nodes together.
 */
export class Archives implements AsyncDisposable {
  readonly #options: ArchivesOptions
  readonly #workers = new FairSemaphore({
    slots: ARCHIVES_AT_ONCE,
    perKey: 1,
    groups: { [VISITORS]: { slots: ARCHIVES_AT_ONCE - 1 } },
  })
  readonly #deflaters = new Deflaters(DEFLATES_AT_ONCE)
  /** By id. */
  readonly #packings = new Map<string, Packing>()
  #closed = false

  constructor(options: ArchivesOptions) {
    this.#options = options
    options.core.events.onEvent(({ kind, library }) => {
      if (kind === 'deleted') void this.#discardOf(library.key)
    })
  }

  /** Called at the start of the server: removes the files of an earlier process. */
  async removeLeftovers(): Promise<void> {
    const { db, directory } = this.#options
    await db.write((tx) => deleteLostArchives(tx, db.dialect), { durable: false })
    const files = await readdir(directory).catch(() => [])
    if (files.length === 0) return
    // Another process may share the folder.
    const known = await listKnownArchives(db)
    for (const name of files) {
      const [id = ''] = name.split('.')
      if (!known.has(id)) await rm(path.join(directory, name), { recursive: true, force: true })
    }
  }

  /**
   * Starts an archive of the opened tree and returns its ticket. Throws password-needed for
   * an encrypted library that the account has not unlocked, and busy.
   */
  async start(library: Library, request: ArchiveRequest): Promise<string> {
    const { core, db, tickets, now, lifeSeconds } = this.#options
    await this.#sweep()
    const key = await core.keys.keyFor(library)
    using _lease = key?.lease()
    const requester = requesterOf(library, request)
    const identity = identityOf(library, request)
    const counted = await countArchive(core, library, request.roots)
    const { link } = request
    const ticket = await tickets.issue(library, { operation: 'archive', path: ROOT, reusable: true, link })
    const hash = ticketHash(ticket)
    const expiresAt = Math.min(now() + lifeSeconds, link?.expiresAt ?? Number.MAX_SAFE_INTEGER)
    const accountKey = library.actor.key
    if (link !== undefined) {
      const equal = await db.write((tx) => joinEqual(tx, requester, identity, hash, expiresAt), {
        durable: false,
      })
      if (equal !== undefined) {
        this.#packings.get(equal.id)?.tickets.add(ticket)
        this.#reportTo(accountKey, ticket, 'queued', progressOf(equal))
        if (equal.state === 'finished') this.#reportTo(accountKey, ticket, 'successful', progressOf(equal))
        return ticket
      }
    }
    const id = randomUUID()
    const needed = this.#mayHave(counted.bytes) ? counted.bytes + counted.files * BYTES_PER_FILE : 0
    const bytes = Math.min(needed, largestArchive(this.#options.space) ?? Number.POSITIVE_INFINITY)
    await this.#insert({ requester, bytes }, async (tx) => {
      const archiveKey = await insertArchive(tx, {
        id,
        libraryKey: library.info.key,
        accountKey,
        requester,
        identity,
        roots: request.roots,
        name: request.name,
        bytes,
        isEncrypted: key !== undefined,
        sealedKey: key && sealKey(key, ticket, KEY_PURPOSE),
        nodeId: this.#options.node.id,
        now: now(),
      })
      await insertArchiveTicket(tx, hash, archiveKey, expiresAt)
    })
    this.#enqueue({ id, requester, accountKey, ticket, key })
    this.#reportTo(accountKey, ticket, 'queued', { zipped: 0, total: 1 })
    return ticket
  }

  /** The archive of a valid ticket whose holder may still read the library. */
  async find(ticket: string): Promise<FoundArchive | undefined> {
    const { db, tickets, now } = this.#options
    const hash = ticketHash(ticket)
    const found = await findArchive(db, hash)
    if (found === undefined) return undefined
    if (found.expiresAt <= now()) {
      await this.#sweep()
      return undefined
    }
    if (!(await tickets.isValid(ticket))) {
      await this.#drop(hash)
      return undefined
    }
    const { archive, isCanceled } = found
    if (archive.isEncrypted && !isCanceled) await this.#takeEncrypted(archive, ticket)
    return this.#view(archive, isCanceled, ticket)
  }

  /** Cancels or deletes an archive, unless other tickets share it. Idempotent. */
  async cancel(ticket: string): Promise<void> {
    const { db, tickets, now } = this.#options
    const hash = ticketHash(ticket)
    const found = await findArchive(db, hash)
    if (found === undefined || !(await tickets.isValid(ticket))) return
    const canceled = await db.write((tx) => cancelArchive(tx, hash, now()), { durable: false })
    if (canceled === undefined) return
    const { id, accountKey } = found.archive
    const packing = this.#packings.get(id)
    packing?.tickets.delete(ticket)
    if (canceled === 'archive') await this.#discard(id)
    this.#reportTo(accountKey, ticket, 'canceled', progressOf({ ...found.archive, ...packing }, true))
  }

  /**
   * Called periodically: packs archives that no live node packs, and deletes those that may no longer be read, because a library was deleted, a link
   * disabled, or a permission revoked.
   */
  async maintain(): Promise<void> {
    const { db, node } = this.#options
    if (this.#closed) return
    const free = await db.write(
      async (tx) => {
        await adoptArchives(tx, db.dialect, node.id)
        return listFreeArchives(tx, db.dialect, MAX_TAKEN)
      },
      { durable: false },
    )
    for (const { id, requester } of free) this.#enqueue({ id, requester, accountKey: 0 })
    for (const hash of await listTicketsOfNode(db, node.id)) {
      if ((await this.#options.tickets.findLibrary(hash)) === undefined) await this.#drop(hash)
    }
  }

  /** Stops packing and removes the files of this node. Unfinished archives are packed by another node, or after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { db, node, onError } = this.#options
    this.#closed = true
    const unfinished = [...this.#packings.keys()]
    await Promise.all(unfinished.map((id) => this.#stop(id)))
    this.#deflaters[Symbol.dispose]()
    try {
      const lost = await db.write((tx) => releaseArchives(tx, node.id, unfinished), { durable: false })
      for (const id of [...unfinished, ...lost]) await this.#removeFile(id)
    } catch (error) {
      onError(error)
    }
  }

  #view(archive: ArchiveRow, isCanceled: boolean, ticket: string): FoundArchive {
    const packing = this.#packings.get(archive.id)
    const isRunning = archive.state === 'queued' || archive.state === 'running'
    const state =
      isRunning && packing !== undefined
        ? { ...archive, packed: packing.packed, total: packing.total }
        : archive
    return {
      progress: progressOf(state, isCanceled),
      finished: isCanceled ? undefined : this.#finished(archive, ticket),
      packing: packing?.done,
      noteFetched: async () => {
        if (archive.isFetched) return
        await writeIfSpace(this.#options.db, (tx) => setArchiveFetched(tx, archive.key))
      },
    }
  }

  #finished(archive: ArchiveRow, ticket: string): FinishedArchive | undefined {
    const { state, name, size, finishedAt, claim = '', place, isEncrypted } = archive
    if (state !== 'finished' || size === undefined || finishedAt === undefined) return undefined
    const cover = isEncrypted ? coverOf(ticket, claim) : undefined
    const read =
      place === 'blocks'
        ? readBlocks(this.#options, archive.key, cover)
        : readFile(this.#pathOf(archive.id), cover)
    return { etag: claim, name, size, finishedAt, read }
  }

  /** Only a holder of the ticket can open the key that packing an encrypted library needs. */
  async #takeEncrypted(archive: ArchiveRow, ticket: string): Promise<void> {
    const { db, node } = this.#options
    if (archive.sealedKey === undefined || archive.nodeId === node.id || this.#packings.has(archive.id))
      return
    if (archive.state !== 'queued' && archive.state !== 'running') return
    if (!(await db.write((tx) => isFreeArchive(tx, db.dialect, archive.key), { durable: false }))) return
    const key = openSealedKey(archive.sealedKey, ticket, KEY_PURPOSE)
    if (key !== undefined) this.#enqueue({ ...archive, ticket, key })
    key?.retire()
  }

  /** Inserts an archive if the limits allow it. Throws busy. */
  async #insert(
    wanted: { requester: string; bytes: number },
    insert: (tx: Parameters<Parameters<Database['write']>[0]>[0]) => Promise<void>,
  ): Promise<void> {
    const { db, now, space } = this.#options
    const evicted: string[] = []
    await db.withMutex(ADMISSION_MUTEX, () =>
      db.write(
        async (tx) => {
          evicted.length = 0
          const keys = admitArchive(await listArchives(tx), wanted, { space, now: now() })
          if (keys === undefined) return fail({ code: 'busy', seconds: RETRY_SECONDS })
          for (const key of keys) evicted.push((await deleteArchive(tx, key)) ?? '')
          await insert(tx)
        },
        { durable: false },
      ),
    )
    for (const id of evicted) await this.#discard(id)
  }

  /** Queues an archive on this node. */
  #enqueue(of: {
    readonly id: string
    readonly requester: string
    readonly accountKey: number
    readonly ticket?: string
    readonly key?: DataKey | undefined
  }): void {
    if (this.#closed || this.#packings.has(of.id)) return
    const lease = of.key?.lease()
    const packing: Packing = {
      id: of.id,
      accountKey: of.accountKey,
      tickets: new Set(of.ticket === undefined ? [] : [of.ticket]),
      key: of.key,
      abort: new AbortController(),
      packed: 0,
      total: undefined,
      done: Promise.resolve(),
    }
    this.#packings.set(of.id, packing)
    packing.done = this.#workers
      .run(of.requester, () => this.#make(packing, of.ticket), packing.abort.signal)
      .catch(() => {}) // Canceled while queued.
      .finally(() => {
        lease?.[Symbol.dispose]()
        this.#packings.delete(of.id)
      })
  }

  #mayHave(bytes: number): boolean {
    const { limit = Number.POSITIVE_INFINITY, space } = this.#options
    return bytes <= Math.min(limit, largestArchive(space) ?? Number.POSITIVE_INFINITY)
  }

  /** Removes archives whose tickets have expired. */
  async #sweep(): Promise<void> {
    const { db, now } = this.#options
    const removed = await db.write((tx) => deleteExpiredArchives(tx, now()), { durable: false })
    for (const id of removed) await this.#discard(id)
  }

  /** Removes a ticket; the archive is removed with its last ticket. */
  async #drop(hash: Uint8Array): Promise<void> {
    const { db } = this.#options
    const id = await db.write((tx) => deleteArchiveTicket(tx, hash), { durable: false })
    if (id !== undefined) await this.#discard(id)
  }

  async #discardOf(libraryKey: number): Promise<void> {
    const { db, onError } = this.#options
    try {
      const removed = await db.write((tx) => deleteArchivesOf(tx, libraryKey), { durable: false })
      for (const id of removed) await this.#discard(id)
    } catch (error) {
      onError(error)
    }
  }

  /** Stops packing an archive and removes its file. */
  async #discard(id: string): Promise<void> {
    await this.#stop(id)
    await this.#removeFile(id)
  }

  async #stop(id: string): Promise<void> {
    const packing = this.#packings.get(id)
    packing?.abort.abort()
    await packing?.done
  }

  async #removeFile(id: string): Promise<void> {
    try {
      await rm(this.#pathOf(id), { force: true })
    } catch (error) {
      this.#options.onError(error)
    }
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

  /** Packs one archive and records the result in its row. */
  async #make(packing: Packing, ticket: string | undefined): Promise<void> {
    const { db, node, now, onError } = this.#options
    const { signal } = packing.abort
    let claim: { id: string; claim: string } | undefined
    let isPacked = false
    try {
      const library = await this.#findLibrary(packing.id)
      if (library === undefined || signal.aborted) return
      const wanted = { claim: randomUUID(), nodeId: node.id }
      const claimed = await db.write((tx) => claimArchive(tx, db.dialect, packing.id, wanted), {
        durable: false,
      })
      if (claimed === undefined || signal.aborted) return
      claim = { id: packing.id, claim: wanted.claim }
      const cover = claimed.isEncrypted && ticket !== undefined ? coverOf(ticket, wanted.claim) : undefined
      const result = await this.#pack(packing, { ...claimed, ...wanted }, claimed.roots, library, cover)
      isPacked = true
      const own = claim
      const isFinished = await db.write((tx) => finishArchive(tx, own, { ...result, now: now() }), {
        durable: false,
      })
      if (!isFinished || signal.aborted) await this.#removeFile(packing.id)
      if (isFinished) this.#report(packing, 'successful', { ...packing, state: 'finished' })
    } catch (error) {
      if (isPacked) await this.#removeFile(packing.id)
      if (signal.aborted || claim === undefined) return
      const isTooLarge = error instanceof ArchiveTooLarge
      const { packed, total } = packing
      const own = claim
      const failure = isTooLarge ? 'size too large' : 'internal error'
      if (!isTooLarge) onError(error)
      await db
        .write((tx) => failArchive(tx, own, { failure, packed, total, now: now() }), { durable: false })
        .catch(onError)
      this.#report(packing, 'failed', { ...packing, state: 'failed' })
    }
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
    using _operation = core.operations.begin()
    await using _progress = this.#keepProgress(packing, claimed)
    const { signal } = packing.abort
    const { files, bytes } = await countArchive(core, library, roots)
    if (!this.#mayHave(bytes)) throw new ArchiveTooLarge()
    packing.total = files
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await using made = new AsyncDisposableStack()
    const filePath = this.#pathOf(packing.id)
    // What an earlier attempt of this process left.
    await rm(filePath, { force: true })
    const file = made.use(new ArchiveFile(filePath, cover))
    const index = made.use(new ArchiveFile(`${filePath}.index`, cover && TempFileCipher.random()))
    const writer = new ZipWriter(file, index)
    const onFile = () => {
      packing.packed += 1
      this.#report(packing, 'running', { ...packing, state: 'running' })
    }
    // A synced tree may state sizes that are too small.
    const admits = (read: number) =>
      this.#mayHave(read) && (read <= claimed.bytes || this.#grow(claimed, read))
    await packArchive(core, library, roots, writer, {
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
      const { blocks, small } = await core.content.receive(createReadStream(file, { start: offset, end }))
      await db.write(
        async (tx) => {
          if (!(await setArchiveBytes(tx, claimed, Math.max(claimed.bytes, size))))
            fail({ code: 'task-canceled' })
          await insertSmallBlocks(tx, small)
          await insertArchiveBlocks(tx, claimed.key, offset, blocks)
        },
        { durable: false },
      )
    }
  }

  /** Reserves more space for an archive. False if there is not enough. */
  async #grow(claimed: Claimed, bytes: number): Promise<boolean> {
    const { db, space } = this.#options
    const isReserved = await db.withMutex(ADMISSION_MUTEX, () =>
      db.write(
        async (tx) => {
          const others = (await listArchives(tx)).filter(({ key }) => key !== claimed.key)
          return fits(others, claimed.requester, bytes, space) && (await setArchiveBytes(tx, claimed, bytes))
        },
        { durable: false },
      ),
    )
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
    const timer = setInterval(() => {
      writing = writing.then(write).catch(onError)
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
    for (const ticket of packing.tickets) this.#reportTo(packing.accountKey, ticket, state, progress)
  }

  #reportTo(
    accountKey: number,
    ticket: string,
    state: ReportedState,
    { zipped, total }: { readonly zipped: number; readonly total: number },
  ): void {
    this.#options.onProgress?.(accountKey, ticket, { state, zipped, total })
  }

  #pathOf(id: string): string {
    return path.join(this.#options.directory, `${id}.zip`)
  }
}

/** Gives an equal archive one more ticket. Undefined if there is none. */
async function joinEqual(
  tx: Parameters<Parameters<Database['write']>[0]>[0],
  requester: string,
  identity: Uint8Array,
  hash: Uint8Array,
  expiresAt: number,
): Promise<ArchiveRow | undefined> {
  const equal = await findEqualArchive(tx, requester, identity)
  if (equal === undefined || !(await insertArchiveTicket(tx, hash, equal.key, expiresAt))) return undefined
  return equal
}

/**
 * The cipher of the file of an encrypted library, which only holders of the ticket can derive: plaintext is never stored. Each attempt at packing has
 * another key.
 */
function coverOf(ticket: string, claim: string): TempFileCipher {
  return new TempFileCipher(deriveFromCredential(ticket, Buffer.from(claim), FILE_PURPOSE))
}

import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { ROOT } from '../../base/paths/index.ts'
import {
  type ArchiveProgress,
  type ArchiveRow,
  adoptArchives,
  cancelArchive,
  deleteArchivesOf,
  deleteArchiveTicket,
  deleteExpiredArchives,
  deleteLostArchives,
  findArchive,
  findEqualArchive,
  insertArchive,
  insertArchiveTicket,
  isFreeArchive,
  largestArchive,
  listFreeArchives,
  listKnownArchives,
  listSealedTickets,
  listTicketsOfNode,
  releaseArchives,
  setArchiveFetched,
} from '../../libraries/archives/index.ts'
import { damagedBlocks, openSealedKey, sealKey } from '../../libraries/content/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import { Tickets } from '../../sharing/access/index.ts'
import { insertIfAdmitted } from './archive-admission.ts'
import type { ArchivesOptions } from './archive-options.ts'
import { ArchivePacker, coverOf } from './archive-packer.ts'
import { countArchive } from './archive-packing.ts'
import { type ReadArchive, readBlocks, readFile } from './archive-reader.ts'
import { type ArchiveRequest, identityOf, progressOf, requesterOf } from './archive-request.ts'

/** Overhead per file in an archive: two headers with its path. */
const BYTES_PER_FILE = 512
/** Archives of dead nodes that a node takes over at once. */
const MAX_TAKEN = 20
const KEY_PURPOSE = 'key for an archive'

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

/**
 * Takes requests for archives, has them packed in the background, and keeps each until its tickets expire. An archive is a row, so any
 * node answers for it. It names the node that packs it; when that node is dead, another one starts again. The limits hold for all nodes together.
 */
export class Archives implements AsyncDisposable {
  readonly #options: ArchivesOptions
  readonly #packer: ArchivePacker
  #closed = false

  constructor(options: ArchivesOptions) {
    this.#options = options
    this.#packer = new ArchivePacker(options)
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
   * an encrypted library that the account has not unlocked, disk-full, and busy.
   */
  async start(library: Library, request: ArchiveRequest): Promise<string> {
    const { core, db, tickets, now, lifeSeconds } = this.#options
    await this.#sweep()
    core.growth.refuseOnFullDisk()
    const key = await core.keys.keyFor(library)
    using _lease = key?.lease()
    const requester = requesterOf(library, request)
    const identity = identityOf(library, request)
    const counted = await countArchive(library, request.roots)
    const { link } = request
    const ticket = await tickets.issue(library, { operation: 'archive', path: ROOT, reusable: true, link })
    const hash = Tickets.hashOf(ticket)
    const expiresAt = Math.min(now() + lifeSeconds, link?.expiresAt ?? Number.MAX_SAFE_INTEGER)
    const accountKey = library.actor.key
    if (link !== undefined) {
      const sealed = (archive: ArchiveRow) => this.#sealed(archive, ticket)
      const equal = await db.write(
        (tx) => joinEqual(tx, { requester, identity }, { hash, expiresAt, sealed }),
        { durable: 'replicated' },
      )
      if (equal !== undefined) {
        const of = { accountKey, isEncrypted: equal.isEncrypted }
        this.#packer.find(equal.id)?.tickets.add(ticket)
        this.#packer.reportTo(ticket, of, 'queued', progressOf(equal))
        if (equal.state === 'finished') this.#packer.reportTo(ticket, of, 'successful', progressOf(equal))
        return ticket
      }
    }
    const id = randomUUID()
    const isEncrypted = key !== undefined
    const needed = this.#packer.mayHave(counted.bytes) ? counted.bytes + counted.files * BYTES_PER_FILE : 0
    const bytes = Math.min(needed, largestArchive(this.#options.space) ?? Number.POSITIVE_INFINITY)
    const evicted = await insertIfAdmitted(this.#options, { requester, bytes }, async (tx) => {
      const archiveKey = await insertArchive(tx, {
        id,
        libraryKey: library.info.key,
        accountKey,
        requester,
        identity,
        roots: request.roots,
        name: request.name,
        bytes,
        isEncrypted,
        sealedKey: key && sealKey(key, ticket, KEY_PURPOSE),
        nodeId: this.#options.node.id,
        now: now(),
      })
      const sealed = this.#sealed({ id, isEncrypted }, ticket)
      await insertArchiveTicket(tx, archiveKey, { hash, expiresAt, sealed })
    })
    for (const one of evicted) await this.#packer.discard(one)
    this.#packer.enqueue({ id, requester, accountKey, tickets: [ticket], key })
    this.#packer.reportTo(ticket, { accountKey, isEncrypted }, 'queued', { zipped: 0, total: 1 })
    return ticket
  }

  /** The archive of a valid ticket whose holder may still read the library. */
  async find(ticket: string): Promise<FoundArchive | undefined> {
    const { db, tickets, now } = this.#options
    const hash = Tickets.hashOf(ticket)
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
    const hash = Tickets.hashOf(ticket)
    const found = await findArchive(db, hash)
    if (found === undefined || !(await tickets.isValid(ticket))) return
    const canceled = await db.write((tx) => cancelArchive(tx, hash, now()), { durable: false })
    if (canceled === undefined) return
    const { id } = found.archive
    const packing = this.#packer.find(id)
    packing?.tickets.delete(ticket)
    if (canceled === 'archive') await this.#packer.discard(id)
    this.#packer.reportTo(
      ticket,
      found.archive,
      'canceled',
      progressOf({ ...found.archive, ...packing }, true),
    )
  }

  /**
   * Called periodically: packs archives that nobody packs, because their node is dead or because the database did not answer this one, and deletes those that may no longer be read, because a library was deleted, a link
   * disabled, or a permission revoked.
   */
  async maintain(): Promise<void> {
    const { db, node } = this.#options
    if (this.#closed) return
    const free = await db.write(
      async (tx) => {
        await adoptArchives(tx, db.dialect, node.id)
        return listFreeArchives(tx, db.dialect, node.id, MAX_TAKEN + this.#packer.size)
      },
      { durable: false },
    )
    for (const archive of free) {
      if (this.#packer.find(archive.id) !== undefined || !this.#packer.isDue(archive.id)) continue
      const sealed = await listSealedTickets(db, archive.id)
      const tickets = sealed.flatMap((one) => this.#options.sealing.open(one, archive.id) ?? [])
      this.#packer.enqueue({ ...archive, tickets })
    }
    for (const hash of await listTicketsOfNode(db, node.id)) {
      if ((await this.#options.tickets.findLibrary(hash)) === undefined) await this.#drop(hash)
    }
  }

  /** Stops packing and removes the files of this node. Unfinished archives are packed by another node, or after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { db, node, onError } = this.#options
    this.#closed = true
    const unfinished = await this.#packer.close()
    try {
      const lost = await db.write((tx) => releaseArchives(tx, node.id, unfinished), { durable: false })
      for (const id of [...unfinished, ...lost]) await this.#packer.removeFile(id)
    } catch (error) {
      onError(error)
    }
  }

  #view(archive: ArchiveRow, isCanceled: boolean, ticket: string): FoundArchive {
    const packing = this.#packer.find(archive.id)
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
        : readFile(this.#packer.pathOf(archive.id), cover)
    return { etag: claim, name, size, finishedAt, read }
  }

  /** Only a holder of the ticket can open the key that packing an encrypted library needs. */
  async #takeEncrypted(archive: ArchiveRow, ticket: string): Promise<void> {
    const { db, node } = this.#options
    if (archive.state !== 'queued' && archive.state !== 'running') return
    if (archive.sealedKey === undefined || this.#packer.find(archive.id) !== undefined) return
    if (!this.#packer.isDue(archive.id)) return
    const isFree = (tx: Transaction) => isFreeArchive(tx, db.dialect, node.id, archive.key)
    if (!(await db.write(isFree, { durable: false }))) return
    const key = openSealedKey(archive.sealedKey, ticket, KEY_PURPOSE)
    if (key !== undefined) this.#packer.enqueue({ ...archive, tickets: [ticket], key })
    key?.retire()
  }

  /** The ticket as it is stored, for events after a takeover. A ticket that opens an encrypted library is not, because the secret of the server would open it. */
  #sealed(
    { id, isEncrypted }: { readonly id: string; readonly isEncrypted: boolean },
    ticket: string,
  ): Uint8Array | undefined {
    return isEncrypted ? undefined : this.#options.sealing.seal(ticket, id)
  }

  /** Removes archives whose tickets have expired. */
  async #sweep(): Promise<void> {
    const { db, now } = this.#options
    const removed = await db.write((tx) => deleteExpiredArchives(tx, now()), { durable: false })
    for (const id of removed) await this.#packer.discard(id)
  }

  /** Removes a ticket; the archive is removed with its last ticket. */
  async #drop(hash: Uint8Array): Promise<void> {
    const { db } = this.#options
    const id = await db.write((tx) => deleteArchiveTicket(tx, hash), { durable: false })
    if (id !== undefined) await this.#packer.discard(id)
  }

  async #discardOf(libraryKey: number): Promise<void> {
    const { db, onError } = this.#options
    try {
      const removed = await db.write((tx) => deleteArchivesOf(tx, libraryKey), { durable: false })
      for (const id of removed) await this.#packer.discard(id)
    } catch (error) {
      onError(error)
    }
  }
}

/** Gives an equal archive one more ticket. Undefined if there is none, or if it has lost a block: then another one is packed. */
async function joinEqual(
  tx: Transaction,
  { requester, identity }: { readonly requester: string; readonly identity: Uint8Array },
  ticket: {
    readonly hash: Uint8Array
    readonly expiresAt: number
    readonly sealed: (archive: ArchiveRow) => Uint8Array | undefined
  },
): Promise<ArchiveRow | undefined> {
  const equal = await findEqualArchive(tx, requester, identity)
  if (equal === undefined || (await damagedBlocks.hasInArchive(tx, equal.key))) return undefined
  const row = { ...ticket, sealed: ticket.sealed(equal) }
  return (await insertArchiveTicket(tx, equal.key, row)) ? equal : undefined
}

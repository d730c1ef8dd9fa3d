import { randomUUID } from 'node:crypto'
import { DomainError, type Fault, fail } from '../../base/errors.ts'
import type { DirId, FileDirent } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { Retries } from '../../base/scheduling/index.ts'
import {
  type CopyObserver,
  copyBetweenLibraries,
  deleteCopied,
  type Placed,
  pathsOf,
  type RemovalObserver,
  type RoomLeft,
  refuseUndecrypted,
  type Selection,
  select,
} from '../../libraries/edits/index.ts'
import {
  type EditableLibrary,
  fileLocks,
  type Library,
  type LibraryCore,
} from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Totals } from '../../libraries/tree/index.ts'
import {
  type CredentialOrigin,
  type CredentialOrigins,
  credentialOriginOf,
} from '../../people/credentials/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access, LibraryKeys } from '../../sharing/access/index.ts'
import type { ClaimedTask, Extraction, TaskOrder, TaskProgress } from './copy-move-task.ts'
import {
  abandonedBytesOf,
  advanceTask,
  beginTask,
  cancelTask,
  claimTask,
  countUnfinished,
  countUnfinishedOf,
  deleteOldAbandoned,
  deleteTasksBefore,
  findOperation,
  findProgress,
  insertAbandoned,
  insertTask,
  listFree,
  setCopied,
  setFailed,
  setRemoved,
} from './copy-move-task-store.ts'
import { extractArchive } from './extract-archive.ts'
import { FairQueue } from './fair-queue.ts'

const KEPT_SECONDS = 3600
/** Tasks of other nodes in the queue of this one. Each node that has a free slot claims the next. */
const MAX_ENQUEUED = 1000
/** Unfinished tasks of an account. */
export const MAX_TASKS = 1000

interface CopyMoveTasksOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly origins: CredentialOrigins
  readonly roomLeft: RoomLeft
  /** Bytes that an account may store in the libraries of an owner without a commit; undefined for no limit. */
  readonly allowance: (library: LibraryInfo) => Promise<number | undefined>
  /** Unix seconds. */
  readonly now: () => number
  /** Maximum of concurrent tasks of a node. */
  readonly atOnce: number
  /** The node that works on the tasks that this process runs. */
  readonly nodeId: string
  /** Limits of one task. Undefined is no limit. */
  readonly limits?: { readonly files?: number | undefined; readonly bytes?: number | undefined }
  /** Called with the progress of a task after it is committed. */
  readonly onProgress?: (accountKey: number, task: TaskStep) => void
  /** Whether an error says nothing about the task, because a store could not be asked or its answer is not known. */
  readonly isPassing: (error: unknown) => boolean
  /** Called with unexpected errors, as opposed to faults. */
  readonly onError: (error: unknown) => void
}

/** Progress of a task in files. A move whose originals are still to be deleted counts as running. */
interface TaskStep {
  readonly id: string
  readonly operation: 'copy' | 'move' | 'extract'
  readonly state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled'
  readonly done: number
  readonly total: number
}

/** The server stops. The task keeps its state, and another node or the next start resumes it. */
class Stopping extends Error {}

/** A task exceeds a limit. */
class BeyondLimit extends Error {}

/**
 * Copies and moves between libraries, and extractions of archives, in the background, a few concurrently. The state of a task is stored in
 * the database, so it survives a restart. Its end is written in the transaction of the commit that completes
 * it. Cancellation is decided there too, so a task ends in exactly one state. Each task names the node that works on it; others take it over
 * when that node is dead, and its claim then fails.
 */
export class CopyMoveTasks implements AsyncDisposable {
  readonly #options: CopyMoveTasksOptions
  readonly #queue: FairQueue
  /** Tasks in the queue, and running ones. */
  readonly #enqueued = new Set<string>()
  readonly #retries = new Retries()
  #stopping = false

  constructor(options: CopyMoveTasksOptions) {
    this.#options = options
    this.#queue = new FairQueue(options.atOnce, options.onError)
  }

  /**
   * Creates a task that copies or moves entries into another library, and returns its id. Before the task
   * exists it throws permission-denied for a scoped token, password-needed, path-not-found, too-many-tasks, and for
   * a move locked.
   */
  async start(
    operation: 'copy' | 'move',
    source: Library,
    selection: Selection,
    target: Library,
    folder: LibraryPath,
  ): Promise<string> {
    const { core } = this.#options
    refuseScoped(source)
    await refuseUndecrypted(core, source, target)
    const chosen = await select(source.tree, selection)
    if (operation === 'move') {
      await fileLocks.refuse(core, source.editable(selection.parent), pathsOf(chosen))
    }
    return this.#create({ operation, source, ...selection, target, folder })
  }

  async #create(
    wanted: Omit<TaskOrder, 'origin' | 'source' | 'target'> & { source: Library; target: Library },
  ): Promise<string> {
    const { db, now } = this.#options
    const { source, target } = wanted
    const origin = credentialOriginOf(source.actor)
    const id = randomUUID()
    const order = { ...wanted, origin, source: keysOf(source), target: keysOf(target) }
    // Only this process has the keys of encrypted libraries.
    const isEncrypting = [source, target].some(({ info }) => info.encryption !== undefined)
    const nodeId = isEncrypting ? this.#options.nodeId : undefined
    await db.write(async (tx) => {
      const unfinished = await countUnfinishedOf(tx, origin.accountKey)
      if (unfinished >= MAX_TASKS) fail({ code: 'too-many-tasks', limit: MAX_TASKS })
      await insertTask(tx, id, order, { now: now(), nodeId })
    })
    this.#report({ ...order, id }, 'queued', 0, 0)
    this.#enqueue(id, origin.accountKey)
    return id
  }

  /**
   * Creates a task that extracts entries of an archive into a folder, and returns its id. Before the task exists it throws
   * permission-denied for a scoped token, password-needed, path-not-found, too-many-tasks.
   */
  async extract(
    source: Library,
    archive: LibraryPath,
    extraction: Extraction,
    target: Library,
    folder: LibraryPath,
  ): Promise<string> {
    const { core } = this.#options
    refuseScoped(source)
    await refuseUndecrypted(core, source, target)
    const selection = { parent: parentOf(archive), names: [baseName(archive)] }
    archiveOf(await select(source.tree, selection))
    return this.#create({ operation: 'extract', source, ...selection, target, folder, extraction })
  }

  /**
   * Queues orphaned tasks: those of dead nodes, and those that this one could not claim, complete or end because the database did
   * not answer. Called at the start, and then periodically.
   */
  async takeFree(): Promise<void> {
    const { db, nodeId } = this.#options
    if (this.#stopping || this.#enqueued.size >= MAX_ENQUEUED) return
    const free = await db.write((tx) => listFree(tx, db.dialect, nodeId, MAX_ENQUEUED), { durable: false })
    for (const { id, accountKey } of free) if (this.#retries.isDue(id)) this.#enqueue(id, accountKey)
  }

  /** Undefined if the account has no such task, or if it ended more than an hour ago. */
  async progressOf(account: { readonly key: number }, id: string): Promise<TaskProgress | undefined> {
    const { db, now } = this.#options
    return findProgress(db, id, account.key, now() - KEPT_SECONDS)
  }

  /** False if it is too late. True also if the account has no such task. */
  async cancel(account: { readonly key: number }, id: string): Promise<boolean> {
    const { db, now } = this.#options
    const isCanceled = await db.write((tx) => cancelTask(tx, id, account.key, now()))
    if (!isCanceled) return (await this.progressOf(account, id)) === undefined
    const operation = await findOperation(db, id)
    if (operation !== undefined) this.#options.onProgress?.(account.key, canceled(id, operation))
    return true
  }

  countUnfinished(): Promise<{ queued: number; running: number }> {
    return countUnfinished(this.#options.db)
  }

  /** Maintenance: deletes tasks whose progress can no longer be requested, and bytes that are no longer counted. */
  deleteEnded(): Promise<number> {
    const { db, now } = this.#options
    return db.write(
      async (tx) => {
        await deleteOldAbandoned(tx, now())
        return deleteTasksBefore(tx, now() - KEPT_SECONDS)
      },
      { durable: false },
    )
  }

  /** Stops at the next step. Unfinished tasks are resumed by another node, or after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true
    await this.#queue.stop()
  }

  #enqueue(id: string, accountKey: number): void {
    if (this.#stopping || this.#enqueued.has(id)) return
    this.#enqueued.add(id)
    const run = () =>
      this.#run(id).finally(() => {
        this.#enqueued.delete(id)
      })
    this.#queue.add(accountKey, run)
  }

  async #run(id: string): Promise<void> {
    try {
      await this.#attempt(id)
      this.#retries.forget(id)
    } catch (error) {
      // Its end could not be written, so `takeFree` finds it.
      this.#retries.note(id)
      throw error
    }
  }

  async #attempt(id: string): Promise<void> {
    const { db, now, nodeId, isPassing, onError } = this.#options
    const claim = { claim: randomUUID(), nodeId, now: now() }
    const task = await db.write((tx) => claimTask(tx, db.dialect, id, claim), { durable: false })
    if (task === undefined) return
    try {
      await this.#execute(task)
    } catch (error) {
      if (error instanceof Stopping || isFault(error, 'task-canceled')) return
      // A new claim refuses what this attempt may still have on its way, so the task begins again, as after a restart.
      if (isPassing(error) && this.#retries.mayRepeat(id)) throw error
      if (!(error instanceof DomainError || error instanceof BeyondLimit)) onError(error)
      await db.write((tx) => setFailed(tx, task, reasonFor(error), now()))
      this.#report(task, 'failed', 0, task.total)
    }
  }

  async #execute(task: ClaimedTask): Promise<void> {
    using operation = this.#options.core.operations.begin()
    await operation.run(() => this.#perform(task))
  }

  async #perform(task: ClaimedTask): Promise<void> {
    const { core, roomLeft } = this.#options
    const source = await this.#openSource(task)
    const sourceRoot = task.sourceRoot ?? source.info.root
    // A fixed root, so that the copied entries and the deleted ones are the same even if the source changes.
    const chosen = await select(source.content.tree(sourceRoot), task)
    const editable = task.operation === 'move' ? source.editable(task.parent) : undefined
    const progress = { total: task.total }
    if (task.extraction !== undefined) {
      await this.#extract(task, {
        source,
        sourceRoot,
        archive: archiveOf(chosen),
        extraction: task.extraction,
      })
      return
    }
    if (task.state === 'running') {
      const target = await this.#openTarget(task)
      await refuseUndecrypted(core, source, target)
      if (editable !== undefined) await fileLocks.refuse(core, editable, pathsOf(chosen))
      const copy = { source, chosen, target, folder: task.folder, roomLeft }
      const observer = this.#observe(task, sourceRoot, progress)
      const isEncrypting = [source, target].some(({ info }) => info.encryption !== undefined)
      if (!isEncrypting) await copyBetweenLibraries(core, copy, observer)
      else {
        await this.#countingAbandoned(task, target, async (stored) => {
          const counted = async (totals: Totals) => {
            await observer.counted(totals)
            stored(totals.size)
          }
          await copyBetweenLibraries(core, copy, { ...observer, counted })
        })
      }
    }
    if (editable !== undefined) {
      await deleteCopied(core, editable, chosen, this.#observeRemoval(task, progress))
    }
  }

  async #extract(
    task: ClaimedTask,
    what: { source: Library; sourceRoot: DirId; archive: FileDirent; extraction: Extraction },
  ): Promise<void> {
    const { core, db, roomLeft } = this.#options
    const { sourceRoot, ...job } = what
    const progress = { total: task.total }
    const observer = this.#observe(task, sourceRoot, progress)
    const target = await this.#openTarget(task)
    await this.#countingAbandoned(task, target, async (stored) => {
      await extractArchive(
        core,
        { ...job, target, folder: task.folder, roomLeft },
        {
          counted: ({ files, bytes }) => observer.counted({ size: bytes, fileCount: files, dirCount: 0 }),
          unpacked: (files) => db.write((tx) => observer.copied(tx, files), { durable: false }),
          stored,
          placing: (...args) => observer.placing(...args),
          placed: (...args) => observer.placed(...args),
        },
      )
    })
  }

  /**
   * Charges the bytes stored by a failed task to the allowance of the account. Without that limit, repeatedly cancelled tasks could fill the
   * disk. Throws quota-exceeded.
   */
  async #countingAbandoned(
    { origin }: ClaimedTask,
    { info }: Library,
    work: (stored: (bytes: number) => void) => Promise<void>,
  ): Promise<void> {
    const { db, now, allowance } = this.#options
    const limit = await allowance(info)
    const before = await abandonedBytesOf(db, origin.accountKey, now())
    let bytes = 0
    try {
      await work((more) => {
        if (limit !== undefined && before + bytes + more > limit) fail({ code: 'quota-exceeded', limit })
        bytes += more
      })
    } catch (error) {
      if (bytes > 0) await db.write((tx) => insertAbandoned(tx, origin.accountKey, bytes, now()))
      throw error
    }
  }

  #observe(task: ClaimedTask, sourceRoot: DirId, progress: { total: number }): CopyObserver {
    const { db, limits, now } = this.#options
    return {
      counted: async ({ size, fileCount: total }) => {
        if (total > (limits?.files ?? Number.POSITIVE_INFINITY)) throw new BeyondLimit('Too many files')
        if (size > (limits?.bytes ?? Number.POSITIVE_INFINITY)) {
          throw new BeyondLimit('Folder or file size is too large')
        }
        const begun = await db.write((tx) => beginTask(tx, task, { total, sourceRoot }, now()), {
          durable: false,
        })
        expectClaim(begun)
        progress.total = total
        this.#report(task, 'running', 0, total)
      },
      copied: async (tx, done) => {
        if (this.#stopping) throw new Stopping()
        for (const { libraryKey } of [task.source, task.target]) await refuseDeleted(tx, libraryKey)
        expectClaim(await advanceTask(tx, task, done, now()))
        tx.afterCommit(() => this.#report(task, 'running', done, progress.total))
      },
      // Permission may be revoked while the task runs.
      placing: async () => {
        await this.#openSource(task)
        await this.#openTarget(task)
      },
      placed: async (tx) => {
        const next = task.operation === 'move' ? 'removing' : 'successful'
        expectClaim(await setCopied(tx, task, next, now()))
        const { total } = progress
        tx.afterCommit(() => this.#report(task, next === 'removing' ? 'running' : next, total, total))
      },
    }
  }

  #report(
    { id, operation, origin }: Pick<ClaimedTask, 'id' | 'operation' | 'origin'>,
    state: TaskStep['state'],
    done: number,
    total: number,
  ): void {
    this.#options.onProgress?.(origin.accountKey, { id, operation, state, done, total })
  }

  #observeRemoval(task: ClaimedTask, progress: { readonly total: number }): RemovalObserver {
    const { now } = this.#options
    return {
      removing: async () => {
        await this.#openSource(task)
      },
      removed: async (tx) => {
        expectClaim(await setRemoved(tx, task, now()))
        tx.afterCommit(() => this.#report(task, 'successful', progress.total, progress.total))
      },
    }
  }

  /** Throws library-not-found, and permission-denied if the source of a move is read-only. */
  async #openSource({ origin, source, operation, parent }: ClaimedTask): Promise<Library> {
    const library = await this.#open(origin, source)
    return operation === 'move' ? library.editable(parent) : library
  }

  /** Throws library-not-found, permission-denied. */
  async #openTarget({ origin, target, folder }: ClaimedTask): Promise<EditableLibrary> {
    return (await this.#open(origin, target)).editable(folder)
  }

  /** With the current permissions of the account. Throws permission-denied if its credential was revoked. */
  async #open(origin: CredentialOrigin, keys: LibraryKeys): Promise<Library> {
    const { access, origins } = this.#options
    const actor = (await origins.findActor(origin)) ?? fail({ code: 'permission-denied' })
    const library = await access.reopen(actor, keys)
    return library ?? fail({ code: 'library-not-found', id: String(keys.libraryKey) })
  }
}

/** Throws permission-denied for a scoped token: a task would not be restricted to its scope. */
function refuseScoped({ actor }: Library): void {
  if (credentialOriginOf(actor).scopedTokenKey !== undefined) fail({ code: 'permission-denied' })
}

/** The archive of an extraction. Throws path-not-found for a folder. */
function archiveOf([chosen]: readonly Placed[]): FileDirent {
  if (chosen?.entry.kind === 'file') return chosen.entry
  return fail({ code: 'path-not-found', path: chosen?.path ?? '/', wanted: 'File' })
}

function keysOf({ info }: Library): LibraryKeys {
  return { libraryKey: info.key, subKey: info.sub?.key }
}

function canceled(id: string, operation: TaskStep['operation']): TaskStep {
  return { id, operation, state: 'canceled', done: 0, total: 0 }
}

/** Throws library-not-found if the source or the target was deleted. */
async function refuseDeleted(tx: Transaction, libraryKey: number): Promise<void> {
  if ((await libraryRows.findByKey(tx, libraryKey)) === undefined) {
    fail({ code: 'library-not-found', id: String(libraryKey) })
  }
}

function expectClaim(isOurs: boolean): void {
  if (!isOurs) fail({ code: 'task-canceled' })
}

function isFault(error: unknown, code: Fault['code']): boolean {
  return error instanceof DomainError && error.fault.code === code
}

/** The messages that clients expect. */
function reasonFor(error: unknown): string {
  if (error instanceof BeyondLimit) return error.message
  if (isFault(error, 'quota-exceeded')) return 'Quota is full'
  if (isFault(error, 'too-many-entries')) return 'Too many files'
  if (error instanceof DomainError && error.fault.code === 'archive-unreadable') {
    return `The file ${error.fault.reason}`
  }
  const isInvalid = invalid.some((code) => isFault(error, code))
  return isInvalid ? 'Invalid arguments' : 'Internal error when copy or move'
}

const invalid: readonly Fault['code'][] = [
  'password-needed',
  'library-not-found',
  'path-not-found',
  'permission-denied',
]

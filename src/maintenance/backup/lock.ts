import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { hasEnded, identifyProcess } from '../../base/process-identity.ts'
import { parseOwnJson } from './own-json.ts'
import { BackupError, type BackupTarget, ObjectMissing } from './target.ts'

/** `write` excludes other writers, `read` excludes only those that remove: `remove` excludes everybody. */
type LockMode = 'read' | 'write' | 'remove'

interface LockEntry {
  readonly mode: LockMode
  readonly host: string
  readonly pid: number
  /** As of `identifyProcess`. */
  readonly process?: string | undefined
  readonly command: string
  /** ISO 8601. */
  readonly renewedAt: string
  /** The objects that the holder is about to remove, once it is certain. */
  readonly removing?: readonly string[] | undefined
}

/**
 * Says that a lock was broken: it had expired, and nobody can know whether its holder is dead or stands still. Without `snapshots` the breaker has not
 * finished, and nothing was removed because of it.
 */
interface BrokenLock {
  /** The id of the lock. */
  readonly lock: string
  /** ISO 8601. */
  readonly brokenAt: string
  /** All snapshots there were. One that the holder publishes later is not valid. */
  readonly snapshots?: readonly string[]
  /** The objects that the holder may still remove. */
  readonly removing?: readonly string[] | undefined
}

const FOLDER = 'locks/'
const BROKEN = 'broken/'
const SNAPSHOTS = 'snapshots/'
const RENEW_AFTER_MS = 60_000
/** A lock that was not renewed for this long belongs to a process that died. */
const EXPIRES_AFTER_MS = 10 * 60_000
/** A process that stood still for longer than this does not go on. */
const BROKEN_KEPT_MS = 30 * 86_400_000

/**
 * A lock in a target. Released when disposed; a killed process leaves it behind, and the next one on the same machine removes it. A lock that expired may be
 * broken while its holder only stands still, so a holder asks `assertHeld` before and after each act that others must be able to rely on (record 0111).
 */
export class TargetLock implements AsyncDisposable {
  /** New for each lock. */
  readonly id = randomBytes(8).toString('hex')
  readonly #target: BackupTarget
  readonly #mode: LockMode
  readonly #command: string
  #removing: readonly string[] | undefined
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<unknown> = Promise.resolve()

  private constructor(target: BackupTarget, mode: LockMode, command: string) {
    this.#target = target
    this.#mode = mode
    this.#command = command
  }

  /** Throws BackupError if another process uses the target in a way that excludes this one. */
  static async acquire(target: BackupTarget, mode: LockMode, command: string): Promise<TargetLock> {
    const lock = new TargetLock(target, mode, command)
    await refuseConflicts(target, lock.#name, mode)
    await lock.#write()
    try {
      // Again, because another process may have written its lock at the same time. Both then give up.
      await refuseConflicts(target, lock.#name, mode)
      lock.#timer = setInterval(() => {
        // Not without a look: to write a broken lock again would bring it back.
        lock.#renewing = lock
          .assertHeld()
          .then(() => lock.#write())
          .catch(() => {})
      }, RENEW_AFTER_MS).unref()
      return lock
    } catch (error) {
      await lock[Symbol.asyncDispose]()
      throw error
    }
  }

  get #name(): string {
    return FOLDER + this.id
  }

  /** Throws BackupError if another process broke the lock, because it was not renewed in time. */
  async assertHeld(): Promise<void> {
    const own = await findJson<LockEntry>(this.#target, this.#name)
    const broken = await listBroken(this.#target)
    if (own !== undefined && !broken.some(({ lock }) => lock === this.id)) return
    throw new BackupError(
      `${this.#command} stood still for so long that another command took over ${this.#target.place}: run ${this.#command} again. Nothing is lost.`,
    )
  }

  /** States what will be removed, before the first of it is. Whoever breaks the lock then relies on nothing of it. Throws BackupError if the lock is broken. */
  async announceRemoval(names: readonly string[]): Promise<void> {
    this.#removing = names
    await this.#renewing
    await this.#write()
    await this.assertHeld()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    await this.#target.remove(this.#name)
  }

  #write(): Promise<void> {
    const entry: LockEntry = {
      mode: this.#mode,
      host: hostname(),
      pid: process.pid,
      process: identifyProcess(),
      command: this.#command,
      renewedAt: new Date().toISOString(),
      removing: this.#removing,
    }
    return this.#target.put(this.#name, Buffer.from(JSON.stringify(entry)))
  }
}

/** What says that locks were broken. Nearly always nothing. */
export async function listBroken(target: BackupTarget): Promise<readonly BrokenLock[]> {
  const found: BrokenLock[] = []
  for await (const { name } of target.list(BROKEN)) {
    const broken = await findJson<BrokenLock>(target, name)
    if (broken !== undefined) found.push(broken)
  }
  return found
}

/** Removes what says that locks were broken, once their holders are certainly gone. */
export async function forgetBroken(target: BackupTarget): Promise<void> {
  for await (const { name } of target.list(BROKEN)) {
    const broken = await findJson<BrokenLock>(target, name)
    if (Date.now() - Date.parse(broken?.brokenAt ?? '') > BROKEN_KEPT_MS) await target.remove(name)
  }
}

async function refuseConflicts(target: BackupTarget, own: string, mode: LockMode): Promise<void> {
  for await (const { name } of target.list(FOLDER)) {
    if (name === own) continue
    const entry = await findJson<LockEntry>(target, name)
    if (entry === undefined || !excludes(mode, entry.mode)) continue
    if (hasEnded(entry.process ?? '')) await target.remove(name)
    else if (Date.now() - Date.parse(entry.renewedAt) > EXPIRES_AFTER_MS) await breakLock(target, name)
    else {
      throw new BackupError(
        `${entry.command} is running on ${entry.host} with process id ${entry.pid} and uses ${target.place}: wait until it ends, or remove ${name} there if that process no longer exists.`,
      )
    }
  }
}

/**
 * Each step relies on the one before. A holder that goes on after the first one sees it. What it published or announced before that is found by the second, and
 * from the third on nothing else of it counts. The name is new for each breaker: of two at the same time, the one that saw less must be heard too.
 */
async function breakLock(target: BackupTarget, name: string): Promise<void> {
  const lock = name.slice(FOLDER.length)
  const object = `${BROKEN}${lock}-${randomBytes(4).toString('hex')}`
  const put = (value: BrokenLock) => target.put(object, Buffer.from(JSON.stringify(value)))
  const begun = { lock, brokenAt: new Date().toISOString() }
  await put(begun)
  const removing = (await findJson<LockEntry>(target, name))?.removing
  const snapshots: string[] = []
  for await (const found of target.list(SNAPSHOTS)) snapshots.push(found.name.slice(SNAPSHOTS.length))
  await put({ ...begun, snapshots, removing })
  await target.remove(name)
}

function excludes(a: LockMode, b: LockMode): boolean {
  return a === 'remove' || b === 'remove' || (a === 'write' && b === 'write')
}

async function findJson<T>(target: BackupTarget, name: string): Promise<T | undefined> {
  try {
    return parseOwnJson<T>(await target.get(name))
  } catch (error) {
    if (error instanceof ObjectMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

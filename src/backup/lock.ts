import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseOwnJson } from './own-json.ts'
import { BackupError, type BackupTarget, ObjectMissing } from './target.ts'

/** `write` excludes other writers, `read` excludes only those that remove: `remove` excludes everybody. */
type LockMode = 'read' | 'write' | 'remove'

interface LockEntry {
  readonly mode: LockMode
  readonly host: string
  readonly pid: number
  /** When the process began, as of `beginningOf`. The same id may belong to another process later, as to the first one of a restarted container. */
  readonly began?: string | undefined
  readonly command: string
  /** ISO 8601. */
  readonly renewedAt: string
}

const FOLDER = 'locks/'
const RENEW_AFTER_MS = 60_000
/** A lock that was not renewed for this long belongs to a process that died. */
const EXPIRES_AFTER_MS = 10 * 60_000

/** A lock in a target. Released when disposed; a killed process leaves it behind, and the next one on the same machine removes it. */
export class TargetLock implements AsyncDisposable {
  readonly #target: BackupTarget
  readonly #name: string
  readonly #timer: NodeJS.Timeout

  private constructor(target: BackupTarget, name: string, renew: () => void) {
    this.#target = target
    this.#name = name
    this.#timer = setInterval(renew, RENEW_AFTER_MS).unref()
  }

  /** Throws BackupError if another process uses the target in a way that excludes this one. */
  static async acquire(target: BackupTarget, mode: LockMode, command: string): Promise<TargetLock> {
    const name = `${FOLDER}${randomBytes(8).toString('hex')}`
    const write = () => {
      const entry: LockEntry = {
        mode,
        host: hostname(),
        pid: process.pid,
        began: beginningOf(process.pid),
        command,
        renewedAt: new Date().toISOString(),
      }
      return target.put(name, Buffer.from(JSON.stringify(entry)))
    }
    await refuseConflicts(target, name, mode)
    await write()
    const lock = new TargetLock(target, name, () => {
      write().catch(() => {})
    })
    try {
      // Again, because another process may have written its lock at the same time. Both then give up.
      await refuseConflicts(target, name, mode)
      return lock
    } catch (error) {
      await lock[Symbol.asyncDispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#target.remove(this.#name)
  }
}

async function refuseConflicts(target: BackupTarget, own: string, mode: LockMode): Promise<void> {
  for await (const { name } of target.list(FOLDER)) {
    if (name === own) continue
    const entry = await findEntry(target, name)
    if (entry === undefined || !excludes(mode, entry.mode)) continue
    if (isDead(entry)) {
      await target.remove(name)
      continue
    }
    throw new BackupError(
      `${entry.command} is running on ${entry.host} with process id ${entry.pid} and uses ${target.place}: wait until it ends, or remove ${name} there if that process no longer exists.`,
    )
  }
}

function excludes(a: LockMode, b: LockMode): boolean {
  return a === 'remove' || b === 'remove' || (a === 'write' && b === 'write')
}

async function findEntry(target: BackupTarget, name: string): Promise<LockEntry | undefined> {
  try {
    return parseOwnJson<LockEntry>(await target.get(name))
  } catch (error) {
    if (error instanceof ObjectMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

function isDead({ host, pid, began, renewedAt }: LockEntry): boolean {
  if (Date.now() - Date.parse(renewedAt) > EXPIRES_AFTER_MS) return true
  if (host !== hostname()) return false
  return !isRunning(pid) || hasOtherBeginning(pid, began)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** Whether the id belongs to another process now. False if the beginning of one of them is not known. */
function hasOtherBeginning(pid: number, began: string | undefined): boolean {
  const found = beginningOf(pid)
  return began !== undefined && found !== undefined && found !== began
}

/** The start of the machine and the ticks from then to the start of the process. Undefined where the kernel does not tell. */
function beginningOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field, the name in parentheses, may contain spaces. The 22nd is the start.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return ticks === undefined ? undefined : `${boot} ${ticks}`
  } catch {
    return undefined
  }
}

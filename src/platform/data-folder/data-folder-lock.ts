import { existsSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { StartError } from '../../base/errors.ts'

const LOCK_FILE = 'server.lock'
const OWNER_FILE = 'server.json'
const WORKERS_FILE = 'workers.lock'
/** Workers end as soon as they notice that their supervisor is dead. */
const WORKERS_END_MS = 10_000
const WORKERS_POLL_MS = 20
const SQLITE_BUSY = 5

/** The server that holds the lock of a data folder, as it described itself. */
interface DataFolderOwner {
  readonly pid: number
  /** In a container this is the name of the container, and the pid is the one inside it. */
  readonly machine: string
  /** The URL it listens on, or the address it is going to listen on. */
  readonly address: string
  /** Its id among the nodes on one database; undefined for a command. */
  readonly nodeId?: string | undefined
}

/** Another server has the data folder open. Nothing was changed. */
export class DataFolderInUseError extends StartError {
  override name = 'DataFolderInUseError'

  constructor(folder: string, owner: DataFolderOwner | undefined) {
    super(
      owner === undefined
        ? `The data folder ${folder} is in use by a server that is just starting: stop it, or name another folder with --data.`
        : `The data folder ${folder} is in use by the server with process id ${owner.pid} on ${owner.machine} at ${owner.address}: stop it, or name another folder with --data.`,
    )
  }
}

/** The lock of a data folder. The operating system releases it with the process, also after SIGKILL. */
interface DataFolderLock extends AsyncDisposable {
  /** The node that had the folder before and did not end properly. It is dead, because the lock was free. */
  readonly deadNodeId: string | undefined
  /** Tells a refused server where this one listens. */
  setAddress(address: string): Promise<void>
}

/**
 * Locks the data folder for one server. Throws DataFolderInUseError at once if another one has it.
 *
 * The lock is an exclusive transaction on an empty SQLite file: SQLite holds POSIX locks, which Node does not offer
 * itself. A file left behind by a killed process is not locked, and process ids play no part. POSIX locks end when the
 * process closes any descriptor of the file, so nothing else may open it. That is why the owner is in a second file.
 */
export async function lockDataFolder(
  folder: string,
  address: string,
  nodeId?: string,
): Promise<DataFolderLock> {
  const file = path.join(folder, LOCK_FILE)
  await createPrivateFile(file)
  const handle = new DatabaseSync(file, { timeout: 0 })
  try {
    // Without a journal file: nothing is ever written.
    handle.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    handle.close()
    if (!isBusy(error)) throw error
    throw new DataFolderInUseError(folder, findOwner(folder))
  }
  if (!(await haveWorkersEnded(folder))) {
    handle.close()
    throw new DataFolderInUseError(folder, findOwner(folder))
  }
  const deadNodeId = findOwner(folder)?.nodeId
  const owner = { pid: process.pid, machine: os.hostname(), address, nodeId }
  const release = async () => {
    await remove(path.join(folder, OWNER_FILE))
    handle.close()
  }
  await writeOwner(folder, owner)
  return {
    deadNodeId,
    setAddress: (listening) => writeOwner(folder, { ...owner, address: listening }),
    [Symbol.asyncDispose]: release,
  }
}

/** Identifies the server that has the data folder open, as it described itself; '' for none. A server has another identity after each start. */
export function serverOf(folder: string): string {
  const owner = findOwner(folder)
  return owner === undefined ? '' : `${owner.nodeId ?? ''} ${owner.pid} ${owner.machine}`
}

/**
 * Marks the data folder as used by a worker, whose supervisor has its lock. A supervisor can be killed before its workers have ended: then the next server
 * waits for them. As many workers as like hold this lock, which is a read transaction on an empty SQLite file.
 */
export async function joinDataFolder(folder: string): Promise<AsyncDisposable> {
  const file = path.join(folder, WORKERS_FILE)
  await createPrivateFile(file)
  const handle = new DatabaseSync(file, { timeout: 1000 })
  handle.exec('begin')
  handle.prepare('select count(*) from sqlite_schema').get()
  return {
    async [Symbol.asyncDispose]() {
      handle.close()
    },
  }
}

/** Waits for the workers of a server that was killed. False if they do not end. */
async function haveWorkersEnded(folder: string): Promise<boolean> {
  const file = path.join(folder, WORKERS_FILE)
  if (!existsSync(file)) return true
  const handle = new DatabaseSync(file, { timeout: 0 })
  try {
    for (const deadline = performance.now() + WORKERS_END_MS; performance.now() < deadline; ) {
      try {
        handle.exec('pragma journal_mode = memory; begin exclusive')
        return true
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      await wait(WORKERS_POLL_MS)
    }
    return false
  } finally {
    handle.close()
  }
}

/** Exclusive creation never opens an existing file, whose lock this process may hold. SQLite alone would use the umask. */
async function createPrivateFile(file: string): Promise<void> {
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * Atomic, so that a refused server never reads half of it. A full disk is no reason not to start: the file only makes
 * the message of a refused server more exact, and without it nobody reads the one of an earlier server.
 */
async function writeOwner(folder: string, owner: DataFolderOwner): Promise<void> {
  const file = path.join(folder, OWNER_FILE)
  const temporary = `${file}.new`
  try {
    await writeFile(temporary, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
    await rename(temporary, file)
  } catch {
    await remove(temporary)
    await remove(file)
  }
}

/** A disk that cannot be written is reported by what needs it. */
async function remove(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {})
}

function findOwner(folder: string): DataFolderOwner | undefined {
  try {
    const text = readFileSync(path.join(folder, OWNER_FILE), 'utf8')
    const { pid, machine, address, nodeId } = JSON.parse(text) as Record<string, unknown>
    return {
      pid: Number(pid),
      machine: String(machine),
      address: String(address),
      nodeId: typeof nodeId === 'string' ? nodeId : undefined,
    }
  } catch {
    return undefined
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

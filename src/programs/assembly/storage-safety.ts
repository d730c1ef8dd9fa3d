import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '../../base/errors.ts'
import type { Logger } from '../../base/logging.ts'
import { type Database, listUnsafeSettings, type Reader } from '../../platform/database/index.ts'

/** A reason why acknowledged data may be lost in a crash. */
export interface StorageProblem {
  /** `unsafe` stops the start unless a setting allows it, `doubtful` is logged. */
  readonly kind: 'unsafe' | 'doubtful'
  readonly message: string
  readonly remedy: string
}

type FileSystemKind = 'network' | 'memory' | 'fuse' | 'overlay'

// The numbers are f_type of statfs(2) on Linux. Other systems have other numbers, and nothing is found there.
const FILE_SYSTEMS: ReadonlyMap<number, readonly [name: string, kind: FileSystemKind]> = new Map([
  [0x6969, ['NFS', 'network']],
  [0x517b, ['SMB', 'network']],
  [0xff534d42, ['CIFS', 'network']],
  [0xfe534d42, ['SMB', 'network']],
  [0x01021997, ['9P', 'network']],
  [0x5346414f, ['AFS', 'network']],
  [0x65735546, ['FUSE', 'fuse']],
  [0x01021994, ['tmpfs', 'memory']],
  [0x858458f6, ['ramfs', 'memory']],
  [0x794c7630, ['overlay', 'overlay']],
])

/** Finds a file system that is unsuitable for a data folder by its number. */
export function problemOfFileSystem(
  type: number,
  directory: string,
  database: 'sqlite' | 'postgres',
): StorageProblem | undefined {
  const [name, kind] = FILE_SYSTEMS.get(type) ?? []
  switch (kind) {
    case undefined:
      return undefined
    case 'network':
      return database === 'sqlite'
        ? {
            kind: 'unsafe',
            message: `${directory} is on ${name}, where SQLite can damage its file`,
            remedy: 'move the data folder to a local disk, or use PostgreSQL',
          }
        : {
            kind: 'doubtful',
            message: `${directory} is on ${name}, where locks and flushes depend on the server and its settings`,
            remedy:
              'see that it is mounted hard and its server flushes to disk (NFS: hard, sync), and set CARREL_DISK to plain',
          }
    case 'memory':
      return {
        kind: 'doubtful',
        message: `${directory} is on ${name}, which is memory: everything is gone after a restart of the machine`,
        remedy: 'move the data folder to a disk, unless this is a trial',
      }
    case 'fuse':
      return {
        kind: 'doubtful',
        message: `${directory} is on ${name}, and whether a flush reaches a disk depends on the program behind it`,
        remedy: 'move the data folder to a local file system',
      }
    case 'overlay':
      return {
        kind: 'doubtful',
        message: `${directory} is in the layer of a container, which is deleted with the container`,
        remedy: 'mount a volume as the data folder',
      }
  }
}

/** Looks at the file system of the folder, or of the folder it will be created in. */
export async function findFolderProblem(
  directory: string,
  database: 'sqlite' | 'postgres',
): Promise<StorageProblem | undefined> {
  try {
    const { type } = await statfs(directory)
    // Some systems return the number as a signed one.
    return problemOfFileSystem(type >>> 0, directory, database)
  } catch {
    const parent = path.dirname(directory)
    return parent === directory ? undefined : findFolderProblem(parent, database)
  }
}

/** Looks at the settings of a PostgreSQL server. */
export async function findPostgresProblems(reader: Reader): Promise<StorageProblem[]> {
  return (await listUnsafeSettings(reader)).map((name) => ({
    kind: 'unsafe',
    message: `PostgreSQL runs with ${name}=off, so a crash of its machine can lose acknowledged data or damage the database`,
    remedy: `set ${name} to on in postgresql.conf and reload it`,
  }))
}

/** Logs doubtful problems. Throws a StartError for an unsafe one unless `allowed`. */
export function reportProblems(problems: readonly StorageProblem[], allowed: boolean, logger: Logger): void {
  for (const { kind, message, remedy } of problems) {
    if (kind === 'unsafe' && !allowed) {
      throw new StartError(`${capitalized(message)}: ${remedy}, or set CARREL_UNSAFE_STORAGE to allow.`)
    }
    logger.warn({ remedy }, message)
  }
}

export async function checkDatabaseStorage(db: Database, allowed: boolean, logger: Logger): Promise<void> {
  if (db.dialect === 'postgres') reportProblems(await findPostgresProblems(db), allowed, logger)
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

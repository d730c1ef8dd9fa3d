import type { Gap } from './gaps.ts'
import { listBroken } from './lock.ts'
import { parseOwnJson } from './own-json.ts'
import type { BackupRepository } from './repository.ts'
import { BackupError } from './target.ts'

/** A table of a snapshot. */
export interface ManifestTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
  /** The blob that lists the chunks of rows, as a JSON array of ids. */
  readonly chunks: string
}

/** A block that the server could not deliver when the backup was made. */
export interface DamagedBlock {
  readonly id: string
  readonly reason: string
}

/** The description of a snapshot, from which everything in it is found. */
export interface SnapshotManifest {
  readonly id: string
  /** The point in time of the snapshot, ISO 8601. It contains everything acknowledged before. */
  readonly createdAt: string
  readonly finishedAt: string
  readonly host: string
  /** Of the program. */
  readonly version: string
  readonly schemaVersion: number
  readonly database: 'sqlite' | 'postgres'
  /** In the order in which rows can be inserted. */
  readonly tables: readonly ManifestTable[]
  /** The blob that lists the sections of its tables, for the next backup. Undefined for earlier versions. */
  readonly sections?: string
  /** The last generated key of each table. */
  readonly sequences: Readonly<Record<string, number>>
  /** Text of the file `secret`, or of CARREL_SECRET. */
  readonly secret: string | null
  /** Text of `carrel.json`. */
  readonly settings: string | null
  /** Of each library: a block that several hold counts for each. */
  readonly blocks: { readonly count: number; readonly bytes: number }
  /** Blocks that garbage collection removed while the backup ran. Always empty since such a backup fails; earlier versions did not see whether something needs them. */
  readonly collected: readonly string[]
  readonly damaged: readonly DamagedBlock[]
  /** What trees of the snapshot reach and the database of the server had lost. Undefined for earlier versions, which did not look. */
  readonly gaps?: readonly Gap[]
  /** Bytes that this backup added to the target. */
  readonly addedBytes: number
  /** The id of the lock under which it was published. Undefined for earlier versions. */
  readonly lock?: string
}

const FOLDER = 'snapshots/'
const LOCK_DIGITS = 5

/** Ids sort by time: the second, then the millisecond as the first three of the eight digits. The others are the beginning of the lock's id. */
export function newSnapshotId(at: Date, lock: string): string {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '')
  const millisecond = at.getUTCMilliseconds().toString(16).padStart(3, '0')
  return `${time}-${millisecond}${lock.slice(0, LOCK_DIGITS)}`
}

export async function writeManifest(repository: BackupRepository, manifest: SnapshotManifest): Promise<void> {
  await repository.writeSealed(FOLDER + manifest.id, Buffer.from(JSON.stringify(manifest)))
}

export async function readManifest(repository: BackupRepository, id: string): Promise<SnapshotManifest> {
  return parseOwnJson<SnapshotManifest>(await repository.readSealed(FOLDER + id))
}

/** The object that holds a manifest. */
export function manifestName(id: string): string {
  return FOLDER + id
}

/** The ids of all snapshots, oldest first. */
export async function listSnapshotIds(repository: BackupRepository): Promise<string[]> {
  return (await listPublished(repository)).valid
}

/**
 * All snapshots, oldest first. One is void if it was published after its lock was broken: the breaker may have removed parts of it. Its backup withdraws it, unless it
 * is killed before.
 */
export async function listPublished(
  repository: BackupRepository,
): Promise<{ readonly valid: string[]; readonly void: string[] }> {
  const ids: string[] = []
  for await (const { name } of repository.target.list(FOLDER)) ids.push(name.slice(FOLDER.length))
  const found = new Set<string>()
  for (const { lock, snapshots } of await listBroken(repository.target)) {
    if (snapshots === undefined) continue
    const later = ids.filter((id) => id.endsWith(lock.slice(0, LOCK_DIGITS)) && !snapshots.includes(id))
    for (const id of later) if ((await readManifest(repository, id)).lock === lock) found.add(id)
  }
  return { valid: ids.filter((id) => !found.has(id)).sort(), void: [...found] }
}

/** The snapshot whose id begins with `wanted`, or the newest for `latest`. Throws BackupError. */
export async function findManifest(repository: BackupRepository, wanted: string): Promise<SnapshotManifest> {
  const ids = await listSnapshotIds(repository)
  const found = wanted === 'latest' ? ids.slice(-1) : ids.filter((id) => id.startsWith(wanted))
  const [id] = found
  if (id === undefined || found.length > 1) {
    const problem = found.length > 1 ? 'More than one snapshot' : 'No snapshot'
    throw new BackupError(
      `${problem} in ${repository.target.place} matches ${wanted}: carrel backup list shows those there are.`,
    )
  }
  return readManifest(repository, id)
}

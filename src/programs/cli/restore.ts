import type { Config } from '../../base/config/index.ts'
import { newLibraryId } from '../../base/objects/index.ts'
import { restoreAnnotations } from '../../derived/annotations/index.ts'
import { findRestorePoint, insertRestorePoint } from '../../libraries/push/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRows } from '../../libraries/registry/index.ts'
import {
  abandonInterrupted,
  BackupError,
  findManifest,
  listSnapshotLibraries,
  openRepository,
  restoreAccount,
  restoreLibrary,
  restoreServer,
  Snapshot,
  TargetLock,
} from '../../maintenance/backup/index.ts'
import type { Accounts } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { holdLease, openBlocks } from '../assembly/index.ts'
import { openAccounts } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { columns, print, sizeText } from './output.ts'

/** Some libraries could not be restored. The others were. */
const NOT_ALL_RESTORED = 1
/** The snapshot lacks something that its trees reach. The rest was restored. */
const RESTORED_WITH_LOSSES = 3

function notInBackup(name: string): string {
  return `The backup lacks ${name}: carrel check shows which files are affected.`
}

/** Restores a whole server into an empty data folder and database. Resolves to the exit code. */
export async function restore(
  config: Config,
  target: string,
  { json, snapshot }: { json: boolean; snapshot: string },
): Promise<number> {
  lowerPriority()
  const repository = await openRepository(target, config.backup)
  await using _lock = await TargetLock.acquire(repository.target, 'read', 'carrel restore')
  const manifest = await findManifest(repository, snapshot)
  const report = await restoreServer(
    new Snapshot(repository, manifest),
    {
      dataDirectory: config.dataDirectory,
      database: config.database,
      openBlocks: (db) => openBlocks(config, { db }),
    },
    { onLoaded: recordRestorePoints },
  )
  print(json, report, [
    ...report.missing.map(notInBackup),
    `Restored the snapshot ${report.snapshot} of ${report.createdAt}: ${report.rows} rows, ${report.blocks} blocks with ${sizeText(report.bytes)}.`,
    `Start the server with carrel serve --data ${config.dataDirectory}.`,
  ])
  return report.missing.length > 0 ? RESTORED_WITH_LOSSES : 0
}

const LIBRARIES_PER_STEP = 500

/** Lets sync clients that pushed after the backup was made merge what they have. */
async function recordRestorePoints(db: Database): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  for (let after = 0; ; ) {
    const heads = await libraryHeads.list(db, after, LIBRARIES_PER_STEP)
    await db.write(async (tx) => {
      for (const { key, head } of heads) await insertRestorePoint(tx, key, head, now)
    })
    after = heads.at(-1)?.key ?? 0
    if (after === 0) return
  }
}

/** Which libraries to restore, and to whom. */
interface LibrarySelection {
  readonly library?: string
  readonly account?: string
  /** The new owner; the one in the backup unless named. */
  readonly owner?: string
}

/**
 * Restores one library, or all of an account, into an existing server, which may be running. A library that the server still has is restored
 * beside it, under another id and name. Resolves to the exit code.
 */
export async function restoreLibraries(
  config: Config,
  target: string,
  { json, snapshot: wanted, ...selection }: LibrarySelection & { json: boolean; snapshot: string },
): Promise<number> {
  lowerPriority()
  const repository = await openRepository(target, config.backup)
  await using opened = new AsyncDisposableStack()
  opened.use(await TargetLock.acquire(repository.target, 'read', 'carrel restore'))
  const snapshot = new Snapshot(repository, await findManifest(repository, wanted))
  const { db, accounts } = opened.use(await openAccounts(config))
  opened.use(await holdLease(db, 'restore'))
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  const chosen = await chooseLibraries(snapshot, selection)
  const restored: RestoredLibrary[] = []
  const failures: { id: string; name: string; message: string }[] = []
  const to = { snapshot, db, accounts, blocks, newOwner: selection.owner }
  for (const library of chosen) {
    try {
      restored.push(await restoreOne(library, to))
    } catch (error) {
      const isExpected = error instanceof CommandError || error instanceof BackupError
      if (!isExpected || chosen.length === 1) throw error
      failures.push({ id: library.id, name: library.name, message: error.message })
    }
  }
  const missing = restored.flatMap((one) => one.missing)
  print(json, { snapshot: snapshot.manifest.id, libraries: restored, failures }, [
    ...missing.map(notInBackup),
    ...restored.map(({ id, name, blocks: count, alreadyRestored }) =>
      alreadyRestored
        ? `${name} was already restored as ${id}, and is unchanged since.`
        : `Restored ${name} as ${id}: ${count} blocks.`,
    ),
    ...(chosen.length === 0 ? ['There was nothing to restore.'] : []),
  ])
  for (const { name, id, message } of failures) {
    process.stderr.write(`The library ${name} (${id}) was not restored: ${message}\n`)
  }
  if (failures.length > 0) return NOT_ALL_RESTORED
  return missing.length > 0 ? RESTORED_WITH_LOSSES : 0
}

interface RestoreTarget {
  readonly snapshot: Snapshot
  readonly db: Database
  readonly accounts: Accounts
  readonly blocks: BlockStore
  /** Unless it is the one in the backup. */
  readonly newOwner: string | undefined
}

/** Restores a library, with its owner if there is no such account. */
async function restoreOne(
  library: SnapshotLibrary,
  { snapshot, db, accounts, blocks, newOwner }: RestoreTarget,
): Promise<RestoredLibrary> {
  const now = Math.floor(Date.now() / 1000)
  const owner = newOwner ?? library.owner
  if ((await accounts.find(owner)) === undefined) {
    if (newOwner !== undefined)
      throw new CommandError(`There is no account ${owner}: add it with carrel user add.`)
    await restoreAccount(snapshot, db, owner)
  }
  const { key: ownerKey } = await accounts.get(owner)
  await abandonInterrupted(snapshot, db, library)
  const isTaken = (await libraryRows.findKey(db, library.id)) !== undefined
  const earlier = isTaken ? await findRestored(db, ownerKey, library.row['head'] as Uint8Array) : undefined
  if (earlier !== undefined) {
    return { id: earlier.id, name: earlier.name, blocks: 0, missing: [], alreadyRestored: true }
  }
  if (isTaken && library.isEncrypted) {
    throw new CommandError(
      `The library ${library.name} is encrypted, and its password fits only its id ${library.id}, which the server still has: purge that library first, or restore into another server.`,
    )
  }
  const id = isTaken ? newLibraryId() : library.id
  const name = isTaken ? `${library.name} (${snapshot.manifest.createdAt.slice(0, 10)})` : library.name
  const one = await restoreLibrary(snapshot, {
    db,
    blocks,
    library,
    id,
    name,
    ownerKey,
    now,
    onCopied: (fromKey, toKey) =>
      restoreAnnotations({
        db,
        rows: (table) => snapshot.records(table),
        fromKey,
        toKey,
        placeOf: (path) => path,
        isWhole: true,
        isSame: false,
        accountKeyOf: async (email) => (await accounts.find(email))?.key,
      }),
    onPublish: (tx, key, head) => insertRestorePoint(tx, key, head, now),
  })
  return { ...one, alreadyRestored: false }
}

type RestoredLibrary = Awaited<ReturnType<typeof restoreLibrary>> & { readonly alreadyRestored: boolean }

type SnapshotLibrary = Awaited<ReturnType<typeof listSnapshotLibraries>>[number]

/** Finds a library that an earlier run restored and that is unchanged since. Makes a repeated restore idempotent. */
async function findRestored(
  db: Database,
  ownerKey: number,
  head: Uint8Array,
): Promise<LibraryInfo | undefined> {
  for (const library of await libraryHeads.listLibrariesAt(db, ownerKey, head)) {
    if ((await findRestorePoint(db, library.key)) === library.head) return library
  }
  return undefined
}

async function chooseLibraries(snapshot: Snapshot, { library, account }: LibrarySelection) {
  const all = await listSnapshotLibraries(snapshot)
  const chosen = all.filter(
    (one) =>
      (library === undefined || one.id === library) && (account === undefined || one.owner === account),
  )
  if (library !== undefined && chosen.length === 0) {
    throw new CommandError(
      `The snapshot ${snapshot.manifest.id} has no library ${library}: carrel backup libraries shows those there are.`,
    )
  }
  if (account !== undefined && chosen.length === 0 && !(await hasAccount(snapshot, account))) {
    throw new CommandError(
      `The snapshot ${snapshot.manifest.id} has no account ${account}: carrel backup libraries shows the owners there are.`,
    )
  }
  return chosen
}

async function hasAccount(snapshot: Snapshot, email: string): Promise<boolean> {
  for await (const row of snapshot.records('account')) if (row['email'] === email) return true
  return false
}

/** Lists the libraries of a snapshot. */
export async function listLibrariesIn(
  config: Config,
  target: string,
  { json, snapshot: wanted }: { json: boolean; snapshot: string },
): Promise<void> {
  const repository = await openRepository(target, config.backup)
  const snapshot = new Snapshot(repository, await findManifest(repository, wanted))
  const libraries = (await listSnapshotLibraries(snapshot)).map(({ id, name, owner, row }) => ({
    id,
    name,
    owner,
    size: Number(row['size']),
    files: Number(row['file_count']),
  }))
  const rows = libraries.map(({ id, owner, files, size, name }) => [
    id,
    owner,
    String(files),
    sizeText(size),
    name,
  ])
  print(
    json,
    { snapshot: snapshot.manifest.id, libraries },
    columns([['LIBRARY', 'OWNER', 'FILES', 'SIZE', 'NAME'], ...rows]),
  )
}

import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import { RunningOperations } from '../../base/scheduling/index.ts'
import { programVersion } from '../../base/version.ts'
import { receivedCommits } from '../../libraries/commits/index.ts'
import { blockRows, condemnedBlocks } from '../../libraries/content/index.ts'
import { listKeysWithUncommitted } from '../../libraries/push/index.ts'
import { condemnedObjects } from '../../libraries/tree/index.ts'
import {
  type BackupSource,
  beginRun,
  createSnapshot,
  endRun,
  openRepository,
  prune,
  type SnapshotManifest,
  TargetLock,
  verifyBackup,
} from '../../maintenance/backup/index.ts'
import { GarbageReferences, OperationLeases } from '../../maintenance/gc/index.ts'
import { type Database, openSnapshot, type Reader } from '../../platform/database/index.ts'
import { secretText } from '../../platform/secret/index.ts'
import { openBlocks } from './open-blocks.ts'

/**
 * Adds a snapshot of the server to a target. The server may be running in this process, in another, or not at all. `lease` is the name of the lease that keeps garbage
 * collection from deleting blocks; undefined if nothing collects.
 */
export async function backUp(
  config: Config,
  target: string,
  reader: Reader,
  lease?: string,
): Promise<SnapshotManifest> {
  await using opened = new AsyncDisposableStack()
  const blocks = opened.use(await openBlocks(config, { db: reader, shared: true }))
  const repository = await openRepository(target, config.backup, { create: true })
  const lock = opened.use(await TargetLock.acquire(repository.target, 'write', 'carrel backup'))
  const source: BackupSource = {
    openSnapshot: () => openSnapshot(config.database),
    findGarbage: (snapshot) => GarbageReferences.find(snapshot, Math.floor(Date.now() / 1000)),
    findUnsettled,
    blocks,
    areBlocksKept: async () => lease === undefined || (await OperationLeases.isHeld(reader, lease)),
    heldNow: (ids) => blockRows.findHeldAnywhere(reader, ids),
    secret: await secretText(config.secret.file, config.secret.given),
    settings: await findText(path.join(config.dataDirectory, 'carrel.json')),
    host: hostname(),
    version: programVersion(),
  }
  return await createSnapshot(repository, source, { lock })
}

/** The keys of libraries that have rows which no commit has reached yet, or which garbage collection is about to delete. */
export async function findUnsettled(reader: Reader): Promise<ReadonlySet<number>> {
  return new Set([
    ...(await receivedCommits.listKeys(reader)),
    ...(await listKeysWithUncommitted(reader)),
    ...(await condemnedObjects.listLibraryKeys(reader)),
    ...(await condemnedBlocks.listLibraryKeys(reader)),
  ])
}

/** Removes snapshots as the settings say, and what only they needed. */
export async function pruneBackups(config: Config, target: string, { dryRun = false } = {}) {
  const repository = await openRepository(target, config.backup)
  await using lock = await TargetLock.acquire(repository.target, 'remove', 'carrel backup prune')
  await repository.reload()
  return await prune(repository, config.backup.keep, { lock, dryRun })
}

export async function verifyBackups(config: Config, target: string, { readData }: { readData: boolean }) {
  const repository = await openRepository(target, config.backup)
  await using lock = await TargetLock.acquire(repository.target, 'read', 'carrel backup verify')
  const report = await verifyBackup(repository, { readData })
  // What a prune removed meanwhile is not lost.
  if (report.problems.length > 0) await lock.assertHeld()
  return report
}

/** Runs a backup and records its outcome, which the status page, metrics and doctor show. */
export async function recordedBackup(
  db: Database,
  target: string,
  run: (lease: string) => Promise<Pick<SnapshotManifest, 'id' | 'addedBytes' | 'damaged' | 'gaps'>>,
): Promise<void> {
  await using lease = await holdLease(db, 'backup')
  await recorded(db, 'backup', target, async () => {
    const { id, addedBytes, damaged, gaps = [] } = await run(lease.name)
    const lost = damaged.length + gaps.length
    const message = lost > 0 ? `${lost} blocks and objects of the server are lost.` : ''
    return { outcome: 'succeeded', snapshot: id, storedBytes: addedBytes, message }
  })
}

/** Runs a verification that reads everything, and records its outcome. */
export async function recordedVerification(
  db: Database,
  target: string,
  run: () => Promise<{ readonly problems: readonly string[] }>,
): Promise<void> {
  await recorded(db, 'verify', target, async () => {
    const { problems } = await run()
    return problems.length === 0
      ? { outcome: 'succeeded' }
      : { outcome: 'failed', message: problems.join(' ') }
  })
}

async function recorded(
  db: Database,
  kind: 'backup' | 'verify',
  target: string,
  run: () => Promise<Omit<Parameters<typeof endRun>[2], 'now'>>,
): Promise<void> {
  const now = () => Math.floor(Date.now() / 1000)
  const key = await beginRun(db, { kind, target, now: now() })
  try {
    await endRun(db, key, { ...(await run()), now: now() })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await endRun(db, key, { outcome: 'failed', message, now: now() })
    throw error
  }
}

async function findText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Keeps garbage collection, in whichever process it runs, from deleting what is condemned from now on. For a backup, which reads blocks after it
 * has read the rows, and needs only the bytes to be kept, for a restore or an import, which stores blocks before rows refer to them, and for an export.
 * A restore or an import that loses the lease can commit nothing any more. A backup has to ask with `OperationLeases.isHeld` before it relies on what it has read.
 */
export async function holdLease(
  db: Database,
  purpose: 'backup' | 'restore' | 'import' | 'export',
): Promise<Pick<OperationLeases, 'name'> & AsyncDisposable> {
  const now = () => Math.floor(Date.now() / 1000)
  const operations = new RunningOperations(now)
  operations.begin()
  const leases = new OperationLeases({ db, operations, now, onError: () => {}, purpose })
  await leases.start()
  return leases
}

import { findManifest, openRepository, restoreServer, Snapshot, TargetLock } from '../backup/index.ts'
import { listLibraryHeads } from '../commits/index.ts'
import type { Config } from '../config/index.ts'
import type { Database } from '../database/index.ts'
import { insertRestorePoint } from '../push/index.ts'
import { openBlocks } from '../server/index.ts'
import { print, sizeText } from './output.ts'

/** The backup lacks blocks that the server had lost before. */
const RESTORED_WITH_LOSSES = 3

/** Restores a whole server into an empty data folder and database. Resolves to the exit code. */
export async function restore(
  config: Config,
  target: string,
  { json, snapshot }: { json: boolean; snapshot: string },
): Promise<number> {
  const repository = await openRepository(target, config.backup)
  await using _lock = await TargetLock.acquire(repository.target, 'read', 'carrel restore')
  const manifest = await findManifest(repository, snapshot)
  const report = await restoreServer(
    new Snapshot(repository, manifest),
    {
      dataDirectory: config.dataDirectory,
      database: config.database,
      openBlocks: () => openBlocks(config),
    },
    { onLoaded: recordRestorePoints },
  )
  print(json, report, [
    ...report.missing.map((id) => `The block ${id} is not in the backup: the server had lost it before.`),
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
    const heads = await listLibraryHeads(db, after, LIBRARIES_PER_STEP)
    await db.write(async (tx) => {
      for (const { key, head } of heads) await insertRestorePoint(tx, key, head, now)
    })
    after = heads.at(-1)?.key ?? 0
    if (after === 0) return
  }
}

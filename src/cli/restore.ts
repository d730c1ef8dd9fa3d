import { findManifest, openRepository, restoreServer, Snapshot, TargetLock } from '../backup/index.ts'
import type { Config } from '../config/index.ts'
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
  const report = await restoreServer(new Snapshot(repository, manifest), {
    dataDirectory: config.dataDirectory,
    database: config.database,
    openBlocks: () => openBlocks(config),
  })
  print(json, report, [
    ...report.missing.map((id) => `The block ${id} is not in the backup: the server had lost it before.`),
    `Restored the snapshot ${report.snapshot} of ${report.createdAt}: ${report.rows} rows, ${report.blocks} blocks with ${sizeText(report.bytes)}.`,
    `Start the server with carrel serve --data ${config.dataDirectory}.`,
  ])
  return report.missing.length > 0 ? RESTORED_WITH_LOSSES : 0
}

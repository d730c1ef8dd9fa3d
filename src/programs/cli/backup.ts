import type { Config } from '../../base/config/index.ts'
import {
  type BackupRepository,
  listSnapshotIds,
  nameOfGap,
  openRepository,
  readManifest,
  type SnapshotManifest,
} from '../../maintenance/backup/index.ts'
import {
  backUp,
  pruneBackups,
  recordedBackup,
  recordedVerification,
  verifyBackups,
} from '../assembly/index.ts'
import { openExistingDatabase } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { columns, print, sizeText } from './output.ts'

/** The backup has all that the server had, but the server had lost something. */
const DAMAGED_AT_SOURCE = 3

/** Adds a snapshot of the server to a target, whether or not the server is running. Resolves to the exit code. */
export async function backup(config: Config, target: string, json: boolean): Promise<number> {
  lowerPriority()
  await using db = await openExistingDatabase(config)
  let manifest: SnapshotManifest | undefined
  await recordedBackup(db, target, async (lease) => (manifest = await backUp(config, target, db, lease)))
  if (manifest === undefined) return 1
  print(json, summaryOf(manifest), linesOf(manifest))
  return isDamaged(manifest) ? DAMAGED_AT_SOURCE : 0
}

/** Lists the snapshots of a target, oldest first. */
export async function listBackups(config: Config, target: string, json: boolean): Promise<void> {
  const repository = await openRepository(target, config.backup)
  const manifests = await allManifests(repository)
  const rows = manifests.map(({ id, createdAt, blocks, addedBytes, tables, damaged }) => [
    id,
    createdAt,
    String(tables.find(({ name }) => name === 'library')?.rows ?? 0),
    String(blocks.count),
    sizeText(blocks.bytes),
    sizeText(addedBytes),
    String(damaged.length),
  ])
  const headings = ['SNAPSHOT', 'TIME', 'LIBRARIES', 'BLOCKS', 'SIZE', 'ADDED', 'DAMAGED']
  print(json, { snapshots: manifests.map(summaryOf) }, columns([headings, ...rows]))
}

/** Verifies a target. Resolves to the exit code: 1 if something is missing or damaged, 3 if the server had lost something before. */
export async function verify(
  config: Config,
  target: string,
  { json, readData }: { json: boolean; readData: boolean },
): Promise<number> {
  lowerPriority()
  const report = await verifyBackups(config, target, { readData })
  if (readData) await recordIfPossible(config, target, report)
  const isComplete = report.problems.length === 0
  const read = readData ? 'read' : 'found'
  print(json, { ok: isComplete, ...report }, [
    ...report.problems,
    ...report.damagedAtSource.map(({ snapshot, name }) => `The server had lost ${name} before ${snapshot}.`),
    isComplete
      ? `${report.damagedAtSource.length > 0 ? 'As the server was' : 'Complete'}: ${report.snapshots} snapshots; ${report.packs} packs of ${sizeText(report.bytes)} were ${read}.`
      : `${report.problems.length} problems: remove damaged packs, and the next carrel backup writes what the server still has again.`,
  ])
  if (!isComplete) return 1
  return report.damagedAtSource.length > 0 ? DAMAGED_AT_SOURCE : 0
}

/** Removes old snapshots and what only they needed. */
export async function pruneTarget(
  config: Config,
  target: string,
  { json, dryRun }: { json: boolean; dryRun: boolean },
): Promise<void> {
  const report = await pruneBackups(config, target, { dryRun })
  const verb = dryRun ? 'Would remove' : 'Removed'
  print(json, { dryRun, ...report }, [
    ...report.removed.map((id) => `${verb} ${id}.`),
    `${report.kept.length} snapshots stay. ${verb} ${sizeText(report.freedBytes)}.`,
  ])
}

async function allManifests(repository: BackupRepository): Promise<SnapshotManifest[]> {
  const manifests: SnapshotManifest[] = []
  for (const id of await listSnapshotIds(repository)) manifests.push(await readManifest(repository, id))
  return manifests
}

function summaryOf({
  id,
  createdAt,
  finishedAt,
  version,
  database,
  blocks,
  addedBytes,
  damaged,
  gaps = [],
  tables,
}: SnapshotManifest) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return { snapshot: id, createdAt, finishedAt, version, database, rows, blocks, addedBytes, damaged, gaps }
}

function isDamaged({ damaged, gaps = [] }: SnapshotManifest): boolean {
  return damaged.length + gaps.length > 0
}

function linesOf(manifest: SnapshotManifest): string[] {
  const { id, blocks, addedBytes, damaged, gaps = [] } = manifest
  return [
    ...damaged.map((block) => `The block ${block.id} is lost: ${block.reason}`),
    ...gaps.map((gap) => `The server has lost ${nameOfGap(gap)}.`),
    `Snapshot ${id}: ${blocks.count} blocks with ${sizeText(blocks.bytes)}, of which ${sizeText(addedBytes)} were new.`,
    ...(isDamaged(manifest) ? ['Run carrel check to see which files are affected.'] : []),
  ]
}

/** The status page shows the last verified backup. A target may also be verified on a machine without the server. */
async function recordIfPossible(
  config: Config,
  target: string,
  report: { readonly problems: readonly string[] },
): Promise<void> {
  try {
    await using db = await openExistingDatabase(config)
    await recordedVerification(db, target, async () => report)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
}

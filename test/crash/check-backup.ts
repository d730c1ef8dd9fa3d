import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../src/base/config/index.ts'
import {
  findManifest,
  listSnapshotIds,
  openRepository,
  restoreServer,
  Snapshot,
} from '../../src/maintenance/backup/index.ts'
import { UNFINISHED_RESTORE } from '../../src/platform/data-folder/index.ts'
import { openDatabase } from '../../src/platform/database/index.ts'
import { backUp, openBlocks, verifyBackups } from '../../src/programs/assembly/index.ts'
import { startServer } from '../support/server.ts'
import type { ExpectedSnapshot } from './backup-scenarios.ts'
import { checkState } from './check-state.ts'
import type { Expectation } from './expectation.ts'

/** A backup target after a power failure. */
export interface TargetSubject {
  readonly kind: 'target'
  /** The data folder that was backed up. */
  readonly source: string
  /** What was acknowledged and not pruned. */
  readonly snapshots: readonly ExpectedSnapshot[]
  /** The content of the source. */
  readonly expectedNext: Expectation
}

/** The data folder of a restore after a power failure. */
export interface RestoredSubject {
  readonly kind: 'restored'
  readonly target: string
  readonly isAcknowledged: boolean
  readonly expected: Expectation
}

/** Acknowledged snapshots can be verified and restored. The next backup completes what an interrupted one left. */
export async function checkTarget(target: string, subject: TargetSubject): Promise<void> {
  const folder = path.dirname(target)
  const last = subject.snapshots.at(-1)
  if (last !== undefined) {
    await verify(target)
    const { backup } = configOf(folder)
    const listed = await listSnapshotIds(await openRepository(target, backup))
    for (const { id } of subject.snapshots) assert.ok(listed.includes(id), `the snapshot ${id} is listed`)
    await checkRestored(target, last.id, path.join(folder, 'restored'), last.expected)
  }
  const source = path.join(folder, 'source')
  cpSync(subject.source, source, { recursive: true })
  const config = configOf(source)
  {
    await using db = await openDatabase(config.database, { onFatal: (error) => assert.fail(error) })
    await backUp(config, target, db)
  }
  await verify(target)
  await checkRestored(target, 'latest', path.join(folder, 'restored-next'), subject.expectedNext)
}

/** A restore is complete, or it can be repeated. */
export async function checkRestore(data: string, subject: RestoredSubject): Promise<void> {
  const { target, isAcknowledged, expected } = subject
  const isMarked = existsSync(path.join(data, UNFINISHED_RESTORE))
  const isComplete = !isMarked && existsSync(path.join(data, 'carrel.db'))
  if (isAcknowledged) assert.ok(isComplete, `the folder has ${readdirSync(data).join(', ')}`)
  if (isMarked) await assert.rejects(startServer({ data }), /restore/)
  if (isComplete) await checkState(data, {}, expected)
  else await checkRestored(target, 'latest', data, expected)
}

async function checkRestored(
  target: string,
  snapshot: string,
  data: string,
  expected: Expectation,
): Promise<void> {
  const config = configOf(data)
  const repository = await openRepository(target, config.backup)
  await repository.reload()
  const { missing } = await restoreServer(
    new Snapshot(repository, await findManifest(repository, snapshot)),
    { dataDirectory: data, database: config.database, openBlocks: (db) => openBlocks(config, { db }) },
  )
  assert.deepEqual(missing, [])
  await checkState(data, {}, expected)
}

async function verify(target: string): Promise<void> {
  const { problems } = await verifyBackups(configOf(target), target, { readData: true })
  assert.deepEqual(problems, [], 'problems of carrel backup verify')
}

function configOf(data: string) {
  return readConfig({ env: { CARREL_DATA: data, CARREL_UNSAFE_STORAGE: 'allow' }, cwd: data })
}

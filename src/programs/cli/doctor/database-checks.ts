import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../../base/config/index.ts'
import { libraryHeads } from '../../../libraries/registry/index.ts'
import { type IntegrityState, readIntegrityState } from '../../../maintenance/check/index.ts'
import { findSeenTime, MAX_JUMP_SECONDS } from '../../../platform/clock/index.ts'
import {
  inspectDatabase,
  judgeSchema,
  knownSchemaVersion,
  LARGE_LOG_BYTES,
} from '../../../platform/database/index.ts'
import { sizeText } from '../output.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Release date of this program in Unix seconds. An earlier clock is wrong. */
const RELEASED = Date.UTC(2026, 10, 1) / 1000
/** Tolerated clock skew between nodes, in seconds. */
const MAX_CLOCK_SKEW = 300

/** Checks that the database is reachable and has a known schema version. */
export async function checkDatabase({ database, preMigrationBackups }: Config): Promise<Finding> {
  const name = 'database'
  try {
    await using found = await inspectDatabase(database)
    const version = found?.schemaVersion ?? 0
    if (version === 0)
      return warn(name, 'nothing has been stored yet', 'the first start makes what is needed')
    const state = found === undefined ? 'unused' : judgeSchema(found)
    if (state === 'newer') {
      const remedy = 'start the Carrel that wrote it, or a newer one'
      return fail(name, `schema version ${version} is newer than ${knownSchemaVersion}`, remedy)
    }
    if (state === 'older') {
      const remedy =
        preMigrationBackups === undefined
          ? 'the next start brings it up to date, without a backup, because CARREL_PRE_MIGRATION_BACKUP is off'
          : `the next start brings it up to date, after a backup to ${preMigrationBackups}`
      return warn(name, `schema version ${version} is older than ${knownSchemaVersion}`, remedy)
    }
    return ok(name, `${database.kind} can be read, schema version ${version}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const remedy =
      database.kind === 'postgres'
        ? 'start PostgreSQL, or correct CARREL_DATABASE'
        : `see that ${database.file} is a readable database, or restore a backup`
    return fail(name, reason, remedy)
  }
}

/** Reports data that a read, a check or the scrub found to be lost. */
export async function checkStoredData({ database }: Config): Promise<Finding> {
  const name = 'stored data'
  try {
    await using found = await inspectDatabase(database)
    if (found === undefined || judgeSchema(found) !== 'usable') {
      return ok(name, 'is looked at once the database is up to date')
    }
    const { damagedBlocks, scrub } = await readIntegrityState(found)
    if (damagedBlocks === 0) return ok(name, `no damage is known, ${ageOf(scrub)}`)
    const blocks = damagedBlocks === 1 ? '1 block is' : `${damagedBlocks} blocks are`
    const remedy = 'carrel check --read-data names the files, carrel repair restores what it can'
    return fail(name, `${blocks} missing or damaged`, remedy)
  } catch {
    return warn(name, 'the database cannot be read', 'see the line about the database')
  }
}

/** Checks that the SQLite files give the space of deleted rows back. Files of earlier versions do not. */
export async function checkSpaceRelease({ database, dataDirectory }: Config): Promise<Finding> {
  const name = 'vacuum'
  if (database.kind === 'postgres') return ok(name, 'PostgreSQL releases the space of deleted rows')
  const kept: string[] = []
  for (const file of [database.file, path.join(dataDirectory, 'search.db')]) {
    if (!(await releasesSpace(file))) kept.push(path.basename(file))
  }
  if (kept.length === 0) return ok(name, 'the space of deleted rows is given back to the file system')
  const remedy = 'stop the server and run carrel gc --compact once'
  return warn(
    name,
    `the space of deleted rows stays in ${kept.join(' and ')}, created by an earlier version`,
    remedy,
  )
}

async function releasesSpace(file: string): Promise<boolean> {
  try {
    await using found = await inspectDatabase({ kind: 'sqlite', file })
    const row = await found?.get<{ auto_vacuum: number }>('pragma auto_vacuum')
    return row === undefined || row.auto_vacuum === 2
  } catch {
    // `checkDatabase` reports the reason.
    return true
  }
}

/** Finds a write-ahead log of SQLite that a reader keeps from being restarted. */
export async function checkLog({ database }: Config): Promise<readonly Finding[]> {
  if (database.kind !== 'sqlite') return []
  const size = await stat(`${database.file}-wal`).then(
    (found) => found.size,
    () => 0,
  )
  const message = `the write-ahead log has ${sizeText(size)}`
  if (size < LARGE_LOG_BYTES) return []
  return [
    warn('log', message, 'end the program that keeps reading the database, for example an unfinished backup'),
  ]
}

/** When all blocks were last read. */
function ageOf(scrub: IntegrityState['scrub']): string {
  if (scrub?.last === undefined) return 'not all blocks have been read yet'
  const days = Math.max(0, Math.floor((Date.now() / 1000 - scrub.last.finishedAt) / 86_400))
  return `all blocks were last read ${days === 1 ? '1 day' : `${days} days`} ago`
}

/** Checks that the clock is not before the release of this program or the newest stored change. */
export async function checkClock({ database }: Config): Promise<Finding> {
  const name = 'clock'
  const now = Date.now() / 1000
  const remedy = 'set the clock of this machine'
  const shown = `it is ${new Date().toISOString()}`
  if (now < RELEASED) return fail(name, `${shown}, before this program was released`, remedy)
  const newest = await newestStored(database)
  if (newest > now + MAX_CLOCK_SKEW) {
    const stored = new Date(newest * 1000).toISOString()
    const either = `${remedy}, or run carrel clock --repair if it is right`
    return fail(name, `${shown}, but something was stored at ${stored}`, either)
  }
  const seen = await lastSeen(database)
  if (seen !== undefined && now > seen + MAX_JUMP_SECONDS) {
    const then = new Date(seen * 1000).toISOString()
    const either = `${remedy}, or run carrel clock --confirm if it is right`
    return warn(
      name,
      `${shown}, but it was last seen at ${then}, so nothing is deleted because of its age`,
      either,
    )
  }
  return ok(name, shown)
}

/** The newest time that a server trusted; undefined if unknown. */
async function lastSeen(database: Config['database']): Promise<number | undefined> {
  try {
    await using found = await inspectDatabase(database)
    return found !== undefined && judgeSchema(found) === 'usable'
      ? (await findSeenTime(found))?.seenAt
      : undefined
  } catch {
    return undefined
  }
}

/** Time of the newest change; 0 if unknown. `checkDatabase` reports the reason. */
async function newestStored(database: Config['database']): Promise<number> {
  try {
    await using found = await inspectDatabase(database)
    return found === undefined || found.schemaVersion === 0 ? 0 : await libraryHeads.newestChange(found)
  } catch {
    return 0
  }
}

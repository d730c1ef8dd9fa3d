import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { Thumbnails } from '../../derived/previews/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { GarbageCollector, type GcReport, OperationLeases } from '../../maintenance/gc/index.ts'
import { TrustedClock } from '../../platform/clock/index.ts'
import { releaseReserveFile, releaseReserveIfFull, reserveFileIn } from '../../platform/data-folder/index.ts'
import { compactSqlite, DatabaseError, openDatabase } from '../../platform/database/index.ts'
import { Images } from '../../platform/imaging/index.ts'
import { loadSecret } from '../../platform/secret/index.ts'
import { Access } from '../../sharing/access/index.ts'
import {
  createAccounts,
  createActivity,
  createSearch,
  openBlocks,
  openCore,
  openSearchDatabase,
  releaseSpace,
} from '../assembly/index.ts'
import { checkSchema } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { print, sizeText } from './output.ts'

interface CollectOptions {
  readonly dryRun: boolean
  /** An id as typed. */
  readonly library: string | undefined
  readonly json: boolean
}

/** Something was not collected; the rest was. */
const INCOMPLETE = 1

/**
 * Runs one collection, and gives the space of deleted rows back. A server may be running at the same time. Resolves to the exit code: 1 if a
 * library or block files could not be collected.
 */
export async function collect(config: Config, { dryRun, library, json }: CollectOptions): Promise<number> {
  const only = library === undefined ? undefined : (parseLibraryId(library) ?? noSuchLibrary(library))
  // A server that is running notices it, and refuses uploads until there is space again.
  releaseReserveIfFull(config.dataDirectory)
  await checkSchema(config)
  lowerPriority()
  const now = () => Math.floor(Date.now() / 1000)
  await using opened = new AsyncDisposableStack()
  const onFull = () => releaseReserveFile(reserveFileIn(config.dataDirectory))
  const db = opened.use(await openDatabase(config.database, { now, onFatal: stopAtOnce, onFull }))
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  if (only !== undefined && (await libraryRows.find(db, only)) === undefined) noSuchLibrary(only)
  const logger = createLogger('error', { pretty: false })
  const clock = new TrustedClock({
    db,
    now,
    monotonic: () => performance.now() / 1000,
    onJump: ({ message }) => {
      throw new CommandError(message)
    },
    onError: () => {},
  })
  await clock.look()
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const leases = new OperationLeases({
    db,
    operations: core.operations,
    now,
    onError: (error) => logger.error({ err: error }, 'the lease of this collection could not be renewed'),
  })
  const activity = opened.use(await openActivity({ core, db, config, now, logger }))
  const gc = new GarbageCollector(
    { db, blocks, core, leases },
    {
      graceSeconds: config.gcGraceSeconds,
      now: () => clock.now(),
      // The report has what could not be collected.
      onError: () => {},
      // No server may be running that would do it.
      processCommits: (libraryKey) => activity.consumer.catchUp([libraryKey]),
    },
  )
  const stopping = new AbortController()
  const stop = () => stopping.abort(new CommandError('Stopped; the next run starts again.'))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const { signal } = stopping
  const report = await gc.runOnce({ dryRun, signal, ...(only && { library: only }) })
  const releasedBytes = dryRun ? 0 : await releaseFreed(config, { db, blocks, now, signal })
  print(json, { ...report, releasedBytes }, linesOf(report, releasedBytes))
  for (const { message } of report.failures) process.stderr.write(`${message}\n`)
  return report.failures.length === 0 ? 0 : INCOMPLETE
}

async function openActivity(
  parts: Pick<Parameters<typeof createActivity>[0], 'core' | 'db' | 'config' | 'now' | 'logger'>,
) {
  const { core, db, config, now } = parts
  const secret = await loadSecret(config.secret.file, config.secret.given)
  return createActivity({
    ...parts,
    secret,
    access: new Access({ core, db }),
    accounts: createAccounts({ db, audit: core.audit, now }),
  })
}

/** Deletes data derived from deleted files, then shrinks the databases. */
async function releaseFreed(
  config: Config,
  {
    db,
    blocks,
    now,
    signal,
  }: Pick<Parameters<typeof openCore>[0], 'db' | 'blocks' | 'now'> & { signal: AbortSignal },
): Promise<number> {
  const logger = createLogger('error', { pretty: false })
  await using opened = new AsyncDisposableStack()
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const searchDb = openSearchDatabase(config, db)
  if (searchDb !== db) opened.use(searchDb)
  const search = opened.use(createSearch({ core, libraryDb: db, db: searchDb, config, logger }))
  const images = opened.use(new Images())
  const directory = path.join(config.dataDirectory, 'thumbnails')
  const onError = (error: unknown) => logger.error({ err: error }, 'thumbnails could not be deleted')
  const thumbnails = opened.use(new Thumbnails({ core, images, directory, now, onError }))
  // Awaited here: the parts stay open until it is done.
  return await releaseSpace({ core, db, search, thumbnails }, signal, { atOnce: true })
}

function linesOf(report: GcReport, releasedBytes: number): string[] {
  const { condemned, released, deleted, freedBytes, waitingBytes } = report
  const sum = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')
  const would = report.dryRun ? 'Would delete' : 'Deleted'
  return [
    `Condemned: ${sum(condemned)}.`,
    `In use again: ${sum(released)}.`,
    `${would}: ${sum(deleted)}, ${sizeText(freedBytes)} of blocks.`,
    `Waiting for the end of the grace period: ${sizeText(waitingBytes)} of blocks.`,
    ...(report.dryRun ? [] : [`Given back by the database: ${sizeText(releasedBytes)}.`]),
    ...report.libraries.flatMap(({ id, name, reasons }) =>
      reasons.map((reason) => `${name} (${id}): ${reason}`),
    ),
  ]
}

function noSuchLibrary(given: string): LibraryId {
  throw new CommandError(
    `${given} is not the id of a library of this server: the web app shows it in the address of a library. A deleted library is collected once it is purged.`,
    { exitCode: 2 },
  )
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The change could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(1)
}

/** Rewrites the SQLite files without free space. The server must be stopped. */
export async function compact(config: Config, { json }: { json: boolean }): Promise<void> {
  if (config.database.kind === 'postgres') {
    throw new CommandError('--compact is for SQLite: PostgreSQL is compacted by its own VACUUM FULL.')
  }
  await checkSchema(config)
  const files: { file: string; bytesBefore: number; bytesAfter: number }[] = []
  for (const file of [config.database.file, path.join(config.dataDirectory, 'search.db')]) {
    const compacted = await compactUnused(file)
    if (compacted === undefined) continue
    files.push({ file, bytesBefore: compacted.before, bytesAfter: compacted.after })
  }
  const lines = files.map(
    ({ file, bytesBefore, bytesAfter }) =>
      `Rewrote ${path.basename(file)}: ${sizeText(bytesBefore)} before, ${sizeText(bytesAfter)} now.`,
  )
  print(json, { files }, lines)
}

async function compactUnused(file: string) {
  try {
    return await compactSqlite(file)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.reason !== 'busy') throw error
    throw new CommandError(`${file} is in use: stop the server, and run this command again.`, {
      cause: error,
    })
  }
}

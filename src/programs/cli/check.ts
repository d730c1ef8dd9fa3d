import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import type { Config } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import { parseLibraryId } from '../../base/objects/index.ts'
import { findAnnotationFaults } from '../../derived/annotations/index.ts'
import type { Photos } from '../../derived/photos/index.ts'
import type { Search } from '../../derived/search/index.ts'
import { listStoredArchives } from '../../libraries/archives/index.ts'
import { BlockCheck } from '../../libraries/content/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { CheckInterrupted, type CheckReport, check, type Finding } from '../../maintenance/check/index.ts'
import { serverOf } from '../../platform/data-folder/index.ts'
import { type Database, openDatabase } from '../../platform/database/index.ts'
import { Images } from '../../platform/imaging/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { Access } from '../../sharing/access/index.ts'
import { partialUploads } from '../../sharing/quotas/index.ts'
import { createPhotos, createSearch, openBlocks, openCore, openSearchDatabase } from '../assembly/index.ts'
import { checkSchema } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { textFor } from './failure.ts'
import { print, sizeText } from './output.ts'

export interface CheckFlags {
  readonly readData?: true
  readonly library?: string
  readonly sample?: string
  /** Megabytes per second. */
  readonly rate?: string
  readonly json?: true
}

/** Exit codes of `carrel check` and `carrel repair`. */
export const FINDINGS = 1
const NOT_CHECKED = 2
const PARTIAL = 3
const INTERRUPTED = 'The check was interrupted: run it again within a day to continue.'

/** Checks the stored data and prints the findings. Resolves to the exit code: 0 without findings, 1 with some, 3 if it was interrupted. */
export function checkCommand(config: Config, flags: CheckFlags): Promise<number> {
  const printed = (report: CheckReport, isComplete: boolean) =>
    print(flags.json === true, documentOf(report, isComplete), linesOf(report, isComplete))
  return orNotChecked(async () => {
    await using store = await openStore(config)
    try {
      const report = await runCheck(store, await optionsFrom(store.db, flags))
      printed(report, true)
      return report.findings.length === 0 ? 0 : FINDINGS
    } catch (error) {
      if (!(error instanceof CheckInterrupted)) throw error
      printed(error.report, false)
      process.stderr.write(`${error.message}\n`)
      return PARTIAL
    }
  })
}

/** Every failure has the exit code 2, because 1 says that everything was checked and something is wrong. */
export async function orNotChecked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const text = error instanceof CheckInterrupted ? error.message : textFor(error)
    throw new CommandError(text, { exitCode: NOT_CHECKED, cause: error })
  }
}

/** The opened parts of a store. A server may be running beside. */
export interface OpenStore extends AsyncDisposable {
  readonly db: Database
  readonly blocks: BlockStore
  readonly core: LibraryCore
  readonly search: Search
  readonly photos: Photos
  /** Identifies the running server, the boot of the machine and the mounted data. */
  readonly environment: string
  readonly now: () => number
}

/** Throws CommandError if there is no data of this version. */
export async function openStore(config: Config): Promise<OpenStore> {
  await checkSchema(config)
  // Requests have priority.
  setPriority(constants.priority.PRIORITY_LOW)
  const now = () => Math.floor(Date.now() / 1000)
  const logger = createLogger('error', { pretty: false })
  const opened = new AsyncDisposableStack()
  const db = opened.use(await openDatabase(config.database, { now, onFatal: stopAtOnce }))
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const searchDb = openSearchDatabase(config, db)
  if (searchDb !== db) opened.use(searchDb)
  const search = opened.use(createSearch({ core, libraryDb: db, db: searchDb, config, logger }))
  const images = opened.use(new Images())
  const access = new Access({ core, db })
  const photos = opened.use(createPhotos({ core, db, access, images, logger }))
  const environment = await environmentOf(config)
  const close = () => opened.disposeAsync()
  return { db, blocks, core, search, photos, environment, now, [Symbol.asyncDispose]: close }
}

/** Equal as long as neither the server nor the machine was restarted, and the folders are the same mounts. What an interrupted check has seen may not hold in another. */
async function environmentOf({ dataDirectory, blocks }: Config): Promise<string> {
  const textOf = (file: string) => readFile(file, 'utf8').catch(() => '')
  const placeOf = (folder: string) =>
    stat(folder).then(
      ({ dev, ino }) => `${dev}:${ino}`,
      () => '',
    )
  const parts = [
    // Linux gives each boot an id. Elsewhere a restart of the server, which follows, is noticed.
    await textOf('/proc/sys/kernel/random/boot_id'),
    serverOf(dataDirectory),
    await placeOf(dataDirectory),
    ...(blocks.kind === 'disk' ? [await placeOf(blocks.directory)] : []),
  ]
  return hash('sha1', parts.join('\n'))
}

export interface RunOptions {
  readonly readData: boolean
  readonly sample: number
  readonly libraryKey: number | undefined
  readonly bytesPerSecond: number | undefined
}

export async function optionsFrom(db: Database, flags: CheckFlags): Promise<RunOptions> {
  const sample = Number(flags.sample ?? 100)
  if (!(sample > 0 && sample <= 100)) {
    throw new CommandError('Give --sample a percentage above 0 and up to 100.')
  }
  const rate = flags.rate === undefined ? undefined : Number(flags.rate)
  if (rate !== undefined && !(rate > 0 && rate < Number.POSITIVE_INFINITY)) {
    throw new CommandError('Give --rate the megabytes per second to read at most.')
  }
  const bytesPerSecond = rate && rate * 1_000_000
  const readData = flags.readData === true || flags.sample !== undefined || rate !== undefined
  if (flags.library === undefined) return { readData, sample, libraryKey: undefined, bytesPerSecond }
  const id = parseLibraryId(flags.library)
  const libraryKey = id && (await libraryRows.findKey(db, id))
  if (libraryKey === undefined) {
    throw new CommandError(`There is no library ${flags.library}: give --library its id.`)
  }
  return { readData, sample, libraryKey, bytesPerSecond }
}

/** A signal ends the pass; the next command with the same flags may continue it. Throws CheckInterrupted. */
export async function runCheck(store: OpenStore, options: RunOptions): Promise<CheckReport> {
  const { db, blocks, core, search, photos, environment, now } = store
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Error(INTERRUPTED))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const { defaultHistoryDays, pathBindings } = core
  const { objects, changes } = storesOf(core)
  return check(
    {
      db,
      now,
      objects,
      changes,
      defaultHistoryDays,
      blocks: new BlockCheck(db, blocks, now),
      searchFaults: (library) => search.reindexing.faultsOf(library),
      photoFaults: (library) => photos.faultsOf(library),
      annotationFaults: ({ key }) => findAnnotationFaults(db, key),
      uploadsOf: ({ key }) => partialUploads.list(db, key),
      archivesOf: ({ key }) => listStoredArchives(db, key),
      pathBindings,
    },
    { ...options, environment, signal: stopping.signal },
  )
}

function documentOf(report: CheckReport, isComplete: boolean) {
  const { findings, since, earlier, ...counts } = report
  return {
    ok: isComplete && findings.length === 0,
    complete: isComplete,
    ...counts,
    since: timeText(since),
    earlier: earlier.map((one) => ({ library: one.library, since: timeText(one.since) })),
    findings,
  }
}

function linesOf(report: CheckReport, isComplete: boolean): string[] {
  const { findings, libraries, objects, blocks, bytes, resumed, since, earlier } = report
  const read = bytes > 0 ? `, ${sizeText(bytes)} read` : ''
  const again = resumed ? ` (continued, begun at ${timeText(since)})` : ''
  const found = findings.length === 1 ? '1 finding' : `${findings.length} findings`
  return [
    ...findings.map(lineOf),
    ...earlier.map(
      (one) => `${one.library} is as it was at ${timeText(one.since)}, before the interruption.`,
    ),
    `${isComplete ? 'Checked' : 'Only checked'} ${libraries} libraries, ${objects} objects and ${blocks} blocks${read}${again}: ${found}.`,
  ]
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000', '')
}

export function lineOf(finding: Finding): string {
  const { kind, library, libraryName, path, versions, current, detail } = finding
  const where = `${library} (${libraryName})${path === null ? '' : ` ${path}`}`
  const count = versions === 1 ? '1 version' : `${versions} versions`
  const affected = versions === 0 ? '' : ` [${count}${current ? ', current' : ''}]`
  return `${kind.padEnd(14)}  ${where}${affected}: ${detail}`
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The result could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(NOT_CHECKED)
}

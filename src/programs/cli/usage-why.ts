import type { Config } from '../../base/config/index.ts'
import { type DirId, type FileId, type FsId, parseLibraryId } from '../../base/objects/index.ts'
import { keepDays, PathIndex } from '../../libraries/history/index.ts'
import { summarizeUncommitted } from '../../libraries/push/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { deletedLibraries, libraryRows } from '../../libraries/registry/index.ts'
import { ObjectStore } from '../../libraries/tree/index.ts'
import { Usage, type UsageBytes } from '../../libraries/usage/index.ts'
import { listViewRoots } from '../../libraries/views/index.ts'
import { explainWaiting, type WaitingOfLibrary } from '../../maintenance/gc/index.ts'
import { listTaskRoots } from '../../maintenance/jobs/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { listTicketObjects } from '../../sharing/access/index.ts'
import { partialUploads } from '../../sharing/quotas/index.ts'
import { DELETED_LIBRARIES_KEPT_SECONDS, RECEIVED_KEPT_SECONDS } from '../assembly/index.ts'
import { openExistingDatabase } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { print, sizeText } from './output.ts'

const DIR_CACHE_BYTES = 8 * 2 ** 20
const MAX_COUNT_MS = 24 * 3_600_000

/** Bytes of a library that are not freed, and why. */
interface Kept {
  readonly what: string
  readonly bytes: number
  readonly why: string
  /** Unix seconds, where known: when it began to wait, and when it is freed at the latest, unless something begins to use it. */
  readonly since?: number
  readonly goesAt?: number
}

/** Prints what a library stores, and for each part why it is not freed. A server may be running at the same time. */
export async function explainUsage(config: Config, given: string, json: boolean): Promise<void> {
  const id = parseLibraryId(given) ?? noSuchLibrary(given)
  await using db = await openExistingDatabase(config)
  const library =
    (await libraryRows.find(db, id)) ?? (await deletedLibraries.find(db, id)) ?? noSuchLibrary(given)
  const kept = await listKept(config, db, library)
  const lines = kept.map(
    ({ what, bytes, why }) => `${what.padEnd(12)}  ${sizeText(bytes).padStart(10)}  ${why}`,
  )
  const head = `${library.name} (${library.id}), ${library.fileCount} files`
  print(json, { library: library.id, name: library.name, deletedAt: library.deletedAt, kept }, [
    head,
    ...lines,
  ])
}

function noSuchLibrary(given: string): never {
  throw new CommandError(
    `There is no library ${given}: carrel usage --json lists accounts, and the web app shows ids.`,
  )
}

async function listKept(config: Config, db: Database, library: LibraryInfo): Promise<Kept[]> {
  const now = () => Math.floor(Date.now() / 1000)
  const objects = new ObjectStore(db, DIR_CACHE_BYTES)
  const pathIndex = PathIndex.open(db, objects)
  const source = { db, now, pathIndex, defaultHistoryDays: config.historyDays }
  await using counted = new Usage(source)
  const { usage } = await counted.of(library, { waitMs: MAX_COUNT_MS })
  const days = keepDays(source, library)
  const waiting = await explainWaiting(db, library.key, { now: now(), graceSeconds: config.gcGraceSeconds })
  const kept = usage === undefined ? [] : keptByPurpose(usage, library, days, waiting)
  const sent = await summarizeUncommitted(db, library.key)
  if (sent !== undefined) {
    const why = `sent by sync clients without a commit; kept until ${day(sent.latestAt + RECEIVED_KEPT_SECONDS)}`
    kept.push({ what: 'uncommitted', bytes: sent.bytes, why })
  }
  const unfinished = await partialUploads.summarize(db, library.key)
  if (unfinished !== undefined) {
    const why = `in ${unfinished.uploads} unfinished uploads; kept until ${day(unfinished.endsAt)} unless they go on`
    kept.push({ what: 'unfinished', bytes: unfinished.bytes, why })
  }
  kept.push(...(await keptByRoots(db, objects, library.key, now())), ...keptByLeases(waiting))
  return kept
}

/** What downloads, tasks and shared folders refer to. Most of it also counts in the categories. */
async function keptByRoots(db: Database, objects: ObjectStore, key: number, now: number): Promise<Kept[]> {
  const roots = [
    ['tickets', await listTicketObjects(db, key, now), 'that downloads in progress may still ask for'],
    ['tasks', await listTaskRoots(db, key), 'that copies and moves in progress read'],
    ['views', await listViewRoots(db, key), 'that sync clients of shared folders may still ask for'],
  ] as const
  const kept: Kept[] = []
  for (const [what, ids, who] of roots) {
    if (ids.length === 0) continue
    let bytes = 0
    for (const id of ids) bytes += await sizeOf(objects, key, id)
    const why = `in ${ids.length === 1 ? 'one version of a file or folder' : `${ids.length} versions of files and folders`} ${who}; also counted above if they are there`
    kept.push({ what, bytes, why })
  }
  return kept
}

async function sizeOf(objects: ObjectStore, key: number, id: FsId): Promise<number> {
  const file = await objects.findFile(key, id as FileId)
  return file?.size ?? (await objects.findDir(key, id as DirId))?.size ?? 0
}

function keptByLeases({ leases }: WaitingOfLibrary): Kept[] {
  return leases.map(({ purpose, pid, host, since, bytes }) => ({
    what: 'in use',
    bytes,
    why: `condemned since ${day(since)}, when an operation of a ${purpose} began (process ${pid} on ${host}); waits for its end`,
    since,
  }))
}

/** A block counts in the first category that contains it, as in the other figures of `carrel usage`. */
function keptByPurpose(
  usage: UsageBytes,
  library: LibraryInfo,
  days: number,
  { condemned, givenUp }: WaitingOfLibrary,
): Kept[] {
  const { deletedAt } = library
  const purged = deletedAt === null ? '' : day(deletedAt + DELETED_LIBRARIES_KEPT_SECONDS)
  const current =
    deletedAt === null
      ? 'in files as they are now'
      : `the library was deleted on ${day(deletedAt)}; purged on ${purged}, or when its owner purges it`
  const kept: Kept[] = [{ what: 'current', bytes: usage.current, why: current }]
  const add = (what: string, bytes: number, why: string) => bytes > 0 && kept.push({ what, bytes, why })
  const leaves = days < 0 ? 'kept for ever, because the history has no limit' : `kept for ${days} days`
  add('trash', usage.trash, `in deleted files that can be restored; ${leaves}, or until the trash is emptied`)
  add('history', usage.history, `in older versions; ${leaves}, or until the history is emptied`)
  if (condemned !== undefined) {
    const { bytes, blocks, since, goesAt } = condemned
    const why = `in ${blocks === 1 ? 'a block' : `${blocks} blocks`} that nothing refers to, condemned since ${day(since)}; freed by ${day(goesAt)}`
    kept.push({ what: 'condemned', bytes, why, since, goesAt })
  }
  const freed =
    givenUp === undefined
      ? 'condemned by the next garbage collection'
      : `condemned when the history given up on ${day(givenUp.at)} is deleted, from ${day(givenUp.goesAt)} on`
  const others = usage.unreferenced - (condemned?.bytes ?? 0)
  add('unreferenced', others, `in nothing that can be reached; ${freed}`)
  add('shared', usage.shared, 'of all these, also held by another library: freed when no library holds them')
  return kept
}

function day(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
}

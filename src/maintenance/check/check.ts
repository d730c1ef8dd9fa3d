import { setTimeout as wait } from 'node:timers/promises'
import type { BlockId } from '../../base/objects/index.ts'
import { DutyCycle } from '../../base/scheduling/index.ts'
import { damagedBlocks } from '../../libraries/content/index.ts'
import { oldestShown } from '../../libraries/history/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import {
  findCheckedLibrary,
  findUnfinishedPass,
  finishPass,
  insertPass,
  listFindings,
  type PassCounts,
  putCheckedLibrary,
} from './check-store.ts'
import { type Finding, keyOfFinding } from './finding.ts'
import {
  type CheckedLibrary,
  type CheckSources,
  checkLibrary,
  type LibraryCheckOptions,
} from './library-check.ts'
import { insertProgress, listProgress, type TreeProgress } from './progress-store.ts'

const LIBRARIES_PER_STEP = 200
/** Runs of a library whose findings differ because it is being changed. */
const MAX_RUNS = 5
const SAVE_EVERY_MS = 1000
/** An interrupted pass is continued for a day. What it says is older by then than an operator would expect. */
const MAX_AGE_SECONDS = 24 * 3600

interface CheckOptions {
  /** Hashes the bytes of blocks, and every version of a folder. */
  readonly readData: boolean
  /** Percentage of the blocks that are read. */
  readonly sample: number
  /** Bytes per second that are read at most. */
  readonly bytesPerSecond?: number | undefined
  /** How often progress within a library is stored; every second unless given. */
  readonly saveEveryMs?: number
  /** Only this library. */
  readonly libraryKey?: number | undefined
  /** Identifies the server process, the boot of the machine and the mounted stores. A pass is not continued in another environment. */
  readonly environment: string
  readonly signal: AbortSignal
  readonly onLibrary?: (name: string) => void
}

/** The result of a pass. */
export interface CheckReport extends PassCounts {
  readonly findings: readonly Finding[]
  /** When the pass began, in Unix seconds. Nothing in the report is older. */
  readonly since: number
  /** Libraries that were checked before the interruption that this pass continues, and when: their state may have changed since. */
  readonly earlier: readonly { readonly library: string; readonly since: number }[]
  /** Whether it continued an interrupted pass. */
  readonly resumed: boolean
}

/** A pass was stopped by its signal, which is the cause. The next one may continue it. */
export class CheckInterrupted extends Error {
  override readonly name = 'CheckInterrupted'
  /** What was checked until then. */
  readonly report: CheckReport

  constructor(report: CheckReport, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.report = report
  }
}

/**
 * Checks all libraries, beside running servers. A pass that was interrupted is continued for a day, in the same environment and unless a block
 * was found damaged since: with the libraries it has not checked, or that have changed since, and in the one it was in with the folders it
 * has not checked. A finding is reported only if a second look confirms it. Throws CheckInterrupted.
 */
export async function check(sources: CheckSources, options: CheckOptions): Promise<CheckReport> {
  const { db, now, blocks } = sources
  const { readData, sample, libraryKey, environment } = options
  const scope = JSON.stringify({ readData, sample, libraryKey: libraryKey ?? null, environment })
  const unfinished = await findContinuable(sources, scope)
  const pass = unfinished ?? (await insertPass(db, scope, now()))
  const library: LibraryCheckOptions = {
    readData,
    reads: (id) => isSampled(id, pass.key, sample),
    dutyCycle: new DutyCycle({ share: 0.8, workMs: 40 }, options.signal),
    saveEveryMs: options.saveEveryMs ?? SAVE_EVERY_MS,
    onRead: readLimit(options.bytesPerSecond, options.signal),
  }
  let counts: PassCounts = pass
  const add = ({ objects }: CheckedLibrary, before: { blocks: number; bytes: number }) => {
    counts = {
      libraries: counts.libraries + 1,
      objects: counts.objects + objects,
      blocks: counts.blocks + blocks.blocks - before.blocks,
      bytes: counts.bytes + blocks.bytes - before.bytes,
    }
  }
  const earlier: { library: string; since: number }[] = []
  const report = async (): Promise<CheckReport> => {
    const { libraries, objects, blocks: blockCount, bytes } = counts
    const sums = { libraries, objects, blocks: blockCount, bytes }
    const findings = await listFindings(db, pass.key)
    return { findings, since: pass.startedAt, earlier, ...sums, resumed: unfinished !== undefined }
  }
  try {
    for await (const key of libraryKey === undefined ? allKeys(sources) : [libraryKey]) {
      const unchanged = await findUnchanged(sources, pass, key)
      if (unchanged !== undefined) {
        earlier.push(unchanged)
        continue
      }
      const before = { blocks: blocks.blocks, bytes: blocks.bytes }
      const saved = await listProgress(db, pass.key, key)
      const since = saved.length === 0 ? now() : pass.startedAt
      const progress = {
        before: saved,
        save: (done: TreeProgress) => insertProgress(db, pass.key, key, done),
      }
      const checked = await confirmed(sources, key, library, progress)
      options.signal.throwIfAborted()
      if (checked === undefined) continue
      add(checked, before)
      await putCheckedLibrary(db, pass.key, { libraryKey: key, ...checked, since }, counts)
    }
  } catch (error) {
    if (!options.signal.aborted) throw error
    throw new CheckInterrupted(await report(), options.signal.reason)
  }
  await finishPass(db, pass.key, now())
  return report()
}

/**
 * The interrupted pass that may be continued. Not one from before a block was found damaged: what damaged it may have damaged what was checked
 * before, too.
 */
async function findContinuable({ db, now }: CheckSources, scope: string) {
  const pass = await findUnfinishedPass(db, scope, now() - MAX_AGE_SECONDS)
  return pass === undefined || (await damagedBlocks.hasSince(db, pass.startedAt)) ? undefined : pass
}

async function* allKeys({ db }: CheckSources): AsyncGenerator<number, void> {
  for (let after = 0; ; ) {
    const keys = await libraryRows.listAllKeys(db, after, LIBRARIES_PER_STEP)
    yield* keys
    const last = keys.at(-1)
    if (last === undefined) return
    after = last
  }
}

/** A library that the pass has checked as it is now, and when. */
async function findUnchanged(
  sources: CheckSources,
  pass: { readonly key: number; readonly startedAt: number },
  libraryKey: number,
): Promise<{ library: string; since: number } | undefined> {
  const checked = await findCheckedLibrary(sources.db, pass.key, libraryKey)
  if (checked === undefined) return undefined
  const library = await libraryRows.findWithDeleted(sources.db, libraryKey)
  if (library?.head !== checked.head) return undefined
  if ((await oldestShown(sources, library)) !== checked.oldestSeq) return undefined
  return { library: library.id, since: checked.since ?? pass.startedAt }
}

/**
 * Checks a library until two runs in a row agree on a finding. One that a concurrent writer or garbage collection caused is not found again.
 */
async function confirmed(
  sources: CheckSources,
  libraryKey: number,
  options: LibraryCheckOptions,
  progress: NonNullable<LibraryCheckOptions['progress']>,
): Promise<CheckedLibrary | undefined> {
  // Only the first run resumes from saved progress. The second has to read the current state.
  let before = await checkLibrary(sources, libraryKey, { ...options, progress })
  for (let runs = 1; before !== undefined && before.findings.length > 0 && runs < MAX_RUNS; runs++) {
    const again = await checkLibrary(sources, libraryKey, options)
    if (again === undefined) return undefined
    const known = new Set(before.findings.map(keyOfFinding))
    const both = again.findings.filter((finding) => known.has(keyOfFinding(finding)))
    const isStable = both.length === again.findings.length
    before = { ...again, findings: both }
    if (isStable) return before
  }
  return before
}

/** Waits until the bytes read so far are within the limit. */
function readLimit(
  bytesPerSecond: number | undefined,
  signal: AbortSignal,
): (bytes: number) => Promise<void> {
  if (bytesPerSecond === undefined) return async () => {}
  const began = performance.now()
  let read = 0
  return async (bytes) => {
    read += bytes
    const leftMs = began + (read / bytesPerSecond) * 1000 - performance.now()
    if (leftMs > 0) await wait(leftMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Another part of the blocks in each pass. */
function isSampled(id: BlockId, pass: number, percent: number): boolean {
  if (percent >= 100) return true
  const number = (Number.parseInt(id.slice(0, 8), 16) + pass * 2_654_435_761) % 2 ** 32
  return number < (percent / 100) * 2 ** 32
}

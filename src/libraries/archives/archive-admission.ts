import { VISITORS } from '../../base/scheduling/index.ts'
import type { ArchiveState } from './archive-store.ts'

/** Limits of queued and running archives: per account, per link, and in total. */
const MAX_UNFINISHED = { account: 20, link: 5, all: 500 }
/** Limit of archives per account or link, including finished ones. */
const MAX_KEPT = 200
/** An archive idle for this long may be evicted when space is needed. */
const UNFETCHED_SECONDS = 600

/** What of an archive counts against the limits. */
export interface ArchiveSummary {
  readonly key: number
  /** The account or the link it counts for. */
  readonly requester: string
  readonly state: ArchiveState
  /** Reserved or taken by the finished archive. */
  readonly bytes: number
  /** Whether a download has started. */
  readonly isFetched: boolean
  /** Unix seconds. */
  readonly finishedAt: number | undefined
}

/** Maximum size of one archive in a space; undefined for unlimited. */
export function largestArchive(space: number | undefined): number | undefined {
  return space === undefined ? undefined : Math.floor(space / 2)
}

/**
 * Decides whether one more archive is admitted, and which finished ones have to be deleted for it. Undefined if it has to wait. `existing` is in the order of
 * requests. A requester gets at most half of the space, and all link visitors together at most half, so that neither an account nor links can occupy
 * all of it.
 */
export function admitArchive(
  existing: readonly ArchiveSummary[],
  wanted: { readonly requester: string; readonly bytes: number },
  { space, now }: { readonly space: number | undefined; readonly now: number },
): number[] | undefined {
  const { requester, bytes } = wanted
  if (isFull(existing, requester)) return undefined
  const own = existing.filter((archive) => archive.requester === requester)
  const surplus = own.length < MAX_KEPT ? undefined : own.find((archive) => !isUnfinished(archive))
  const evicted = new Set(surplus && [surplus])
  for (const candidate of [undefined, ...evictable(existing, requester, now)]) {
    if (candidate !== undefined) evicted.add(candidate)
    const rest = existing.filter((archive) => !evicted.has(archive))
    if (fits(rest, requester, bytes, space)) return Array.from(evicted, ({ key }) => key)
  }
  return undefined
}

/** Whether the archives of a requester may take more bytes. */
export function fits(
  existing: readonly ArchiveSummary[],
  requester: string,
  bytes: number,
  space: number | undefined,
): boolean {
  if (space === undefined) return true
  const sum = (some: readonly ArchiveSummary[]) => some.reduce((total, archive) => total + archive.bytes, 0)
  const most = largestArchive(space) ?? 0
  if (sum(existing) + bytes > space) return false
  if (sum(existing.filter((archive) => archive.requester === requester)) + bytes > most) return false
  return (
    !isVisitor(requester) || sum(existing.filter((archive) => isVisitor(archive.requester))) + bytes <= most
  )
}

/** Whether the requester, or all requesters together, have reached the limit. */
function isFull(existing: readonly ArchiveSummary[], requester: string): boolean {
  const unfinished = existing.filter(isUnfinished)
  const own = unfinished.filter((archive) => archive.requester === requester)
  const most = isVisitor(requester) ? MAX_UNFINISHED.link : MAX_UNFINISHED.account
  return own.length >= most || unfinished.length >= MAX_UNFINISHED.all
}

/** Finished archives that may be evicted, the requester's own first. */
function evictable(existing: readonly ArchiveSummary[], requester: string, now: number): ArchiveSummary[] {
  const candidates = existing.filter(
    ({ state, isFetched, finishedAt = now }) =>
      state === 'finished' && (isFetched || finishedAt < now - UNFETCHED_SECONDS),
  )
  const isOwn = (archive: ArchiveSummary) => archive.requester === requester
  return [...candidates.filter(isOwn), ...candidates.filter((archive) => !isOwn(archive))]
}

function isUnfinished({ state }: ArchiveSummary): boolean {
  return state === 'queued' || state === 'running'
}

function isVisitor(requester: string): boolean {
  return requester.startsWith(`${VISITORS}:`)
}

import { ROOT, withSlash } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import type { ActivityConsumer } from './activity-consumer.ts'
import {
  findActivities,
  type Lane,
  listMarks,
  type Mark,
  namesOfLibraries,
  newestTimes,
} from './activity-store.ts'
import { type FeedItem, pastViews, seenThrough, type View, viewsOf } from './view.ts'

const MAX_LANES_PER_QUERY = 100
// Bounds the time of one query (I10).
const ROWS_PER_QUERY = 2000
const MIN_PER_LANE = 20
const MAX_PER_LANE = 500
/** Maximum offset of a page. */
const MAX_FEED = 100_000

interface FeedQuery {
  /** E-mail of an account to filter by; undefined for all. */
  readonly author: string | undefined
  readonly skip: number
  readonly limit: number
}

/** A lane being merged into the feed. */
interface OpenLane {
  readonly lane: Lane
  readonly below: string | undefined
  readonly commits: View['commits']
  /** The last mark that was read. */
  last: Mark | undefined
  /** Upper bound for the time of the lane's remaining activities. */
  bound: number
}

/**
 * The activities in all libraries an account may read, newest first. It includes everything acknowledged
 * before the request. Lanes are merged lazily, so the cost of a page depends on its offset and size, not on
 * the number of activities.
 */
export class Feed {
  readonly #db: Database
  readonly #access: Access
  readonly #consumer: ActivityConsumer

  constructor(db: Database, access: Access, consumer: ActivityConsumer) {
    this.#db = db
    this.#access = access
    this.#consumer = consumer
  }

  async list(user: Account, { author, skip, limit }: FeedQuery): Promise<FeedItem[]> {
    const count = Math.min(skip + limit, MAX_FEED)
    if (skip >= count) return []
    const readables = viewsOf(await this.#access.listReadable(user))
    await this.#consumer.catchUp([...readables.keys()])
    const views = new Map<number, readonly View[]>()
    for (const [key, some] of readables) views.set(key, await pastViews(this.#access, some))
    const marks = await this.#newest(user, views, author, count)
    const page = marks.slice(skip)
    const found = await findActivities(
      this.#db,
      page.map(({ key }) => key),
    )
    const activities = page.flatMap(({ key }) => found.get(key) ?? [])
    const gone = activities.filter(({ libraryKey }) => !views.has(libraryKey))
    const names = await namesOfLibraries(this.#db, [...new Set(gone.map(({ libraryKey }) => libraryKey))])
    return activities.flatMap((one) => {
      const seen = views.get(one.libraryKey)
      if (seen !== undefined) return seenThrough(seen, one) ?? []
      const name = names.get(one.libraryKey)
      return name === undefined ? [] : { ...one, libraryId: name.id, libraryName: name.name }
    })
  }

  /** The newest `count` of all lanes, newest first. */
  async #newest(
    user: Account,
    views: ReadonlyMap<number, readonly View[]>,
    author: string | undefined,
    count: number,
  ): Promise<Mark[]> {
    let open = await this.#lanes(user, views, author, count)
    let newest: Mark[] = []
    const slicer = new TimeSlicer()
    while (open.length > 0) {
      const limit = Math.min(MAX_PER_LANE, Math.max(MIN_PER_LANE, Math.ceil((2 * count) / open.length)))
      const lanes = Math.min(MAX_LANES_PER_QUERY, Math.floor(ROWS_PER_QUERY / limit))
      const read: Mark[] = []
      for (let start = 0; start < open.length; start += lanes) {
        if (slicer.isDue) await slicer.rest()
        const some = open.slice(start, start + lanes)
        const queries = some.map((one) => ({ ...one, before: one.last, author, limit }))
        for (const [index, marks] of (await listMarks(this.#db, queries)).entries()) {
          const lane = some[index]
          if (lane === undefined) continue
          read.push(...marks)
          lane.last = marks.at(-1)
          lane.bound = marks.length < limit ? Number.NEGATIVE_INFINITY : (lane.last?.at ?? 0)
        }
      }
      newest = withoutDoubles([...newest, ...read].sort(byTime)).slice(0, count)
      const worst = newest.length < count ? Number.NEGATIVE_INFINITY : (newest.at(-1)?.at ?? 0)
      open = open.filter(({ bound }) => bound > Number.NEGATIVE_INFINITY && bound >= worst)
    }
    return newest
  }

  /** The lanes that may contain one of the newest `count`: at most `count`, by their newest activity. */
  async #lanes(
    user: Account,
    views: ReadonlyMap<number, readonly View[]>,
    author: string | undefined,
    count: number,
  ): Promise<OpenLane[]> {
    const times = await newestTimes(this.#db, [...views.keys()], author)
    const whole: OpenLane[] = []
    const parts: OpenLane[] = []
    for (const [libraryKey, bound] of times) {
      for (const { base, commits } of views.get(libraryKey) ?? []) {
        const lane = { lane: { libraryKey }, commits, last: undefined, bound }
        if (base === ROOT) whole.push({ ...lane, below: undefined })
        // The newest activity may be outside the folder, so its time is only an upper bound.
        else parts.push({ ...lane, below: withSlash(base) })
      }
    }
    whole.sort((a, b) => b.bound - a.bound)
    const least = whole[count - 1]?.bound ?? Number.NEGATIVE_INFINITY
    const own = { lane: { accountKey: user.key }, below: undefined, commits: undefined, last: undefined }
    return [{ ...own, bound: Infinity }, ...[...whole, ...parts].filter(({ bound }) => bound >= least)]
  }
}

function byTime(a: Mark, b: Mark): number {
  return b.at - a.at || b.rank - a.rank || b.key - a.key
}

function withoutDoubles(marks: readonly Mark[]): Mark[] {
  return marks.filter(({ key }, index) => index === 0 || marks[index - 1]?.key !== key)
}

import { isWithin, joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { starredIn, starsOf } from '../../libraries/attributes/index.ts'
import { isGone } from '../../libraries/consumers/index.ts'
import type { Library, LibraryCore } from '../../libraries/library/index.ts'
import { asSeen, inOrigin, libraryRows } from '../../libraries/registry/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type Database, inGroups } from '../../platform/database/index.ts'
import { type Access, CurrentTrees, type Readable } from '../../sharing/access/index.ts'
import type { PhotoIndex } from './photo-index.ts'
import { listBehind } from './photo-store.ts'
import {
  countDays,
  findMarksAt,
  findPhotos,
  type Lane,
  listMarks,
  listThumbhashes,
  type Mark,
  newestFirst,
  type Photo,
  type StoredPlace,
} from './timeline-store.ts'

const DAY_SECONDS = 86_400
/** Before every photo. */
const TOP: Mark = { takenAt: Number.MAX_SAFE_INTEGER, key: 0 }
/** Bounds the time of one query to about 1 ms (I10). A row costs 0.8 µs. */
const ROWS_PER_COUNT = 1000
const ROWS_PER_QUERY = 2000
const MAX_LANES_PER_QUERY = 100
const MIN_PER_LANE = 20
/** How long a list waits for photos of commits that were made before it. A library that is indexed for the first time takes longer. */
const CATCH_UP_MS = 1000
const MAX_THUMBHASHES = 2000

/** A photo as the caller sees it. */
export interface SeenPhoto {
  readonly in: Readable
  /** Relative to `in`. */
  readonly path: LibraryPath
  readonly photo: Photo
  readonly isStarred: boolean
}

type PlacedPhoto = Omit<SeenPhoto, 'isStarred'>

interface TimelineRequest {
  /** Days since 1970, both inclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Only photos after this one. */
  readonly after?: Mark | undefined
  readonly limit: number
  readonly among?: readonly StoredPlace[] | undefined
}

/** A lane being merged into the timeline. */
interface OpenLane extends Lane {
  last: Mark
}

/** The photos in all libraries, shared folders and shared files that an account may read, newest first. Rights are read on each request (I8). */
export class Timeline {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #access: Access
  readonly #index: PhotoIndex

  constructor(core: LibraryCore, db: Database, access: Access, index: PhotoIndex) {
    this.#core = core
    this.#db = db
    this.#access = access
    this.#index = index
  }

  /** The number of photos of each day with any, in days since 1970, newest first; of all, or of those at some places. */
  async days(user: Account, among?: readonly StoredPlace[]): Promise<{ day: number; photos: number }[]> {
    const views = await this.#views(user)
    if (among !== undefined) return this.#daysAmong(views, among)
    const libraryKeys = [...new Set(views.map(({ libraryKey }) => libraryKey))]
    await this.#catchUp(libraryKeys)
    const behind = new Set(await listBehind(this.#db, libraryKeys))
    const totals = new Map<number, number>()
    const slicer = new TimeSlicer()
    for (const lane of views) {
      // The rows may be those of another folder that was at the path of a shared one, or of photos moved out of it.
      if (lane.folder !== undefined && behind.has(lane.libraryKey)) {
        for await (const { photo } of this.#allIn(lane)) {
          const day = Math.floor(photo.takenAt / DAY_SECONDS)
          totals.set(day, (totals.get(day) ?? 0) + 1)
        }
        continue
      }
      for (let before: Mark | undefined = TOP; before !== undefined; ) {
        if (slicer.isDue) await slicer.rest()
        const { days, next } = await countDays(this.#db, lane, before, ROWS_PER_COUNT)
        for (const [day, photos] of days) totals.set(day, (totals.get(day) ?? 0) + photos)
        before = next
      }
    }
    return Array.from(totals, ([day, photos]) => ({ day, photos })).sort((a, b) => b.day - a.day)
  }

  /** A page of photos, and the mark after which the next one begins; none at the end. */
  async page(
    user: Account,
    request: TimelineRequest,
  ): Promise<{ photos: SeenPhoto[]; next: Mark | undefined }> {
    const views = await this.#views(user)
    const { from, to, after, limit, among } = request
    const since = from === undefined ? Number.MIN_SAFE_INTEGER : from * DAY_SECONDS
    const end = to === undefined ? TOP : { takenAt: (to + 1) * DAY_SECONDS, key: 0 }
    let before = after !== undefined && newestFirst(end, after) < 0 ? after : end
    const chosen = among && (await this.#marksAt(views, among))
    const photos: PlacedPhoto[] = []
    for (;;) {
      const wanted = limit - photos.length
      const marks =
        chosen === undefined
          ? await this.#newest(views, { before, since }, wanted)
          : nextOf(chosen, { before, since }, wanted)
      photos.push(...(await this.#seenAt(views, marks)))
      const last = marks.at(-1)
      if (last === undefined || marks.length < wanted)
        return { photos: await this.#withStars(user, photos), next: undefined }
      // The last mark is that of a photo in the page. One of a photo that is not shown would disclose its time.
      if (photos.length === limit) return { photos: await this.#withStars(user, photos), next: last }
      before = last
    }
  }

  /** The files an account has starred. They may be gone, or not readable any more. */
  async starred(user: Account): Promise<StoredPlace[]> {
    const stars = await starsOf(this.#core, user)
    return stars.flatMap(({ isDir, stored }) => (isDir ? [] : [stored]))
  }

  async #withStars(user: Account, photos: readonly PlacedPhoto[]): Promise<SeenPhoto[]> {
    const starred = new Map<number, Set<string>>()
    for (const key of new Set(photos.map(({ photo }) => photo.libraryKey)))
      starred.set(key, await starredIn(this.#core, { actor: user, info: { key, sub: undefined } }))
    return photos.map((one) => {
      const { libraryKey, parent, name } = one.photo
      return { ...one, isStarred: starred.get(libraryKey)?.has(joinPath(parent, name)) === true }
    })
  }

  async #daysAmong(
    views: readonly Readable[],
    among: readonly StoredPlace[],
  ): Promise<{ day: number; photos: number }[]> {
    const totals = new Map<number, number>()
    const keys = (await this.#marksAt(views, among)).map(({ key }) => key)
    for (const { some } of inGroups(keys)) {
      const found = await findPhotos(this.#db, some)
      for (const { photo } of await this.#seen(views, [...found.values()])) {
        const day = Math.floor(photo.takenAt / DAY_SECONDS)
        totals.set(day, (totals.get(day) ?? 0) + 1)
      }
    }
    return Array.from(totals, ([day, photos]) => ({ day, photos })).sort((a, b) => b.day - a.day)
  }

  /** The marks of the photos at some places in readable libraries, newest first. */
  async #marksAt(views: readonly Readable[], among: readonly StoredPlace[]): Promise<Mark[]> {
    const readable = new Set(views.map(({ libraryKey }) => libraryKey))
    const places = among.filter(({ libraryKey }) => readable.has(libraryKey))
    await this.#catchUp([...new Set(places.map(({ libraryKey }) => libraryKey))])
    return (await findMarksAt(this.#db, places)).sort(newestFirst)
  }

  /** All photos of a view that are in the current tree, newest first. */
  async *#allIn(view: Readable): AsyncGenerator<PlacedPhoto> {
    for (let before: Mark | undefined = TOP; before !== undefined; ) {
      const marks = await this.#newest([view], { before, since: Number.MIN_SAFE_INTEGER }, ROWS_PER_QUERY)
      yield* await this.#seenAt([view], marks)
      before = marks.length < ROWS_PER_QUERY ? undefined : marks.at(-1)
    }
  }

  async #seenAt(views: readonly Readable[], marks: readonly Mark[]): Promise<PlacedPhoto[]> {
    const found = await findPhotos(
      this.#db,
      marks.map(({ key }) => key),
    )
    return this.#seen(
      views,
      marks.flatMap(({ key }) => found.get(key) ?? []),
    )
  }

  /** The placeholders of the images in a folder, by name; at most 2,000. The caller has shown a right to read the library (I7). */
  async placeholders(library: Library, folder: LibraryPath): Promise<Map<string, Uint8Array>> {
    const shown = new Map<string, Uint8Array>()
    const { info, tree } = library
    if (info.encryption !== undefined) return shown
    const slicer = new TimeSlicer()
    for (const one of await listThumbhashes(this.#db, info.key, inOrigin(info, folder), MAX_THUMBHASHES)) {
      if (slicer.isDue) await slicer.rest()
      const entry = await tree.find(joinPath(folder, one.name))
      if (entry?.id === one.fileId) shown.set(one.name, one.thumbhash)
    }
    return shown
  }

  /** The readable parts of libraries, without folders and files that are within another one of them. */
  async #views(user: Account): Promise<Readable[]> {
    const views = new Map<number, Readable[]>()
    const access = this.#access
    const readables = [...(await access.listReadable(user)), ...(await access.listGrantedFiles(user))].filter(
      ({ encrypted }) => !encrypted,
    )
    for (const readable of readables.toSorted((a, b) => a.base.length - b.base.length)) {
      const known = views.get(readable.libraryKey)
      if (known === undefined) views.set(readable.libraryKey, [readable])
      else if (!known.some(({ base }) => isWithin(readable.base, base))) known.push(readable)
    }
    return [...views.values()].flat()
  }

  /** Waits a moment for the photos of recent commits. */
  async #catchUp(libraryKeys: readonly number[]): Promise<void> {
    const behind = await listBehind(this.#db, libraryKeys)
    if (behind.length === 0) return
    const work = async () => {
      for (const key of behind) {
        const library = await libraryRows.findByKey(this.#db, key)
        if (library !== undefined) await this.#index.catchUp(library)
      }
    }
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, CATCH_UP_MS)))
    const done = work().catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
    // After the timeout the result is not awaited. An error is then reported by the next step in the background.
    done.catch(() => {})
    await Promise.race([done, timeout]).finally(() => clearTimeout(timer))
  }

  /** The newest `count` of all lanes, newest first. Lanes are merged lazily, so the cost depends on `count`, not on the number of photos. */
  async #newest(
    lanes: readonly Lane[],
    { before, since }: { readonly before: Mark; readonly since: number },
    count: number,
  ): Promise<Mark[]> {
    let open: OpenLane[] = lanes.map(({ libraryKey, base, isFile }) => ({
      libraryKey,
      base,
      isFile,
      last: before,
    }))
    let newest: Mark[] = []
    const slicer = new TimeSlicer()
    while (open.length > 0) {
      const limit = Math.min(ROWS_PER_QUERY, Math.max(MIN_PER_LANE, Math.ceil((2 * count) / open.length)))
      const atOnce = Math.min(MAX_LANES_PER_QUERY, Math.max(1, Math.floor(ROWS_PER_QUERY / limit)))
      const full = new Set<OpenLane>()
      const read: Mark[] = []
      for (let start = 0; start < open.length; start += atOnce) {
        if (slicer.isDue) await slicer.rest()
        const some = open.slice(start, start + atOnce)
        const queries = some.map((lane) => ({ lane, before: lane.last, since, limit }))
        for (const [index, marks] of (await listMarks(this.#db, queries)).entries()) {
          const lane = some[index]
          const last = marks.at(-1)
          if (lane === undefined || last === undefined) continue
          read.push(...marks)
          lane.last = last
          if (marks.length === limit) full.add(lane)
        }
      }
      newest = [...newest, ...read].sort(newestFirst).slice(0, count)
      const worst = newest.length < count ? undefined : newest.at(-1)
      open = [...full].filter(({ last }) => worst === undefined || newestFirst(last, worst) < 0)
    }
    return newest
  }

  /** The photos that are still in the current tree: the index lags behind, and must not disclose what was moved out of a shared folder. */
  async #seen(views: readonly Readable[], photos: readonly Photo[]): Promise<PlacedPhoto[]> {
    const trees = new CurrentTrees(this.#core, this.#db)
    const seen: PlacedPhoto[] = []
    for (const photo of photos) {
      const path = joinPath(photo.parent, photo.name)
      const view = views.find((one) => one.libraryKey === photo.libraryKey && isWithin(path, one.base))
      const entry = view && (await trees.find(view, path))
      if (entry?.kind !== 'file' || entry.id !== photo.fileId) continue
      const shown = view && (view.folder === undefined ? path : asSeen(view.folder, path))
      if (view !== undefined && shown !== undefined && shown !== ROOT)
        seen.push({ in: view, path: shown, photo })
    }
    return seen
  }
}

/** The next `count` of some marks, which are sorted. */
function nextOf(
  marks: readonly Mark[],
  { before, since }: { readonly before: Mark; readonly since: number },
  count: number,
): Mark[] {
  const next: Mark[] = []
  for (const mark of marks) {
    if (next.length === count || mark.takenAt < since) break
    if (newestFirst(before, mark) < 0) next.push(mark)
  }
  return next
}

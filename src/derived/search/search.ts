import type { Dirent, FsId } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT, segmentsOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { TextExtractor } from '../../platform/extraction/index.ts'
import { CurrentTrees, type OwnedReadables, type Readable } from '../../sharing/access/index.ts'
import { highlight } from './highlight.ts'
import { IndexMerging } from './index-merging.ts'
import { IndexSlicing } from './index-slicing.ts'
import { unpackText } from './indexed-text.ts'
import { libraryKeyOf, rootKeyOf } from './keys.ts'
import type { Filters, MatchRequest, Scope } from './match-request.ts'
import { findMatches, type Match } from './match-store.ts'
import { findFileKey, findFolderKey, findPaths, type Step } from './path-store.ts'
import { parseQuery, type Query } from './query.ts'
import { Reindexing } from './reindexing.ts'
import { SearchIndex } from './search-index.ts'
import { TextQueue } from './text-queue.ts'
import { countPending, findTexts, listFailures } from './text-store.ts'

// Characters searched for an excerpt: everything that is indexed if the text matched.
const LOOKED_AT_FOR_TEXT = 2 ** 20
const LOOKED_AT_FOR_NAME = 2 ** 15
// Texts in memory at the same time.
const TEXTS_PER_LOOKUP = 10
// Time limit for creating excerpts.
const MAX_HIGHLIGHTING_MS = 400

interface SearchOptions {
  readonly core: LibraryCore
  /** The database of libraries and commits. */
  readonly libraryDb: Database
  /** The database of the index. */
  readonly db: Database
  readonly extractor: TextExtractor
  readonly isExtractable: (name: string) => boolean
  readonly onError: (error: unknown) => void
}

export interface SearchRequest extends Pick<MatchRequest, 'where' | 'order' | 'offset' | 'limit'> {
  readonly text: string
  /** The libraries, folders and files that the caller may read and searches. */
  readonly within: readonly Readable[]
  /** The owner whose libraries are all searched, too. */
  readonly owned?: OwnedReadables | undefined
  /** Restricts the search to a folder of a single library. */
  readonly folder?: LibraryPath | undefined
  readonly filters: Filters
}

/** A search hit, as the caller sees it. */
export interface Found {
  readonly in: Readable
  /** Relative to `in`. */
  readonly path: LibraryPath
  readonly name: string
  readonly isDir: boolean
  readonly id: FsId
  readonly size: number
  readonly mtime: number
  /** HTML excerpt; '' if the text does not match. */
  readonly highlight: string
}

/** A page of what was found. */
interface FoundPage {
  readonly found: Found[]
  readonly total: number
  /** More than 1,000 matches are not counted: there are at least as many, and another page. */
  readonly isMinimum: boolean
  /** As `total`, with stale matches, so that it is the same for all pages. */
  readonly matched: number
}

/** A file whose text could not be extracted. */
interface UnreadText {
  /** Undefined if it was deleted. */
  readonly library: LibraryInfo | undefined
  readonly path: LibraryPath
  readonly reason: string
  readonly attempts: number
}

/** Searches files and folders by name and text. */
export class Search implements AsyncDisposable {
  readonly #options: SearchOptions
  readonly index: SearchIndex
  readonly texts: TextQueue
  readonly reindexing: Reindexing
  readonly merging: IndexMerging
  readonly #slicing: IndexSlicing

  /** The database of the index. */
  get db(): Database {
    return this.#options.db
  }

  constructor(options: SearchOptions) {
    this.#options = options
    const { core, libraryDb, db, extractor, isExtractable, onError } = options
    this.index = new SearchIndex({
      core,
      libraryDb,
      db,
      isExtractable,
      onError,
      onPending: () => this.texts.wake(),
    })
    this.texts = new TextQueue({
      core,
      libraryDb,
      db,
      extractor,
      onError,
      prepare: () => this.index.prepare(),
    })
    this.reindexing = new Reindexing({ core, libraryDb, db, index: this.index, isExtractable, onError })
    this.merging = new IndexMerging({ db, onError, prepare: () => this.index.prepare() })
    this.#slicing = new IndexSlicing(db)
  }

  /** Starts indexing past and future changes. */
  start(): void {
    const { core } = this.#options
    this.index.start()
    core.events.onPurged((libraryKey) => this.reindexing.forgetLibrary(libraryKey))
    core.events.onEvent(({ kind, library }) => {
      // Indexing stopped when it was deleted.
      if (kind === 'restored') core.commitConsumer.wake(library)
    })
    this.reindexing.start()
    this.merging.start()
    this.texts.wake()
  }

  /** Matches that the caller may read now (I8). */
  async find(request: SearchRequest): Promise<FoundPage> {
    await this.index.prepare()
    const { db } = this.#options
    const query = parseQuery(request.text)
    const reach = await this.#reach(request)
    const { scope } = reach
    const slices = () => this.#slicing.slices(scope)
    const { total, isMinimum, matches } = await findMatches(db, { ...request, query, scope, slices })
    const keys = matches.map(({ key }) => key)
    await this.#openDoors(keys, reach.doors, request.owned)
    const current = await this.#current(matches, await findPaths(db, keys), reach.doors)
    const highlights =
      request.where === 'everywhere' ? await this.#highlights([...current.keys()], query) : undefined
    const found = Array.from(current, ([{ key }, one]) => ({ ...one, highlight: highlights?.get(key) ?? '' }))
    if (isMinimum) return { total, isMinimum, matched: total, found }
    // Stale hits are not counted. A next page is announced as long as the index has more.
    const [end, left] = [request.offset + request.limit, total - (matches.length - found.length)]
    return { total: total > end ? Math.max(left, end + 1) : left, isMinimum, matched: total, found }
  }

  /** Files whose text could not be extracted, for administrators; latest first. */
  async listUnread(offset: number, limit: number): Promise<{ total: number; unread: UnreadText[] }> {
    await this.index.prepare()
    const { db, libraryDb } = this.#options
    const failures = await listFailures(db, offset, limit)
    const ways = await findPaths(
      db,
      failures.map(({ key }) => key),
    )
    const unread: UnreadText[] = []
    for (const { key, reason, attempts } of failures) {
      const library = await libraryRows.findByKey(libraryDb, libraryKeyOf(key))
      unread.push({ library, path: pathOf(ways.get(key) ?? []), reason, attempts })
    }
    return { total: (await countPending(db)).failed, unread }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Indexing of a large library is interrupted and resumes after the next start.
    const looking = Promise.all([this.reindexing.stop(), this.merging.stop()])
    await this.index.stop()
    await looking
    await this.texts.stop()
    await this.#options.extractor.close()
  }

  /** The search scope, and the library or view through which each part of it is readable. */
  async #reach({
    within,
    owned,
    folder = ROOT,
  }: SearchRequest): Promise<{ scope: Scope; doors: Map<number, Readable> }> {
    const doors = new Map<number, Readable>()
    const libraries = new Set(owned?.keys)
    const folders: number[] = []
    const files: number[] = []
    const partly = new Set<number>()
    // A caller who may read a whole library sees its entries there, not in views.
    for (const readable of within.toSorted((a, b) => Number(a.base !== ROOT) - Number(b.base !== ROOT))) {
      const { libraryKey, base } = readable
      if (libraries.has(libraryKey)) continue
      if (readable.isFile) {
        const key = await findFileKey(this.#options.db, libraryKey, base)
        if (key === undefined || doors.has(key)) continue
        doors.set(key, readable)
        files.push(key)
        partly.add(libraryKey)
        continue
      }
      const root =
        base === ROOT ? rootKeyOf(libraryKey) : await findFolderKey(this.#options.db, libraryKey, base)
      if (root === undefined || doors.has(root)) continue
      doors.set(root, readable)
      const place = segmentsOf(folder).reduce(joinPath, base)
      if (place === ROOT) {
        libraries.add(libraryKey)
        continue
      }
      const key = place === base ? root : await findFolderKey(this.#options.db, libraryKey, place)
      if (key === undefined) continue
      folders.push(key)
      partly.add(libraryKey)
    }
    return { scope: { libraries: [...libraries], partly: [...partly], folders, files }, doors }
  }

  /** Names of owned libraries are loaded only for those with hits. */
  async #openDoors(
    keys: readonly number[],
    doors: Map<number, Readable>,
    owned: OwnedReadables | undefined,
  ): Promise<void> {
    const libraries = new Set(keys.map(libraryKeyOf).filter((key) => !doors.has(rootKeyOf(key))))
    if (owned === undefined || libraries.size === 0) return
    for (const readable of await owned.find([...libraries])) {
      doors.set(rootKeyOf(readable.libraryKey), readable)
    }
  }

  /**
   * The matches that are still valid in the current tree. A file that was renamed, moved out of the scope,
   * deleted or changed since it was indexed is dropped, so that its old name and text are not disclosed.
   */
  async #current(
    matches: readonly Match[],
    ways: ReadonlyMap<number, readonly Step[]>,
    doors: ReadonlyMap<number, Readable>,
  ): Promise<Map<Match, Omit<Found, 'highlight'>>> {
    const trees = new CurrentTrees(this.#options.core, this.#options.libraryDb)
    const current = new Map<Match, Omit<Found, 'highlight'>>()
    for (const match of matches) {
      const place = placeOf(ways.get(match.key) ?? [], match.key, doors)
      if (place === undefined) continue
      const { in: door } = place
      const path = door.isFile ? door.base : segmentsOf(place.path).reduce(joinPath, door.base)
      const entry = await trees.find(door, path)
      if (entry === undefined || !isStill(entry, match)) continue
      const { id, name, mtime } = entry
      current.set(match, { ...place, name, isDir: match.isDir, size: match.size, id, mtime })
    }
    return current
  }

  async #highlights(matches: readonly Match[], query: Query): Promise<Map<number, string>> {
    const shown = new Map<number, string>()
    const deadline = performance.now() + MAX_HIGHLIGHTING_MS
    const slicer = new TimeSlicer()
    const withText = matches.filter(({ hasText }) => hasText)
    for (let start = 0; start < withText.length; start += TEXTS_PER_LOOKUP) {
      const some = withText.slice(start, start + TEXTS_PER_LOOKUP)
      const texts = await findTexts(
        this.#options.db,
        some.map(({ key }) => key),
      )
      for (const { key, byName } of some) {
        const body = texts.get(key)
        if (body === undefined) continue
        if (performance.now() > deadline) return shown
        if (slicer.isDue) await slicer.rest()
        const most = byName ? LOOKED_AT_FOR_NAME : LOOKED_AT_FOR_TEXT
        shown.set(key, await highlight(await unpackText(body), query, most))
      }
    }
    return shown
  }
}

/** Whether an entry is still the indexed one. The id of a folder changes with its content. */
function isStill(entry: Dirent, match: Match): boolean {
  if (entry.kind === 'dir' || match.isDir) return entry.kind === 'dir' && match.isDir
  return entry.id === match.objectId
}

/** The path of an entry as seen through one of the readable libraries and views; the one nearest to the root wins. */
function placeOf(
  way: readonly Step[],
  key: number,
  doors: ReadonlyMap<number, Readable>,
): { in: Readable; path: LibraryPath } | undefined {
  if (way.length === 0) return undefined
  const whole = doors.get(rootKeyOf(libraryKeyOf(key)))
  if (whole !== undefined) return { in: whole, path: pathOf(way) }
  for (const [index, step] of way.entries()) {
    const door = doors.get(step.key)
    if (door?.isFile) return { in: door, path: pathOf([step]) }
    if (door !== undefined && step.key !== key) return { in: door, path: pathOf(way.slice(index + 1)) }
  }
  return undefined
}

function pathOf(way: readonly Step[]): LibraryPath {
  return way.map(({ name }) => name).reduce(joinPath, ROOT)
}

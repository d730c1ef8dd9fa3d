import path from 'node:path'
import { Readable as Stream } from 'node:stream'
import type { TestContext } from 'node:test'
import { baseName, parentOf, ROOT } from '../../src/base/paths/paths.ts'
import { type Found, Search, type SearchRequest } from '../../src/derived/search/search.ts'
import { addFiles } from '../../src/libraries/edits/upload.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { ThreadedDatabase } from '../../src/platform/database/sqlite/threaded-database.ts'
import {
  createTextExtractor,
  isExtractable,
  type TextExtractor,
} from '../../src/platform/extraction/text-extractor.ts'
import type { Readable } from '../../src/sharing/access/readable.ts'
import { permitted } from '../../src/sharing/access/readable.ts'
import { at, openTestCore, type TestCore } from './core.ts'
import type { FreshDatabase } from './databases.ts'

/** A search with its own core. */
export interface SearchStage extends AsyncDisposable {
  readonly stage: TestCore
  readonly search: Search
  /** The database of the index. */
  readonly db: Database
  readonly errors: unknown[]
  /** Another search over the same data, disposed by the caller. */
  readonly restart: () => Search
  /** Puts a file into a library. */
  readonly put: (library: EditableLibrary, path: string, text: string, mtime?: number) => Promise<void>
  /** Brings the index up to date. */
  readonly settle: (...libraries: EditableLibrary[]) => Promise<void>
  /** The paths of the hits, best first. */
  readonly paths: (
    text: string,
    libraries: readonly EditableLibrary[],
    request?: Partial<SearchRequest>,
  ) => Promise<string[]>
  readonly find: (
    text: string,
    libraries: readonly EditableLibrary[],
    request?: Partial<SearchRequest>,
  ) => Promise<{ total: number; isMinimum: boolean; found: Found[] }>
}

interface SearchStageOptions {
  readonly extractor?: TextExtractor
  readonly now?: () => number
}

/** Undefined, with the test skipped, if the database is not available. */
export async function openSearch(
  t: TestContext,
  fresh: FreshDatabase,
  options: SearchStageOptions = {},
): Promise<SearchStage | undefined> {
  const database = await fresh(t)
  if (database === undefined) return undefined
  const { setting } = database
  const { now } = options
  const stage = await openTestCore({ ...(setting && { setting }), ...(now && { now }) })
  const own =
    setting === undefined ? new ThreadedDatabase(path.join(path.dirname(stage.file), 'search.db')) : undefined
  const errors: unknown[] = []
  const start = () =>
    new Search({
      core: stage.core,
      libraryDb: stage.db,
      db: own ?? stage.db,
      extractor: options.extractor ?? createTextExtractor({ threads: 1 }),
      isExtractable,
      onError: (error) => errors.push(error),
    })
  const search = start()
  const find: SearchStage['find'] = (text, libraries, request = {}) =>
    search.find({
      text,
      within: libraries.map((library) => readable(library)),
      filters: {},
      where: 'everywhere',
      order: 'rank',
      offset: 0,
      limit: 100,
      ...request,
    })
  return {
    stage,
    search,
    db: own ?? stage.db,
    errors,
    restart: start,
    async put(library, file, text, mtime) {
      const target = at(file)
      const content = await stage.core.incoming.receive(Stream.from([Buffer.from(text)]))
      const files = [{ name: baseName(target), content, mtime }]
      const options = { into: parentOf(target), replace: true }
      await addFiles(stage.core, await stage.reopen(library), ROOT, files, options)
    },
    async settle(...libraries) {
      for (const library of libraries) await search.index.catchUp((await stage.reopen(library)).info)
      await search.texts.settled()
    },
    find,
    async paths(text, libraries, request) {
      return (await find(text, libraries, request)).found.map((one) => one.path)
    },
    async [Symbol.asyncDispose]() {
      await search[Symbol.asyncDispose]()
      await own?.[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

/** A library as its owner reads it. */
export function readable(library: EditableLibrary, more: Partial<Readable> = {}): Readable {
  const { id, name, key, ownerKey, encryption } = library.info
  return permitted({
    id,
    name,
    ownerKey,
    encrypted: encryption !== undefined,
    permission: 'rw',
    isFile: false,
    via: 'mine',
    libraryKey: key,
    base: ROOT,
    ...more,
  })
}

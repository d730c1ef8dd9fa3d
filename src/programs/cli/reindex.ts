import type { Config } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import type { Photos } from '../../derived/photos/index.ts'
import type { Search } from '../../derived/search/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRows } from '../../libraries/registry/index.ts'
import { type Database, openDatabase } from '../../platform/database/index.ts'
import { Images } from '../../platform/imaging/index.ts'
import { Access } from '../../sharing/access/index.ts'
import { createPhotos, createSearch, openBlocks, openCore, openSearchDatabase } from '../assembly/index.ts'
import { checkSchema } from './accounts.ts'
import type { IndexName } from './index-names.ts'
import { print } from './output.ts'

const PAGE_SIZE = 500

/** An index of a library could not be made; the others were. */
const INCOMPLETE = 1

/** A library of which an index could not be made. */
interface IndexFailure {
  readonly index: IndexName
  readonly library: string
  readonly message: string
}

/**
 * Rebuilds indexes from the commits of all libraries. A running server continues with the new rows. Resolves to the exit code: 1 if a library could not
 * be indexed, such as a damaged one.
 */
export async function reindex(
  config: Config,
  names: readonly IndexName[],
  options: { json: boolean },
): Promise<number> {
  await checkSchema(config)
  const now = () => Math.floor(Date.now() / 1000)
  const logger = createLogger('error', { pretty: false })
  await using opened = new AsyncDisposableStack()
  const db = opened.use(await openDatabase(config.database, { now, onFatal: stopAtOnce }))
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const searchDb = openSearchDatabase(config, db)
  if (searchDb !== db) opened.use(searchDb)
  const search = opened.use(createSearch({ core, libraryDb: db, db: searchDb, config, logger }))
  const images = new Images()
  const access = new Access({ core, db })
  const photos = opened.use(createPhotos({ core, db, access, images, logger }))
  opened.use(images)
  const libraries: Record<string, number> = {}
  const failures: IndexFailure[] = []
  for (const index of names) {
    let count = 0
    await rebuild[index]({ core, db, search, photos }, (library, failure) => {
      if (failure === undefined) count++
      else failures.push(failureOf(index, library, failure.reason))
    })
    libraries[index] = count
  }
  const lines = Object.entries(libraries).map(
    ([name, count]) => `Made the index ${name} of ${count} ${count === 1 ? 'library' : 'libraries'} again.`,
  )
  print(options.json, { libraries, failures }, lines)
  for (const { message } of failures) process.stderr.write(`${message}\n`)
  return failures.length > 0 ? INCOMPLETE : 0
}

function failureOf(index: IndexName, { id, name }: LibraryInfo, reason: unknown): IndexFailure {
  const cause = reason instanceof Error ? reason.message : String(reason)
  const message = `The index ${index} of the library ${name} (${id}) could not be made: ${cause}. Run carrel check to see what is damaged.`
  return { index, library: id, message }
}

interface Parts {
  readonly core: LibraryCore
  readonly db: Database
  readonly search: Search
  readonly photos: Photos
}

type OnLibrary = (library: LibraryInfo, failure?: { readonly reason: unknown }) => void

/** Each calls `onLibrary` after each library, with the reason if it could not be indexed. */
const rebuild: Record<IndexName, (parts: Parts, onLibrary: OnLibrary) => Promise<void>> = {
  async search({ search }, onLibrary) {
    await search.reindexing.rebuild(onLibrary)
    await search.texts.settled()
    await search.merging.look()
  },
  async paths({ core, db }, onLibrary) {
    for (let after = 0; ; ) {
      const heads = await libraryHeads.list(db, after, PAGE_SIZE)
      for (const { key } of heads) {
        const library = await libraryRows.findByKey(db, key)
        if (library === undefined) continue
        try {
          await storesOf(core).pathIndex.rebuild(library)
          onLibrary(library)
        } catch (error) {
          onLibrary(library, { reason: error })
        }
      }
      after = heads.at(-1)?.key ?? 0
      if (after === 0) return
    }
  },
  photos: ({ photos }, onLibrary) => photos.rebuild(onLibrary),
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The index could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(1)
}

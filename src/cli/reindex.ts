import { Access } from '../access/index.ts'
import { findLibraryByKey, listLibraryHeads } from '../commits/index.ts'
import type { Config } from '../config/index.ts'
import { type Database, openDatabase } from '../database/index.ts'
import { Images } from '../imaging/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { createLogger } from '../logging.ts'
import type { Photos } from '../photos/index.ts'
import type { Search } from '../search/index.ts'
import { createPhotos, createSearch, openBlocks, openCore, openSearchDatabase } from '../server/index.ts'
import { checkSchema } from './accounts.ts'
import type { IndexName } from './index-names.ts'
import { print } from './output.ts'

const PAGE_SIZE = 500

/** Rebuilds indexes from the commits of all libraries. A running server continues with the new rows. */
export async function reindex(
  config: Config,
  names: readonly IndexName[],
  options: { json: boolean },
): Promise<void> {
  await checkSchema(config)
  const now = () => Math.floor(Date.now() / 1000)
  const logger = createLogger('error', { pretty: false })
  await using opened = new AsyncDisposableStack()
  const db = opened.use(await openDatabase(config.database, { now, onFatal: stopAtOnce }))
  const blocks = opened.use(await openBlocks(config, { shared: true }))
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const searchDb = openSearchDatabase(config, db)
  if (searchDb !== db) opened.use(searchDb)
  const search = opened.use(createSearch({ core, libraryDb: db, db: searchDb, config, logger }))
  const images = new Images()
  const access = new Access({ core, db })
  const photos = opened.use(createPhotos({ core, db, access, images, logger }))
  opened.use(images)
  const libraries: Record<string, number> = {}
  for (const name of names) libraries[name] = await rebuild[name]({ core, db, search, photos })
  const lines = Object.entries(libraries).map(
    ([name, count]) => `Made the index ${name} of ${count} ${count === 1 ? 'library' : 'libraries'} again.`,
  )
  print(options.json, { libraries }, lines)
}

interface Parts {
  readonly core: LibraryCore
  readonly db: Database
  readonly search: Search
  readonly photos: Photos
}

/** Each returns the number of libraries it processed. */
const rebuild: Record<IndexName, (parts: Parts) => Promise<number>> = {
  async search({ search }) {
    let count = 0
    await search.reindexing.rebuild(() => count++)
    await search.texts.settled()
    await search.merging.look()
    return count
  },
  async paths({ core, db }) {
    let count = 0
    for (let after = 0; ; ) {
      const heads = await listLibraryHeads(db, after, PAGE_SIZE)
      for (const { key } of heads) {
        const library = await findLibraryByKey(db, key)
        if (library !== undefined) await core.pathIndex.rebuild(library)
        count++
      }
      after = heads.at(-1)?.key ?? 0
      if (after === 0) return count
    }
  },
  photos: ({ photos }) => photos.rebuild(),
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The index could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(1)
}

import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import { createLibraryCore, type LibraryCore } from '../../libraries/library/index.ts'
import { Audit } from '../../people/audit/index.ts'
import { forgetNonce, presentedBy } from '../../people/credentials/index.ts'
import { type Database, type ProcessLocks, ThreadedDatabase } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { libraryDependents, pathBindings } from './dependents.ts'

const MAX_THREADS = 4
const DIR_CACHE_BYTES = 96 * 2 ** 20

export function openCore(parts: {
  db: Database
  blocks: BlockStore
  config: Config
  now: () => number
  logger: Logger
}): LibraryCore {
  const { db, blocks, config, now, logger } = parts
  return createLibraryCore({
    db,
    blocks,
    audit: new Audit(db, now, config.auditDays),
    now,
    boundarySearch: config.boundarySearch,
    credentials: {
      credentialOf: presentedBy,
      // An API token is derived from its row and the secret, until a key is sealed with it.
      async onSealed(tx, { apiTokenKey }) {
        if (apiTokenKey !== undefined) await forgetNonce(tx, apiTokenKey)
      },
    },
    dirCacheBytes: DIR_CACHE_BYTES,
    defaultHistoryDays: config.historyDays,
    entryLimits: config.entries,
    dependents: libraryDependents,
    pathBindings,
    onConsumerError: (error) => logger.error({ err: error }, 'following commits failed; it is tried again'),
  })
}

/** The database of the search index: the main one on PostgreSQL, a separate file on SQLite. */
export function openSearchDatabase(
  { database, dataDirectory }: Config,
  db: Database,
  locks?: ProcessLocks,
): Database {
  if (database.kind !== 'sqlite') return db
  return new ThreadedDatabase(path.join(dataDirectory, 'search.db'), { locks })
}

/** One thread per core except that of the event loop, at most four, unless set. */
export function threadsOf({ threads }: Config): number {
  return threads ?? Math.min(Math.max(1, availableParallelism() - 1), MAX_THREADS)
}

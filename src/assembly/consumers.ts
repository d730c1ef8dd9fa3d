import type { Access } from '../access/index.ts'
import { ActivityService } from '../activity/index.ts'
import type { Config } from '../config/index.ts'
import type { Database } from '../database/index.ts'
import { createTextExtractor, isExtractable } from '../extraction/index.ts'
import type { Accounts, ServerSecret } from '../identity/index.ts'
import type { Images } from '../imaging/index.ts'
import type { LibraryCore } from '../library/index.ts'
import type { Logger } from '../logging.ts'
import { Outbox } from '../mail/index.ts'
import { Photos } from '../photos/index.ts'
import { Search } from '../search/index.ts'
import { threadsOf } from './stores.ts'

/** Creates the search index, which starts no background work of its own. */
export function createSearch(parts: {
  core: LibraryCore
  libraryDb: Database
  db: Database
  config: Config
  logger: Logger
  onBehind?: (() => void) | undefined
}): Search {
  const { core, libraryDb, db, config, logger, onBehind } = parts
  return new Search({
    core,
    libraryDb,
    db,
    extractor: createTextExtractor({ threads: threadsOf(config) }),
    isExtractable,
    onError: (error) => {
      onBehind?.()
      logger.error({ err: error }, 'indexing for search failed; it is tried again')
    },
  })
}

/** Creates the timeline of photos, which starts no background work of its own. */
export function createPhotos(parts: {
  core: LibraryCore
  db: Database
  access: Access
  images: Images
  logger: Logger
  onBehind?: (() => void) | undefined
}): Photos {
  const { logger, onBehind, ...rest } = parts
  return new Photos({
    ...rest,
    onError: (error) => {
      onBehind?.()
      logger.error({ err: error }, 'indexing photos failed; it is tried again')
    },
  })
}

/** Creates the activity service, which starts no background work of its own. */
export function createActivity(parts: {
  core: LibraryCore
  db: Database
  secret: ServerSecret
  config: Config
  now: () => number
  logger: Logger
  access: Access
  accounts: Accounts
  outbox?: Outbox
  onBehind?: (() => void) | undefined
}): ActivityService {
  const { core, db, access, accounts, secret, config, now, logger, onBehind } = parts
  const onMailError = (error: unknown) => logger.error({ err: error }, 'mail failed')
  return new ActivityService({
    core,
    db,
    access,
    accounts,
    // Commands queue no mail.
    outbox: parts.outbox ?? new Outbox({ db, settings: undefined, now, onError: onMailError }),
    secret,
    now,
    webhookPrivate: config.webhookPrivate,
    activityDays: config.activityDays,
    onError: (error) => {
      onBehind?.()
      logger.error({ err: error }, 'telling what happened failed; it is tried again')
    },
  })
}

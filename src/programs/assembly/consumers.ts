import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import { ActivityService } from '../../derived/activity/index.ts'
import { Photos } from '../../derived/photos/index.ts'
import { Search } from '../../derived/search/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Accounts } from '../../people/accounts/index.ts'
import { Outbox } from '../../people/mail/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { createTextExtractor, isExtractable } from '../../platform/extraction/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import type { ServerSecret } from '../../platform/secret/index.ts'
import type { Access } from '../../sharing/access/index.ts'
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

import { foundation } from './0001-foundation.ts'
import { transfers } from './0002-transfers.ts'
import { tasks } from './0003-tasks.ts'
import { revisions } from './0004-revisions.ts'
import { sharing } from './0005-sharing.ts'
import { links } from './0006-links.ts'
import { events } from './0007-events.ts'
import { administration } from './0008-administration.ts'
import { sync } from './0010-sync.ts'
import { credentialOrigins } from './0011-credential-origins.ts'
import { allowances } from './0012-allowances.ts'
import { signIn } from './0013-sign-in.ts'
import { garbageCollection } from './0014-garbage-collection.ts'
import { integrity } from './0016-integrity.ts'
import { backups } from './0017-backups.ts'
import { clock } from './0018-clock.ts'
import { checkProgress } from './0019-check-progress.ts'
import { condemnedBytes } from './0020-condemned-bytes.ts'
import { shareExpiry } from './0021-share-expiry.ts'
import { comments } from './0022-comments.ts'
import { photos } from './0023-photos.ts'
import { extractions } from './0024-extractions.ts'
import { fileEditsByCommit } from './0025-file-edits-by-commit.ts'
import { fileViews } from './0026-file-views.ts'
import { tags } from './0027-tags.ts'
import { annotationsByFolder } from './0028-annotations-by-folder.ts'
import { onboarding } from './0029-onboarding.ts'
import { visitorsChanges } from './0030-visitors-changes.ts'
import { blockObjects } from './0031-block-objects.ts'
import { objectEpochs } from './0032-object-epochs.ts'
import { commentWords } from './0033-comment-words.ts'
import { cluster } from './0034-cluster.ts'
import { blockStores } from './0035-block-stores.ts'
import { visitorsFiles } from './0036-visitors-files.ts'
import { mail } from './0037-mail.ts'
import { passwordAttempts } from './0038-password-attempts.ts'
import { stagedBlocks } from './0039-staged-blocks.ts'
import { blockStoreOfNodes } from './0040-block-store-of-nodes.ts'
import { committedTransactions } from './0041-committed-transactions.ts'
import { archives } from './0042-archives.ts'
import { indexedUploads } from './0043-indexed-uploads.ts'
import { openedLibraries } from './0044-opened-libraries.ts'
import { rollingUpgrades } from './0045-rolling-upgrades.ts'
import { webdav } from './0046-webdav.ts'
import { mailIntervals } from './0047-mail-intervals.ts'
import { signInLinks } from './0048-sign-in-links.ts'
import { abandonedBytes } from './0049-abandoned-bytes.ts'
import { encryptedViews } from './0050-encrypted-views.ts'
import { sealedArchiveTickets } from './0051-sealed-archive-tickets.ts'
import { deviceAuthorizations } from './0052-device-authorizations.ts'
import { longPhotoPaths } from './0053-long-photo-paths.ts'
import { timesOfChecks } from './0054-times-of-checks.ts'
import { webdavNames } from './0055-webdav-names.ts'
import { confirmedCredentials } from './0056-confirmed-credentials.ts'
import { shareGivers } from './0057-share-givers.ts'
import { lockOrigins } from './0058-lock-origins.ts'
import { webdavClients } from './0059-webdav-clients.ts'
import { callsOfNodes } from './0060-calls-of-nodes.ts'
import { heldShares } from './0061-held-shares.ts'
import { propertyUsage } from './0062-property-usage.ts'
import { knownSources } from './0063-known-sources.ts'
import { devicesOfSignIns } from './0064-devices-of-sign-ins.ts'
import { fileChecksums } from './0065-file-checksums.ts'
import { derivedRows } from './0066-derived-rows.ts'
import { searchLetters } from './0067-search-letters.ts'
import { gramsInTheIndex } from './0068-grams-in-the-index.ts'
import { shortFeedIndexes } from './0069-short-feed-indexes.ts'
import { fewerBlockIndexes } from './0070-fewer-block-indexes.ts'
import { fewerWrittenPages } from './0071-fewer-written-pages.ts'
import { photoDates } from './0072-photo-dates.ts'
import { unlistedActivities } from './0073-unlisted-activities.ts'
import { fileRequests } from './0074-file-requests.ts'
import { secondFactors } from './0075-second-factors.ts'
import type { Migration } from './types.ts'

/** Every step of the schema, oldest first. */
export const migrations: readonly Migration[] = [
  foundation,
  transfers,
  tasks,
  revisions,
  sharing,
  links,
  events,
  administration,
  sync,
  credentialOrigins,
  allowances,
  signIn,
  garbageCollection,
  integrity,
  backups,
  clock,
  checkProgress,
  condemnedBytes,
  shareExpiry,
  comments,
  photos,
  extractions,
  fileEditsByCommit,
  fileViews,
  tags,
  annotationsByFolder,
  onboarding,
  visitorsChanges,
  blockObjects,
  objectEpochs,
  commentWords,
  cluster,
  blockStores,
  visitorsFiles,
  mail,
  passwordAttempts,
  stagedBlocks,
  blockStoreOfNodes,
  committedTransactions,
  archives,
  indexedUploads,
  openedLibraries,
  rollingUpgrades,
  webdav,
  mailIntervals,
  signInLinks,
  abandonedBytes,
  encryptedViews,
  sealedArchiveTickets,
  deviceAuthorizations,
  longPhotoPaths,
  timesOfChecks,
  webdavNames,
  confirmedCredentials,
  shareGivers,
  lockOrigins,
  webdavClients,
  callsOfNodes,
  heldShares,
  propertyUsage,
  knownSources,
  devicesOfSignIns,
  fileChecksums,
  derivedRows,
  searchLetters,
  gramsInTheIndex,
  shortFeedIndexes,
  fewerBlockIndexes,
  fewerWrittenPages,
  photoDates,
  unlistedActivities,
  fileRequests,
  secondFactors,
]

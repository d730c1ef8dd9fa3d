import type { Route } from '../http/index.ts'
import type { Account } from '../identity/index.ts'
import type { ApiServices } from './services.ts'
import { thumbnailRoutes } from './thumbnails.ts'
import { accountRoutes } from './v2/account.ts'
import { accountsRoutes } from './v2/accounts.ts'
import { authTokenRoutes } from './v2/auth-token.ts'
import { besharedRepoRoutes } from './v2/beshared-repos.ts'
import { blockDownloadRoutes } from './v2/block-download.ts'
import { blockLinkRoutes } from './v2/block-links.ts'
import { defaultLibraryRoutes } from './v2/default-library.ts'
import { deviceRoutes } from './v2/devices.ts'
import { dirRoutes } from './v2/dir.ts'
import { eventRoutes } from './v2/events.ts'
import { fileRoutes } from './v2/file.ts'
import { fileHistoryRoutes } from './v2/file-history.ts'
import { fileLockRoutes } from './v2/file-lock.ts'
import { fileOperationRoutes } from './v2/file-operations.ts'
import { fileopsRoutes } from './v2/fileops.ts'
import { olderGroupRoutes } from './v2/groups.ts'
import { libraryRoutes } from './v2/libraries.ts'
import { libraryHistoryRoutes } from './v2/library-history.ts'
import { libraryOperationRoutes } from './v2/library-operations.ts'
import { libraryOwnerRoutes } from './v2/library-owner.ts'
import { librarySettingRoutes } from './v2/library-settings.ts'
import { librarySyncRoutes } from './v2/library-sync.ts'
import { pingRoutes } from './v2/ping.ts'
import { publicLibraryRoutes } from './v2/public-libraries.ts'
import { revertRoutes } from './v2/revert.ts'
import { searchRoutes } from './v2/search.ts'
import { searchUserRoutes } from './v2/search-user.ts'
import { serverInfoRoutes } from './v2/server-info.ts'
import { sharedItemRoutes } from './v2/shared-items.ts'
import { sharedLinkRoutes } from './v2/shared-links.ts'
import { sharedRepoRoutes } from './v2/shared-repos.ts'
import { starredFileRoutes } from './v2/starred-files.ts'
import { subLibraryRoutes } from './v2/sub-library.ts'
import { unseenMessageRoutes } from './v2/unseen-messages.ts'
import { uploadLinkRoutes } from './v2/upload-links.ts'
import { activityRoutes } from './v21/activities.ts'
import { adminAuditRoutes } from './v21/admin-audit.ts'
import { adminDeviceRoutes } from './v21/admin-devices.ts'
import { adminGroupLibraryRoutes } from './v21/admin-group-libraries.ts'
import { adminGroupMemberRoutes } from './v21/admin-group-members.ts'
import { adminGroupRoutes } from './v21/admin-groups.ts'
import { adminLibraryRoutes } from './v21/admin-libraries.ts'
import { adminLinkRoutes } from './v21/admin-links.ts'
import { adminSearchRoutes } from './v21/admin-search.ts'
import { adminStatisticRoutes } from './v21/admin-statistics.ts'
import { adminStatusRoutes } from './v21/admin-status.ts'
import { adminTrashLibraryRoutes } from './v21/admin-trash-libraries.ts'
import { adminUserRoutes } from './v21/admin-users.ts'
import { archiveRoutes } from './v21/archive.ts'
import { avatarRoutes } from './v21/avatars.ts'
import { batchAsyncRoutes } from './v21/batch-async.ts'
import { batchCreateDirRoutes } from './v21/batch-create-dir.ts'
import { batchItemRoutes } from './v21/batch-items.ts'
import { batchMergeRoutes } from './v21/batch-merge.ts'
import { batchPathsRoutes } from './v21/batch-paths.ts'
import { copyMoveTaskRoutes } from './v21/copy-move-task.ts'
import { copyMoveTaskProgressRoutes } from './v21/copy-move-task-progress.ts'
import { deletedLibraryRoutes } from './v21/deleted-libraries.ts'
import { dirRoutesV21 } from './v21/dir.ts'
import { fileRoutesV21 } from './v21/file.ts'
import { fileHistoryRoutesV21 } from './v21/file-history.ts'
import { fileOperationRoutesV21 } from './v21/file-operations.ts'
import { fileTextRoutes } from './v21/file-text.ts'
import { fileUploadedBytesRoutes } from './v21/file-uploaded-bytes.ts'
import { groupLibraryRoutes } from './v21/group-libraries.ts'
import { groupMemberRoutes } from './v21/group-members.ts'
import { groupRoutes } from './v21/groups.ts'
import { libraryRoutesV21 } from './v21/libraries.ts'
import { libraryBatchRoutes } from './v21/library-batch.ts'
import { libraryHistoryRoutesV21 } from './v21/library-history.ts'
import { libraryLinkRoutes } from './v21/library-links.ts'
import { librarySharingRoutes } from './v21/library-sharing.ts'
import { libraryTrashRoutes } from './v21/library-trash.ts'
import { linkArchiveRoutes } from './v21/link-archive.ts'
import { linkVisitRoutes } from './v21/link-visits.ts'
import { liveEventRoutes } from './v21/live-events.ts'
import { monitoredLibraryRoutes } from './v21/monitored-libraries.ts'
import { notificationRoutes } from './v21/notifications.ts'
import { personalTokenRoutes } from './v21/personal-tokens.ts'
import { libraryTokenRoutes } from './v21/repo-api-tokens.ts'
import { revertRoutesV21 } from './v21/revert.ts'
import { searchFileRoutes } from './v21/search-file.ts'
import { sessionRoutes } from './v21/sessions.ts'
import { setPasswordRoutes } from './v21/set-password.ts'
import { shareLinkRoutes } from './v21/share-links.ts'
import { sharedRepoRoutesV21 } from './v21/shared-repos.ts'
import { smartLinkRoutes } from './v21/smart-link.ts'
import { starredItemRoutes } from './v21/starred-items.ts'
import { trash2Routes } from './v21/trash2.ts'
import { uploadLinkRoutesV21 } from './v21/upload-links.ts'
import { usageRoutes } from './v21/usage.ts'
import { userRoutes } from './v21/user.ts'
import { viaLibraryTokenRoutes } from './v21/via-repo-token.ts'
import { webdavSecretRoutes } from './v21/webdav-secret.ts'
import { webhookRoutes } from './v21/webhooks.ts'

/** Every route of the web API. */
export const apiRoutes: readonly Route<Account, ApiServices>[] = [
  ...pingRoutes,
  ...serverInfoRoutes,
  ...authTokenRoutes,
  ...deviceRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...avatarRoutes,
  ...accountsRoutes,
  ...userRoutes,
  ...adminUserRoutes,
  ...adminLibraryRoutes,
  ...adminTrashLibraryRoutes,
  ...adminGroupRoutes,
  ...adminGroupMemberRoutes,
  ...adminGroupLibraryRoutes,
  ...adminLinkRoutes,
  ...adminDeviceRoutes,
  ...adminStatisticRoutes,
  ...adminStatusRoutes,
  ...adminAuditRoutes,
  ...usageRoutes,
  ...defaultLibraryRoutes,
  ...libraryRoutes,
  ...libraryOperationRoutes,
  ...libraryOwnerRoutes,
  ...librarySettingRoutes,
  ...librarySyncRoutes,
  ...libraryHistoryRoutes,
  ...libraryRoutesV21,
  ...libraryHistoryRoutesV21,
  ...libraryTrashRoutes,
  ...trash2Routes,
  ...revertRoutesV21,
  ...setPasswordRoutes,
  ...deletedLibraryRoutes,
  ...dirRoutes,
  ...dirRoutesV21,
  ...batchCreateDirRoutes,
  ...batchItemRoutes,
  ...batchAsyncRoutes,
  ...batchMergeRoutes,
  ...batchPathsRoutes,
  ...copyMoveTaskRoutes,
  ...copyMoveTaskProgressRoutes,
  ...fileRoutes,
  ...fileOperationRoutes,
  ...fileopsRoutes,
  ...fileLockRoutes,
  ...fileRoutesV21,
  ...fileOperationRoutesV21,
  ...fileHistoryRoutes,
  ...fileHistoryRoutesV21,
  ...fileTextRoutes,
  ...revertRoutes,
  ...archiveRoutes,
  ...uploadLinkRoutes,
  ...blockLinkRoutes,
  ...blockDownloadRoutes,
  ...fileUploadedBytesRoutes,
  ...searchRoutes,
  ...searchFileRoutes,
  ...adminSearchRoutes,
  ...smartLinkRoutes,
  ...shareLinkRoutes,
  ...uploadLinkRoutesV21,
  ...libraryLinkRoutes,
  ...linkVisitRoutes,
  ...thumbnailRoutes,
  ...linkArchiveRoutes,
  ...sharedLinkRoutes,
  ...starredFileRoutes,
  ...starredItemRoutes,
  ...activityRoutes,
  ...eventRoutes,
  ...liveEventRoutes,
  ...notificationRoutes,
  ...unseenMessageRoutes,
  ...monitoredLibraryRoutes,
  ...webhookRoutes,
  ...sharedItemRoutes,
  ...sharedRepoRoutes,
  ...sharedRepoRoutesV21,
  ...besharedRepoRoutes,
  ...libraryBatchRoutes,
  ...librarySharingRoutes,
  ...publicLibraryRoutes,
  ...subLibraryRoutes,
  ...groupRoutes,
  ...groupMemberRoutes,
  ...groupLibraryRoutes,
  ...olderGroupRoutes,
  ...searchUserRoutes,
  ...libraryTokenRoutes,
  ...personalTokenRoutes,
  ...viaLibraryTokenRoutes,
  ...webdavSecretRoutes,
]

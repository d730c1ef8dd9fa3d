import type { Account } from '../../people/accounts/index.ts'
import type { Route } from '../../platform/http/index.ts'
import { accountRoutes } from './accounts/account-v2.ts'
import { authTokenRoutes } from './accounts/auth-token-v2.ts'
import { avatarRoutes } from './accounts/avatar-routes.ts'
import { clientLoginRoutes } from './accounts/client-login-routes.ts'
import { clientSsoRoutes } from './accounts/client-sso-v2.ts'
import { deviceAuthorizationRoutes } from './accounts/device-authorization-v21.ts'
import { deviceRoutes } from './accounts/devices-v2.ts'
import { onboardingRoutes } from './accounts/onboarding-v21.ts'
import { passwordResetRoutes } from './accounts/password-reset-v21.ts'
import { personalTokenRoutes } from './accounts/personal-tokens-v21.ts'
import { secondFactorRoutes } from './accounts/second-factors-v21.ts'
import { sessionRoutes } from './accounts/sessions-v21.ts'
import { toolCallRoutes } from './accounts/tool-calls-v21.ts'
import { searchUserRoutes } from './accounts/user-search-routes.ts'
import { userRoutes } from './accounts/user-v21.ts'
import { webdavSecretRoutes } from './accounts/webdav-secret-v21.ts'
import { activityRoutes } from './activity/activities-v21.ts'
import { eventRoutes } from './activity/events-v2.ts'
import { liveEventRoutes } from './activity/live-events-v21.ts'
import { monitoredLibraryRoutes } from './activity/monitored-libraries-v21.ts'
import { notificationRoutes } from './activity/notifications-v21.ts'
import { unseenMessageRoutes } from './activity/unseen-messages-v2.ts'
import { webhookRoutes } from './activity/webhooks-v21.ts'
import { accountsRoutes } from './admin/accounts-v2.ts'
import { adminAuditRoutes } from './admin/audit-log-v21.ts'
import { adminTrashLibraryRoutes } from './admin/deleted-libraries-v21.ts'
import { adminDeviceRoutes } from './admin/devices-v21.ts'
import { adminGroupLibraryRoutes } from './admin/group-libraries-v21.ts'
import { adminGroupMemberRoutes } from './admin/group-members-v21.ts'
import { adminGroupRoutes } from './admin/groups-v21.ts'
import { adminLibraryRoutes } from './admin/libraries-v21.ts'
import { adminLinkRoutes } from './admin/links-v21.ts'
import { adminSearchRoutes } from './admin/search-failures-v21.ts'
import { adminSetupRoutes } from './admin/setup-v21.ts'
import { adminStatisticRoutes } from './admin/statistics-v21.ts'
import { adminStatusRoutes } from './admin/status-v21.ts'
import { adminTestMailRoutes } from './admin/test-mail-v21.ts'
import { adminUserRoutes } from './admin/users-v21.ts'
import { commentRoutes } from './annotations/comments-v2.ts'
import { participantRoutes } from './annotations/participants-v21.ts'
import { tagBatchRoutes } from './annotations/tag-batch-v21.ts'
import { tagRoutes } from './annotations/tags-v21.ts'
import { batchAsyncRoutes } from './batch/async-batch-v21.ts'
import { batchCreateDirRoutes } from './batch/batch-create-dir-v21.ts'
import { batchPathsRoutes } from './batch/batch-paths-v21.ts'
import { batchRenameRoutes } from './batch/batch-rename-v21.ts'
import { copyMoveTaskProgressRoutes } from './batch/copy-move-progress-v21.ts'
import { copyMoveTaskRoutes } from './batch/copy-move-task-v21.ts'
import { fileopsRoutes } from './batch/fileops-v2.ts'
import { batchMergeRoutes } from './batch/move-folder-merge-v21.ts'
import { batchItemRoutes } from './batch/sync-batch-v21.ts'
import { archiveFileRoutes } from './files/archive-v21.ts'
import { fileLockRoutes } from './files/file-lock-v2.ts'
import { fileOperationRoutesV2 } from './files/file-operations-v2.ts'
import { fileOperationRoutesV21 } from './files/file-operations-v21.ts'
import { fileTextRoutes } from './files/file-text-v21.ts'
import { fileRoutesV2 } from './files/file-v2.ts'
import { fileRoutesV21 } from './files/file-v21.ts'
import { lockRoutesV21 } from './files/locks-v21.ts'
import { thumbnailRoutes } from './files/thumbnail-routes.ts'
import { dirRoutesV2 } from './folders/dir-v2.ts'
import { dirRoutesV21 } from './folders/dir-v21.ts'
import { itemRoutes } from './folders/items-v21.ts'
import { subLibraryRoutes } from './folders/sub-library-v2.ts'
import { groupLibraryRoutes } from './groups/group-libraries-v21.ts'
import { groupMemberRoutes } from './groups/group-members-v21.ts'
import { groupRoutesV2 } from './groups/groups-v2.ts'
import { groupRoutesV21 } from './groups/groups-v21.ts'
import { fileHistoryRoutesV2 } from './history/file-history-v2.ts'
import { fileHistoryRoutesV21 } from './history/file-history-v21.ts'
import { libraryHistoryRoutesV2 } from './history/library-history-v2.ts'
import { libraryHistoryRoutesV21 } from './history/library-history-v21.ts'
import { revertRoutesV2 } from './history/revert-v2.ts'
import { revertRoutesV21 } from './history/revert-v21.ts'
import { defaultLibraryRoutes } from './libraries/default-library-v2.ts'
import { librarySettingRoutes } from './libraries/history-limit-v2.ts'
import { libraryRoutesV2 } from './libraries/libraries-v2.ts'
import { libraryRoutesV21 } from './libraries/libraries-v21.ts'
import { libraryOperationRoutes } from './libraries/library-operations-v2.ts'
import { libraryOwnerRoutes } from './libraries/library-owner-v2.ts'
import { librarySyncRoutes } from './libraries/library-sync-v2.ts'
import { setPasswordRoutes } from './libraries/set-password-v21.ts'
import { usageRoutes } from './libraries/usage-v21.ts'
import { libraryTokenRoutes } from './library-tokens/library-tokens-v21.ts'
import { libraryTokenAccessRoutes } from './library-tokens/via-repo-token-v21.ts'
import { libraryLinkRoutes } from './links/library-links-v21.ts'
import { linkArchiveRoutes } from './links/link-archive-v21.ts'
import { linkVisitRoutes } from './links/link-visits-v21.ts'
import { shareLinkRoutes } from './links/share-links-v21.ts'
import { sharedLinkRoutes } from './links/shared-links-v2.ts'
import { smartLinkRoutes } from './links/smart-links-v21.ts'
import { uploadLinkRoutesV21 } from './links/upload-links-v21.ts'
import { photoDateRoutes } from './photos/photo-dates-v21.ts'
import { photoRoutes } from './photos/photos-v21.ts'
import { searchFileRoutes } from './search/search-file-v21.ts'
import { searchRoutes } from './search/search-v2.ts'
import { pingRoutes, serverInfoRoutes } from './server/server-info-v2.ts'
import type { ApiServices } from './services.ts'
import { accessListRoutes } from './shares/access-list-v21.ts'
import { libraryBatchRoutes } from './shares/batch-share-v21.ts'
import { besharedRepoRoutes } from './shares/beshared-repos-v2.ts'
import { heldShareRoutes } from './shares/held-shares-v21.ts'
import { librarySharingRoutes } from './shares/library-sharing-v21.ts'
import { publicLibraryRoutes } from './shares/public-libraries-v2.ts'
import { sharedFileRoutes } from './shares/shared-files-v21.ts'
import { sharedItemRoutes } from './shares/shared-items-v2.ts'
import { sharedRepoRoutesV2 } from './shares/shared-repos-v2.ts'
import { sharedRepoRoutesV21 } from './shares/shared-repos-v21.ts'
import { starredFileRoutes } from './stars/starred-files-v2.ts'
import { starredItemRoutes } from './stars/starred-items-v21.ts'
import { archiveRoutes } from './transfers/archive-v21.ts'
import { blockDownloadRoutes } from './transfers/block-download-v2.ts'
import { blockLinkRoutes } from './transfers/block-upload-links-v2.ts'
import { uploadLinkRoutesV2 } from './transfers/upload-links-v2.ts'
import { fileUploadedBytesRoutes } from './transfers/uploaded-bytes-v21.ts'
import { deletedLibraryRoutes } from './trash/deleted-libraries-v21.ts'
import { libraryTrashRoutes } from './trash/library-trash-v21.ts'
import { mergedTrashRoutes } from './trash/merged-trash-v21.ts'
import { trashActionRoutes } from './trash/trash-actions-v21.ts'
import { trash2Routes } from './trash/trash2-v21.ts'

/** Every route of the web API. */
export const apiRoutes: readonly Route<Account, ApiServices>[] = [
  ...pingRoutes,
  ...serverInfoRoutes,
  ...authTokenRoutes,
  ...deviceRoutes,
  ...secondFactorRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...avatarRoutes,
  ...accountsRoutes,
  ...userRoutes,
  ...onboardingRoutes,
  ...adminTestMailRoutes,
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
  ...adminSetupRoutes,
  ...adminAuditRoutes,
  ...usageRoutes,
  ...defaultLibraryRoutes,
  ...libraryRoutesV2,
  ...libraryOperationRoutes,
  ...libraryOwnerRoutes,
  ...librarySettingRoutes,
  ...librarySyncRoutes,
  ...libraryHistoryRoutesV2,
  ...libraryRoutesV21,
  ...libraryHistoryRoutesV21,
  ...libraryTrashRoutes,
  ...mergedTrashRoutes,
  ...trash2Routes,
  ...trashActionRoutes,
  ...revertRoutesV21,
  ...setPasswordRoutes,
  ...deletedLibraryRoutes,
  ...dirRoutesV2,
  ...dirRoutesV21,
  ...itemRoutes,
  ...batchCreateDirRoutes,
  ...batchItemRoutes,
  ...batchRenameRoutes,
  ...batchAsyncRoutes,
  ...batchMergeRoutes,
  ...batchPathsRoutes,
  ...copyMoveTaskRoutes,
  ...copyMoveTaskProgressRoutes,
  ...fileRoutesV2,
  ...fileOperationRoutesV2,
  ...fileopsRoutes,
  ...fileLockRoutes,
  ...fileRoutesV21,
  ...lockRoutesV21,
  ...fileOperationRoutesV21,
  ...fileHistoryRoutesV2,
  ...fileHistoryRoutesV21,
  ...archiveFileRoutes,
  ...fileTextRoutes,
  ...revertRoutesV2,
  ...archiveRoutes,
  ...uploadLinkRoutesV2,
  ...blockLinkRoutes,
  ...blockDownloadRoutes,
  ...fileUploadedBytesRoutes,
  ...toolCallRoutes,
  ...searchRoutes,
  ...searchFileRoutes,
  ...photoRoutes,
  ...photoDateRoutes,
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
  ...commentRoutes,
  ...participantRoutes,
  ...tagRoutes,
  ...tagBatchRoutes,
  ...activityRoutes,
  ...eventRoutes,
  ...liveEventRoutes,
  ...notificationRoutes,
  ...unseenMessageRoutes,
  ...monitoredLibraryRoutes,
  ...webhookRoutes,
  ...sharedFileRoutes,
  ...heldShareRoutes,
  ...sharedItemRoutes,
  ...sharedRepoRoutesV2,
  ...sharedRepoRoutesV21,
  ...besharedRepoRoutes,
  ...libraryBatchRoutes,
  ...librarySharingRoutes,
  ...accessListRoutes,
  ...publicLibraryRoutes,
  ...subLibraryRoutes,
  ...groupRoutesV21,
  ...groupMemberRoutes,
  ...groupLibraryRoutes,
  ...groupRoutesV2,
  ...searchUserRoutes,
  ...libraryTokenRoutes,
  ...clientLoginRoutes,
  ...clientSsoRoutes,
  ...deviceAuthorizationRoutes,
  ...passwordResetRoutes,
  ...personalTokenRoutes,
  ...libraryTokenAccessRoutes,
  ...webdavSecretRoutes,
]

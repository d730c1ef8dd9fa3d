export { aroundNav, useLeaveGuard } from './leave-guard.ts'
export {
  commentUrl,
  fileUrl,
  folderUrl,
  historyUrl,
  photosUrl,
  photoUrl,
  revisionUrl,
  searchUrl,
  snapshotUrl,
  storageUrl,
  tagsUrl,
  trashUrl,
} from './page-urls.ts'
export { useQueryParams } from './query-params.ts'

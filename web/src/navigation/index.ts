export { aroundNav, useLeaveGuard } from './leave-guard.ts'
export {
  fileUrl,
  folderUrl,
  historyUrl,
  photoUrl,
  revisionUrl,
  searchUrl,
  snapshotUrl,
  trashUrl,
} from './page-urls.ts'
export { useQueryParams } from './query-params.ts'

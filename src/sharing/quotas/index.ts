export { type PartialUpload, partialUploads, type UploadKey } from './partial-upload-store.ts'
export {
  type Guest,
  guestOf,
  type QuotaLimits,
  Quotas,
  type Reservation,
  type UploadSource,
} from './quota.ts'
export { quotaRows } from './quota-store.ts'

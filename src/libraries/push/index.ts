export { ClientPush } from './client-push.ts'
export { receivedRows } from './dependent-rows-store.ts'
export type { SentObject } from './object-parser.ts'
export type { QuotaReservation } from './push.ts'
export { deleteReceivedBefore, listReceivedAfter, type ReceivedObject } from './received-store.ts'
export { findRestorePoint, insertRestorePoint } from './restore-point-store.ts'

export {
  deleteUncommitted,
  deleteUncommittedBefore,
  listKeysWithUncommitted,
  listUncommittedAfter,
  summarizeUncommitted,
  withoutUncommitted,
} from './uncommitted-store.ts'

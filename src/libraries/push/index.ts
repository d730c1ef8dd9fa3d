export { ClientPush } from './client-push.ts'
export type { SentObject } from './object-parser.ts'
export type { QuotaReservation } from './push.ts'
export {
  deleteReceivedBefore,
  listReceivedAfter,
  type ReceivedObject,
  receivedRows,
} from './received-store.ts'
export { findRestorePoint, insertRestorePoint } from './restore-point-store.ts'

export {
  deleteUncommitted,
  deleteUncommittedBefore,
  listKeysWithUncommitted,
  listUncommittedAfter,
  summarizeUncommitted,
  withoutUncommitted,
} from './uncommitted-store.ts'

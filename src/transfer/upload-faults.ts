import type { FaultTable } from '../errors.ts'
import type { FaultAnswer } from '../http/route.ts'

const denied = (): FaultAnswer => [403, 'Permission denied.']
const broken = (): FaultAnswer => [500, 'Internal error']

// The words of the upload server, whose clients switch on the status alone. What no upload can meet
// is answered like a fault of ours.
export const uploadFaults: FaultTable<FaultAnswer> = {
  'ticket-not-found': () => [403, 'Access token not found'],
  'library-not-found': () => [403, 'Access token not found'],
  'permission-denied': denied,
  locked: denied,
  'path-not-found': ({ wanted }) =>
    wanted === 'File' ? [441, 'File does not exist.'] : [400, "Parent dir doesn't exist."],
  'commit-not-found': () => [400, 'Invalid head.'],
  'name-invalid': () => [440, 'Invalid filename.'],
  'too-many-names': () => [400, 'Too many files with same name.'],
  'quota-exceeded': () => [443, 'Out of quota.'],
  'library-id-taken': broken,
  'role-forbids': denied,
  'root-not-allowed': broken,
  'same-name': broken,
  'into-itself': broken,
  'source-changed': broken,
  'task-canceled': broken,
  'already-locked': denied,
  'not-locked': broken,
  'lock-not-yours': denied,
  'encrypted-mismatch': broken,
  'password-fixed': broken,
  'password-needed': () => [400, 'Repo is encrypted. Please provide password to view it.'],
  'block-mismatch': () => [400, 'Block does not match its id.'],
  'block-missing': () => [446, 'Block missing.'],
  'size-mismatch': () => [400, 'Invalid file size.'],
  'account-not-found': broken,
  'account-exists': broken,
  'login-id-taken': broken,
  'last-administrator': broken,
  'group-not-found': broken,
  'group-name-invalid': broken,
  'group-exists': broken,
  'already-shared': broken,
  'shared-to-owner': broken,
  'link-not-found': broken,
  'not-in-trash': broken,
  'token-not-found': broken,
  'app-token-exists': broken,
  'too-many-tokens': broken,
  'notification-not-found': broken,
  'webhook-not-found': broken,
  'webhook-exists': broken,
  'webhook-url-invalid': broken,
  'too-many-webhooks': broken,
  'delivery-not-found': broken,
  'webhook-queue-full': broken,
  'too-many-streams': broken,
}

import {
  type FaultResponse,
  faultsOfWebApi,
  type SurfaceFaults,
  serverFaults,
  unexpected,
} from '../../platform/http/index.ts'

const denied = (): FaultResponse => [403, 'Permission denied']

// Clients switch on the status and look for some of the texts.
export const syncFaults: SurfaceFaults = {
  // Clients unlink a library on 444, so it is used only for deleted libraries.
  'library-not-found': () => [444, 'Library is deleted'],
  'permission-denied': denied,
  locked: ({ path }) => [403, `File ${path.slice(1)} is locked`],
  'commit-not-found': () => [500, 'Commit is missing'],
  'object-missing': ({ id }) => [400, `Object ${id} is missing`],
  'object-invalid': ({ reason }) => [400, `Invalid object: ${reason}`],
  // Clients show "Library damaged on server" and leave their files alone. On success they would delete what the restore lost.
  'client-ahead': () => [
    445,
    'This client has changes that the restored server lost: sync the library again',
  ],
  'blocks-missing': ({ names }) => [446, JSON.stringify(names)],
  'block-mismatch': () => [400, 'Block does not match its id'],
  'block-missing': () => [500, 'Block is missing'],
  'size-mismatch': () => [400, 'Size does not match'],
  'quota-exceeded': () => [443, 'Out of quota'],
  ...serverFaults,
  // Clients show that the library is too large to sync.
  'too-many-entries': () => [447, 'Too many files in library'],
  'limit-reached': ({ limit }) => [403, `No more than ${limit} of these can be stored`],
  'path-not-found': () => [404, 'File does not exist'],
  'already-locked': ({ path }) => [403, `File ${path.slice(1)} is locked`],
  'not-locked': () => [400, 'File is not locked'],
  'lock-not-yours': denied,
  'name-invalid': () => [400, 'Invalid name'],
  'role-forbids': denied,
  'account-not-found': denied,
  ...faultsOfWebApi,
  ...unexpected([
    'too-many-names',
    'root-not-allowed',
    'same-name',
    'into-itself',
    'source-changed',
    'encrypted-mismatch',
    'password-needed',
    'too-many-uploads',
    'link-not-found',
    'link-expired',
    'link-password-needed',
    'link-not-for-you',
    'too-many-tries',
    'ticket-not-found',
  ]),
}

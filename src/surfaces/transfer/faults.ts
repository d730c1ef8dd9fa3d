import {
  type FaultResponse,
  faultsOfWebApi,
  type SurfaceFaults,
  serverFaults,
  unexpected,
} from '../../platform/http/index.ts'

const denied = (): FaultResponse => [403, 'Permission denied.']

// Fault messages of uploads. Clients depend on the status alone.
export const uploadFaults: SurfaceFaults = {
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
  ...serverFaults,
  'too-many-uploads': () => [429, 'Too many unfinished uploads.', { 'Retry-After': 600 }],
  'too-many-entries': () => [400, 'Too many files in library.'],
  'limit-reached': ({ limit }) => [400, `No more than ${limit} of these can be stored.`],
  'role-forbids': denied,
  'already-locked': denied,
  'lock-not-yours': denied,
  'password-needed': () => [400, 'Repo is encrypted. Please provide password to view it.'],
  'block-mismatch': () => [400, 'Block does not match its id.'],
  'block-missing': () => [446, 'Block missing.'],
  'blocks-missing': () => [446, 'Block missing.'],
  'size-mismatch': () => [400, 'Invalid file size.'],
  'link-not-found': () => [404, 'Link not found.'],
  'link-expired': () => [400, 'Link is expired.'],
  'link-password-needed': denied,
  'link-not-for-you': denied,
  'too-many-tries': ({ seconds }) => [429, 'Too many tries.', { 'Retry-After': seconds }],
  ...faultsOfWebApi,
  ...unexpected([
    'root-not-allowed',
    'same-name',
    'into-itself',
    'source-changed',
    'not-locked',
    'encrypted-mismatch',
    'object-missing',
    'object-invalid',
    'client-ahead',
    'account-not-found',
  ]),
}

// Downloads have few faults of their own. The other messages are those of uploads, as plain text.
export const downloadFaults: SurfaceFaults = {
  ...uploadFaults,
  'path-not-found': () => [404, 'File does not exist.'],
}

import {
  type FaultResponse,
  faultsOfWebApi,
  type SurfaceFaults,
  serverFaults,
  unexpected,
} from '../../platform/http/index.ts'

const denied = (): FaultResponse => [403, 'You do not have permission to do this.']
const locked = ({ path }: { path: string }): FaultResponse => [423, `${path} is locked.`]

// Clients show their own message for a status, so each fault has the status whose message fits best.
export const webdavFaults: SurfaceFaults = {
  'library-not-found': () => [404, 'There is no such library.'],
  'path-not-found': ({ wanted }) =>
    wanted === 'Folder' ? [409, 'The parent folder does not exist.'] : [404, 'There is no such item.'],
  'commit-not-found': () => [404, 'The library has no state of that time.'],
  'permission-denied': denied,
  'role-forbids': denied,
  'account-not-found': denied,
  'name-invalid': () => [400, 'The name is not allowed.'],
  'root-not-allowed': () => [403, 'A library cannot be changed this way.'],
  'into-itself': () => [
    403,
    'An item cannot be copied or moved onto itself, into itself or over its parent.',
  ],
  'same-name': () => [403, 'The item already has this name.'],
  'source-changed': () => [
    409,
    'The item was changed while it was moved. The copy is there, the original too.',
  ],
  locked,
  'already-locked': locked,
  'not-locked': () => [409, 'The item is not locked.'],
  'lock-not-yours': () => [403, 'Somebody else has this lock.'],
  'encrypted-mismatch': denied,
  'password-needed': () => [403, 'The library is encrypted and locked.'],
  'quota-exceeded': () => [507, 'There is no quota left.'],
  ...serverFaults,
  'too-many-entries': () => [507, 'The library has too many files.'],
  'limit-reached': ({ limit }) => [507, `No more than ${limit} of these can be stored.`],
  'too-many-tries': ({ seconds }) => [429, 'Too many wrong passwords.', { 'Retry-After': seconds }],
  'block-missing': () => [500, 'A part of the file is missing on the server.'],
  'object-missing': () => [500, 'A part of the library is missing on the server.'],
  ...faultsOfWebApi,
  ...unexpected([
    'too-many-names',
    'too-many-uploads',
    'block-mismatch',
    'size-mismatch',
    'blocks-missing',
    'object-invalid',
    'client-ahead',
    'link-not-found',
    'link-expired',
    'link-password-needed',
    'link-not-for-you',
    'ticket-not-found',
  ]),
}

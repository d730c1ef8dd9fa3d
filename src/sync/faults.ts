import type { FaultResponse, FaultWords } from '../http/index.ts'

const denied = (): FaultResponse => [403, 'Permission denied']

// Clients switch on the status and look for some of the texts. What no sync can meet is answered like a fault of ours.
export const syncFaults: FaultWords = {
  // A client that reads 444 forgets the library: only for one that is really gone.
  'library-not-found': () => [444, 'Library is deleted'],
  'permission-denied': denied,
  locked: ({ path }) => [403, `File ${path.slice(1)} is locked`],
  'commit-not-found': () => [500, 'Commit is missing'],
  'object-missing': ({ id }) => [400, `Object ${id} is missing`],
  'object-invalid': ({ reason }) => [400, `Invalid object: ${reason}`],
  'blocks-missing': ({ names }) => [446, JSON.stringify(names)],
  'block-mismatch': () => [400, 'Block does not match its id'],
  'block-missing': () => [500, 'Block is missing'],
  'size-mismatch': () => [400, 'Size does not match'],
  'quota-exceeded': () => [443, 'Out of quota'],
  // Clients show that the library is too large to be synced.
  'too-many-entries': () => [447, 'Too many files in library'],
  'path-not-found': () => [404, 'File does not exist'],
  'already-locked': ({ path }) => [403, `File ${path.slice(1)} is locked`],
  'not-locked': () => [400, 'File is not locked'],
  'lock-not-yours': denied,
  'name-invalid': () => [400, 'Invalid name'],
  'role-forbids': denied,
  'account-not-found': denied,
}

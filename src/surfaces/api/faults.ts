import type { FaultTable, Limited } from '../../base/errors.ts'
import { type FaultResponse, serverFaults } from '../../platform/http/index.ts'

// The web app recognizes "can have at most" and translates it. The first is the sentence of the original server.
/** The message of each limit-reached fault. */
export const limitTexts: Readonly<Record<Limited, (limit: number) => string>> = {
  links: () => 'The number of share link exceeds the limit.',
  'personal-tokens': (limit) => `There can be no more than ${limit} personal tokens.`,
  webhooks: (limit) => `A library can have at most ${limit} webhooks.`,
  'comment-text': (limit) => `The comments on a file can have at most ${limit} characters in all.`,
  'comments-of-file': (limit) => `A file can have at most ${limit} comments.`,
  'comments-of-account': (limit) => `An account can write at most ${limit} comments.`,
  locks: (limit) => `An account or a library can have at most ${limit} locks.`,
  tags: (limit) => `There can be at most ${limit} tags.`,
  'annotated-files': (limit) => `A library can have at most ${limit} files with comments or tags.`,
  'shares-with-recipient': (limit) => `A user or group can have at most ${limit} shares of the same person.`,
  'shares-of-giver': (limit) => `An account can have at most ${limit} shares.`,
  'held-shares': (limit) => `A user can have at most ${limit} shares that wait for acceptance.`,
  'groups-with-member': (limit) => `An owner can have at most ${limit} groups with the same member.`,
  libraries: (limit) => `An account can have at most ${limit} libraries, with deleted ones.`,
  groups: (limit) => `An account can have at most ${limit} groups.`,
  members: (limit) => `A group can have at most ${limit} members.`,
  'library-tokens': (limit) => `A library can have at most ${limit} tokens.`,
  stars: (limit) => `An account can have at most ${limit} stars.`,
  'photo-dates': (limit) => `A library can have at most ${limit} photos with corrected dates.`,
  views: (limit) => `A library can have at most ${limit} folders that are libraries of their own.`,
  'smart-links': (limit) => `A library can have at most ${limit} internal links.`,
}

// Clients in the field depend on the statuses above 440.
export const apiFaults: FaultTable<FaultResponse> = {
  ...serverFaults,
  'library-not-found': ({ id }) => [404, `Library ${id} not found.`],
  'library-id-taken': () => [400, 'Repo already exists'],
  'path-not-found': ({ path, wanted }) => [
    404,
    wanted === 'Item' ? `${path} not found.` : `${wanted} ${path} not found.`,
  ],
  'commit-not-found': ({ id }) => [404, `Commit ${id} not found.`],
  'permission-denied': () => [403, 'Permission denied.'],
  'role-forbids': ({ action }) => [
    403,
    action === 'add-library' ? 'You do not have permission to create library.' : 'Permission denied.',
  ],
  'name-invalid': () => [400, 'name invalid.'],
  'too-many-names': () => [400, 'Too many files with same name.'],
  'root-not-allowed': () => [400, 'Path is invalid.'],
  'same-name': () => [400, 'The new name is the same to the old'],
  'into-itself': ({ source, destination }) => [
    400,
    `Can not move folder ${source} to its subfolder ${destination}`,
  ],
  'source-changed': ({ path }) => [
    409,
    `Something in ${path} changed while it was being moved: it was copied, and the original was kept.`,
  ],
  'task-canceled': () => [409, 'The task was canceled.'],
  locked: () => [403, 'File is locked'],
  'already-locked': () => [403, 'File is already locked'],
  'not-locked': () => [403, 'File is not locked'],
  'lock-not-yours': () => [403, 'You can not unlock this file'],
  'encrypted-mismatch': () => [403, 'An encrypted library can not be used for this.'],
  'password-needed': () => [403, 'This library has not been decrypted.'],
  'password-fixed': () => [400, 'The password of a library of encryption version 1 can not be changed.'],
  'quota-exceeded': () => [443, 'Out of quota.'],
  'too-many-uploads': () => [429, 'Too many unfinished uploads.', { 'Retry-After': 600 }],
  'too-many-tasks': () => [429, 'Too many unfinished tasks.', { 'Retry-After': 60 }],
  'too-many-entries': ({ limit, of }) => [
    400,
    of === 'library'
      ? `A library can have at most ${limit} files and folders.`
      : `At most ${limit} files and folders can be added at once.`,
  ],
  'limit-reached': ({ what, limit }) => [400, limitTexts[what](limit)],
  'block-mismatch': ({ id }) => [400, `Block ${id} invalid.`],
  'block-missing': ({ id }) => [404, `Block ${id} not found.`],
  'blocks-missing': () => [500, 'Internal Server Error'],
  'object-missing': () => [500, 'Internal Server Error'],
  'object-invalid': () => [500, 'Internal Server Error'],
  'client-ahead': () => [500, 'Internal Server Error'],
  'size-mismatch': () => [400, 'size invalid.'],
  'account-not-found': ({ email }) => [404, `User ${email} not found.`],
  'account-exists': ({ email }) => [400, `User ${email} already exists.`],
  'login-id-taken': ({ loginId }) => [400, `Login id ${loginId} already exists.`],
  'last-administrator': () => [400, 'The last administrator can not be removed.'],
  'group-not-found': ({ id }) => [404, `Group ${id} not found.`],
  'group-name-invalid': () => [
    400,
    'Name can only contain letters, numbers, spaces, hyphen, dot, single quote, brackets or underscore.',
  ],
  'group-exists': () => [400, 'There is already a group with that name.'],
  'already-shared': ({ name }) => [400, `This item has been shared to ${name}.`],
  'shared-to-owner': () => [400, 'Library can not be shared to owner'],
  'link-not-found': () => [400, 'token invalid.'],
  'link-expired': ({ kind }) => [404, kind === 'share' ? 'Share link is expired' : 'Upload link is expired'],
  'link-exists': ({ token }) => [400, `Share link ${token} already exists.`],
  'link-password-needed': () => [403, 'Permission denied.'],
  'link-not-for-you': () => [403, 'Permission denied.'],
  'too-many-tries': ({ seconds }) => [
    429,
    `Request was throttled. Expected available in ${seconds} seconds.`,
    { 'Retry-After': seconds },
  ],
  busy: ({ seconds }) => [
    503,
    `The server is busy. Try again in ${seconds} seconds.`,
    { 'Retry-After': seconds },
  ],
  // A damaged picture is no error of the server. Clients that retry on 5xx would ask again and again.
  'thumbnail-failed': () => [422, 'Failed to generate thumbnail.'],
  'text-unreadable': ({ reason }) => [422, `The file ${reason}.`],
  'archive-unreadable': ({ reason }) => [422, `The file ${reason}.`],
  'text-unavailable': ({ seconds }) => [
    503,
    'Too many files are being read. Try again in a moment.',
    { 'Retry-After': seconds },
  ],
  'ticket-not-found': () => [403, 'Access token not found'],
  'not-in-trash': () => [400, 'Library does not exist in trash.'],
  'token-not-found': () => [404, 'api token not found'],
  'app-token-exists': ({ appName }) => [400, `app: ${appName} token already exists.`],
  'confirmation-needed': ({ wrong }) => [
    403,
    wrong ? 'The current password is wrong.' : 'This has to be confirmed with your current password.',
    { 'X-Carrel-Confirmation': wrong ? 'wrong' : 'required' },
  ],
  'notification-not-found': ({ id }) => [404, `Notification ${id} not found.`],
  'webhook-not-found': () => [404, 'Webhook not found.'],
  'webhook-exists': () => [409, 'Webhook exists.'],
  'webhook-url-invalid': () => [400, 'url invalid.'],
  'delivery-not-found': () => [404, 'Delivery not found.'],
  'webhook-queue-full': () => [409, 'Too many deliveries are waiting.'],
  'comment-not-found': ({ id }) => [404, `File comment not found: ${id}`],
  'tag-not-found': () => [404, 'file_tag not found.'],
  'tag-exists': ({ name }) => [400, `tag ${name} already exist.`],
  'too-many-streams': ({ limit }) => [429, `An account can have at most ${limit} event streams.`],
}

/** The messages of some `/api2/` calls. */
export const olderLibraryNotFound = {
  'library-not-found': (): FaultResponse => [404, 'Library not found.'],
}

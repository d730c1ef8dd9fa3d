import type { FaultResponse, SurfaceFaults } from './route.ts'

/** Entries for faults that a surface cannot meet. */
export function unexpected<Code extends keyof SurfaceFaults>(
  codes: readonly Code[],
): { readonly [Listed in Code]: 'unexpected' } {
  return Object.fromEntries(codes.map((code) => [code, 'unexpected'])) as { [Listed in Code]: 'unexpected' }
}

/** The responses of all surfaces but the pages of links to faults of the server itself. */
export const serverFaults = {
  'disk-full': ({ canDelete }: { readonly canDelete: boolean }): FaultResponse => [
    507,
    canDelete
      ? 'The server has no disk space left. Deleting still works.'
      : 'The server has no disk space left. Ask its administrator to free some.',
  ],
  'disk-unwritable': (): FaultResponse => [
    503,
    'The server cannot save anything at the moment. Reading still works.',
    { 'Retry-After': 60 },
  ],
  // The commit was sent, its response was lost, and the receipt of the transaction could not be read. 503 would mean that nothing was
  // committed, so that clients retry.
  'outcome-unknown': (): FaultResponse => [
    504,
    'The database did not answer in time, so it is not known whether the change was made. Look before you repeat it.',
  ],
  busy: ({ seconds }: { readonly seconds: number }): FaultResponse => [
    503,
    'The server is busy.',
    { 'Retry-After': seconds },
  ],
} satisfies Partial<SurfaceFaults>

/** Entries for the faults that only the web API can cause. */
export const faultsOfWebApi = unexpected([
  'library-id-taken',
  'task-canceled',
  'password-fixed',
  'too-many-tasks',
  'account-exists',
  'login-id-taken',
  'last-administrator',
  'group-not-found',
  'group-name-invalid',
  'group-exists',
  'already-shared',
  'shared-to-owner',
  'link-exists',
  'thumbnail-failed',
  'text-unreadable',
  'archive-unreadable',
  'text-unavailable',
  'not-in-trash',
  'token-not-found',
  'app-token-exists',
  'confirmation-needed',
  'notification-not-found',
  'webhook-not-found',
  'webhook-exists',
  'webhook-url-invalid',
  'comment-not-found',
  'tag-not-found',
  'tag-exists',
  'delivery-not-found',
  'webhook-queue-full',
  'too-many-streams',
])

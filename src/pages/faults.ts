import type { FaultAnswer, FaultWords } from '../http/route.ts'

const nowhere = (): FaultAnswer => [
  404,
  'It may have been mistyped or ended by whoever made it, or what it led to is gone.',
]

// What visitors of a link are told. What no visit can meet is answered like a fault of ours.
export const pageFaults: FaultWords = {
  'link-not-found': nowhere,
  'library-not-found': nowhere,
  'link-expired': () => [404, 'It had a last day, and that has passed. Ask whoever sent it for a new one.'],
  'link-password-needed': () => [403, 'This link has a password.'],
  'link-not-for-you': () => [
    403,
    'This link is for certain people only, who have to be signed in to open it.',
  ],
  'too-many-tries': ({ seconds }) => [
    429,
    `Too many wrong passwords. Please wait ${Math.ceil(seconds / 60)} minutes and try again.`,
    { 'Retry-After': seconds },
  ],
  'path-not-found': () => [404, 'This is not, or no longer, part of what was shared.'],
  'permission-denied': () => [403, 'Whoever made this link does not allow that.'],
  'ticket-not-found': () => [404, 'That download has ended. Go back and start it again.'],
  'quota-exceeded': () => [443, 'There is no room left for more files.'],
  'encrypted-mismatch': nowhere,
  'password-needed': nowhere,
}

/**
 * All expected failures, which a surface can explain to the user. The core throws these and does not know any status
 * code; each surface owns a table that puts every one of them in the words of its own clients.
 */
export type Fault =
  | { code: 'library-not-found'; id: string }
  | { code: 'library-id-taken'; id: string }
  | { code: 'path-not-found'; path: string; wanted: 'File' | 'Folder' | 'Item' }
  | { code: 'commit-not-found'; id: string }
  | { code: 'permission-denied' }
  | {
      code: 'role-forbids'
      action: 'add-library' | 'add-group' | 'share' | 'publish-library' | 'see-public-libraries'
    }
  | { code: 'name-invalid'; name: string }
  | { code: 'too-many-names'; name: string }
  | { code: 'root-not-allowed' }
  | { code: 'same-name'; name: string }
  | { code: 'into-itself'; source: string; destination: string }
  | { code: 'source-changed'; path: string }
  | { code: 'task-canceled' }
  | { code: 'locked'; path: string }
  | { code: 'already-locked'; path: string; byCaller: boolean }
  | { code: 'not-locked'; path: string }
  | { code: 'lock-not-yours'; path: string }
  | { code: 'encrypted-mismatch' }
  | { code: 'password-needed' }
  | { code: 'password-fixed' }
  | { code: 'quota-exceeded'; limit: number } // bytes
  | { code: 'disk-full'; canDelete: boolean } // of the server; whether there is space for deleting
  | { code: 'disk-unwritable' } // of the server
  | { code: 'outcome-unknown' } // the database did not answer whether it made a change
  | { code: 'too-many-uploads'; limit: number } // that are unfinished
  | { code: 'too-many-tasks'; limit: number } // of an account, that are unfinished
  | { code: 'too-many-entries'; limit: number; of: 'library' | 'commit' } // files and folders
  | { code: 'limit-reached'; what: Limited; limit: number }
  | { code: 'block-mismatch'; id: string }
  | { code: 'block-missing'; id: string }
  | { code: 'size-mismatch'; size: number } // bytes
  | { code: 'blocks-missing'; names: readonly string[] } // of files
  | { code: 'object-missing'; id: string }
  | { code: 'object-invalid'; reason: string }
  | { code: 'client-ahead' } // has commits that a restore from a backup lost
  | { code: 'account-not-found'; email: string }
  | { code: 'account-exists'; email: string }
  | { code: 'login-id-taken'; loginId: string }
  | { code: 'last-administrator'; email: string }
  | { code: 'group-not-found'; id: number }
  | { code: 'group-name-invalid'; name: string }
  | { code: 'group-exists'; name: string }
  | { code: 'already-shared'; name: string }
  | { code: 'shared-to-owner' }
  | { code: 'link-not-found'; token: string }
  | { code: 'link-expired'; kind: 'share' | 'upload' }
  | { code: 'link-exists'; token: string }
  | { code: 'link-password-needed'; wrong: boolean }
  | { code: 'link-not-for-you' }
  | { code: 'too-many-tries'; seconds: number }
  | { code: 'busy'; seconds: number } // when to try again
  | { code: 'thumbnail-failed' }
  | { code: 'text-unreadable'; reason: string } // follows "The file"
  | { code: 'archive-unreadable'; reason: string } // follows "The file"
  | { code: 'text-unavailable'; seconds: number } // when to try again
  | { code: 'ticket-not-found' }
  | { code: 'not-in-trash'; id: string }
  | { code: 'token-not-found' }
  | { code: 'app-token-exists'; appName: string }
  | { code: 'confirmation-needed'; wrong: boolean } // by the password of the account
  | { code: 'notification-not-found'; id: number }
  | { code: 'webhook-not-found' }
  | { code: 'webhook-exists'; url: string }
  | { code: 'webhook-url-invalid' }
  | { code: 'delivery-not-found' }
  | { code: 'webhook-queue-full'; limit: number }
  | { code: 'too-many-streams'; limit: number }
  | { code: 'comment-not-found'; id: number }
  | { code: 'tag-not-found' }
  | { code: 'tag-exists'; name: string }

/**
 * What a limit-reached fault counts: rows that an account, a library or another row can have many of. To bound another
 * kind of rows, add its name here and its sentence to `limitTexts` in `src/surfaces/api/faults.ts`, which does not compile
 * without it. The other surfaces answer all of them alike.
 */
export type Limited =
  | 'links' // of a library
  | 'personal-tokens' // of an account
  | 'webhooks' // of a library
  | 'comments-of-file'
  | 'comments-of-account'
  | 'comment-text' // of a file, in characters
  | 'tags' // of a library or a file
  | 'locks' // of an account or a library
  | 'annotated-files' // of a library
  | 'shares-with-recipient' // of one giver
  | 'shares-of-giver'
  | 'groups-with-member' // of one owner
  | 'held-shares' // of one recipient
  | keyof typeof rowLimits

/**
 * How many rows of a kind one account, library or group can have. Generous: no honest use meets them, and whoever is above one keeps what is there and may delete.
 * Tests lower them.
 */
export const rowLimits = {
  /** Of an owner, with deleted ones. */
  libraries: 20_000,
  /** Of an owner. */
  groups: 1000,
  /** Of a group. */
  members: 100_000,
  /** Of a library. */
  'library-tokens': 1000,
  /** Of an account. */
  stars: 10_000,
  /** Of a library. */
  'photo-dates': 100_000,
  /** Of a library. */
  'smart-links': 100_000,
  /** Folders and files of a library that are or were shared, or synced by themselves. */
  views: 20_000,
}

/** Throws limit-reached if there are as many rows as there may be. `count` is asked for no more than that. */
export async function refuseAtLimit(
  what: keyof typeof rowLimits,
  count: (most: number) => Promise<number>,
): Promise<void> {
  const limit = rowLimits[what]
  if ((await count(limit)) >= limit) fail({ code: 'limit-reached', what, limit })
}

/** The one kind of error that means "tell the user". Anything else that is thrown is our bug. */
export class DomainError extends Error {
  readonly fault: Fault
  constructor(fault: Fault, options?: ErrorOptions) {
    super(describe(fault), options)
    this.name = 'DomainError'
    this.fault = fault
  }
}

export function fail(fault: Fault): never {
  throw new DomainError(fault)
}

/** An entry for every fault. A new fault does not compile until every table has one. */
export type FaultTable<Answer> = { [C in Fault['code']]: (fault: Extract<Fault, { code: C }>) => Answer }

/** In UTF-16 code units. A fault may have text of a request, which has megabytes. */
const MAX_DETAIL = 1000

function shortened(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_DETAIL ? `${value.slice(0, MAX_DETAIL)}…` : value
}

function describe(fault: Fault): string {
  const { code, ...details } = fault
  return Object.keys(details).length === 0 ? code : `${code} ${JSON.stringify(details, shortened)}`
}

/** The server cannot start. The message says how to fix it. */
export class StartError extends Error {
  override name = 'StartError'
}

import { MAX_COMMENT_TEXT } from '../../../src/derived/annotations/comments.ts'
import { LIST_ITEMS } from './bodies.ts'
import { LARGEST } from './largest-stage.ts'

/** What an answer may have whatever is stored: an error, one item, or a short page of a list. */
const FIXED_BYTES = 64 * 1024
/** Text that is sent may be in an answer, escaped. */
const BYTES_PER_BYTE = 8
/** Of the entries of a folder: names of 255 bytes, escaped, and what is known of them. */
const ENTRY_BYTES = 1000
/** Of an entry in XML: the name is in the URL, too, and every property is an element. */
const XML_ENTRY_BYTES = 4000
/** Of other rows with long names. */
const ROW_BYTES = 1500

/** Of the result for an item of a list, without the item. */
const RESULT_BYTES = 250

const REPO = '/api/v2.1/repos/:repo_id/'
const REPO2 = '/api2/repos/:repo_id/'

const all = (routes: readonly string[], bytes: number) =>
  Object.fromEntries(routes.map((route) => [route, bytes]))

/** Answers that grow with what is stored, by route, in bytes: one item for each row that a folder, library, account or server may have. */
export const budgets: Readonly<Record<string, number>> = {
  ...all(
    [
      `GET ${REPO}dir/`,
      `GET ${REPO2}dir/`,
      'GET /api/v2.1/via-repo-token/dir/',
      'GET /api/v2.1/share-links/:token/dirents/',
      'GET /d/:token/',
    ],
    LARGEST.entries * ENTRY_BYTES,
  ),
  ...all(['PROPFIND /dav/', 'PROPFIND /seafdav/'], LARGEST.rootEntries * XML_ENTRY_BYTES),
  ...all([`GET ${REPO}trash2/`], LARGEST.rootEntries * ENTRY_BYTES),
  ...all([`GET ${REPO}history/`, `GET ${REPO2}history/`], LARGEST.commits * ROW_BYTES),
  // Each character of a comment may be escaped with six.
  [`GET ${REPO2}file/comments/`]: 6 * MAX_COMMENT_TEXT + LARGEST.comments * ROW_BYTES,
  ...all(
    [
      'GET /api/v2.1/share-links/',
      'GET /api/v2.1/multi-share-links/',
      'GET /api/v2.1/upload-links/',
      'GET /api2/shared-links/',
      `GET ${REPO}share-links/`,
      `GET ${REPO}upload-links/`,
      `GET ${REPO2}download-shared-links/`,
      `GET ${REPO2}upload-shared-links/`,
    ],
    LARGEST.links * ROW_BYTES,
  ),
  ...all(
    [
      `GET ${REPO2}dir/shared_items/`,
      'GET /api2/shared-repos/',
      'GET /api/v2.1/shared-repos/',
      `GET ${REPO}related-users/`,
      'GET /api/v2.1/groups/:group_id/members/',
    ],
    LARGEST.accounts * ROW_BYTES,
  ),
  [`GET ${REPO}access-list/`]: (LARGEST.accounts + LARGEST.links) * ROW_BYTES,
  'GET /api/v2.1/account/usage/': LARGEST.libraries * ROW_BYTES,
  // At most 500, each with its name and its path.
  [`GET ${REPO}dir/largest/`]: 2 * 500 * ENTRY_BYTES,
  'GET /api/v2.1/access-summary/': LARGEST.libraries * ROW_BYTES,
  ...all(['GET /api2/devices/', 'GET /api/v2.1/sessions/'], LARGEST.sessions * ROW_BYTES),
  ...all(
    ['GET /api/v2.1/notifications/', 'GET /api/v2.1/all-notifications/'],
    LARGEST.notifications * ROW_BYTES,
  ),
  ...all(['GET /api2/starredfiles/', 'GET /api/v2.1/starred-items/'], LARGEST.stars * ROW_BYTES),
  ...all(
    ['GET /api2/repos/', 'GET /api/v2.1/repos/', 'GET /seafhttp/accessible-repos/'],
    LARGEST.libraries * ROW_BYTES,
  ),
  'GET /api/v2.1/personal-tokens/': LARGEST.tokens * ROW_BYTES,
  ...all(['GET /api/v2.1/activities/', 'GET /api2/events/'], LARGEST.commits * ROW_BYTES),
  // The last 200, each with its content.
  [`GET ${REPO}webhooks/:webhook_id/deliveries/`]: 200 * XML_ENTRY_BYTES,
  // The result of each item of a list that was sent.
  ...all(
    [
      `POST ${REPO}trash2/revert/`,
      `POST ${REPO}trash2/actions/revert/`,
      'DELETE /api/v2.1/share-links/',
      'DELETE /api/v2.1/upload-links/',
      'POST /api/v2.1/repos/batch-create-dir/',
      'POST /api/v2.1/repos/batch-copy-item/',
      'POST /api/v2.1/repos/batch-move-item/',
    ],
    LIST_ITEMS * RESULT_BYTES,
  ),
  'GET /api/v2.1/admin/audit-log/export/': LARGEST.auditEntries * ROW_BYTES,
  ...all(['POST /seafhttp/repo/locked-files', `GET ${REPO}locks/`], LARGEST.locks * ENTRY_BYTES),
  // Of the server, not of what is stored: a file, and some counters for each route.
  'GET /api/openapi.json': 2 * 2 ** 20,
  'GET /metrics': 2 ** 20,
}

/** The most that a route may answer to a request of this size, in bytes. */
export function budgetOf(route: string, sentBytes: number): number {
  return FIXED_BYTES + BYTES_PER_BYTE * sentBytes + (budgets[route] ?? 0)
}

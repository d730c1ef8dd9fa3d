import { fail } from '../../../base/errors.ts'
import { type CommitId, parseCommitId } from '../../../base/objects/index.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { type Revision } from '../../../libraries/history/index.ts'
import type { Directory, Person } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { avatarSize } from '../accounts/account-input.ts'
import { readPage } from '../common/paging.ts'
import { parseInteger } from '../common/parse-values.ts'
import { libraryIdParam, requiredPath, type SentPath } from '../common/readers.ts'
import { filePathText } from '../common/resolve-path.ts'
import { revision as revisionDescribed } from './file-history.schema.ts'
import { historyItem, newHistoryItem } from './revision-wire.ts'
import { route } from './services.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1000

const params = { repo_id: libraryIdParam }

export const fileHistoryRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/history/',
    auth: 'user',
    summary: 'Lists the revisions of a file, newest first, from a commit on.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { path: requiredPath(), commit_id: rawText(), limit: rawText(), avatar_size: avatarSize },
    responses: () => ({
      200: json(
        kinds.record('FileHistory', {
          data: kinds.array(
            kinds.object({
              ...revisionDescribed,
              description: kinds.text('What the commit changed.'),
              rev_renamed_old_path: kinds.orNull(kinds.path),
            }),
          ),
          next_start_commit: kinds.anyOf([kinds.objectId, kinds.literal(false)], {
            description: 'Where the next page begins.',
          }),
        }),
        'The revisions, newest first.',
      ),
    }),
    async handle({ user, params, query, request }, { access, directory }) {
      const { history } = await access.open(user, params.repo_id)
      const page = { start: readStart(query.commit_id), limit: readLimit(query.limit) }
      const { revisions, next } = await history.listFileHistoryFrom(pathOf(query.path), page)
      const people = await creatorsOf(revisions, directory)
      return {
        data: revisions.map((revision) => historyItem(revision, people, request.baseUrl, query.avatar_size)),
        next_start_commit: next ?? false,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/new_history/',
    auth: 'user',
    summary: 'Lists the revisions of a file page by page, with the kind of change.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { path: requiredPath(), page: rawText(), per_page: rawText(), avatar_size: avatarSize },
    responses: () => ({
      200: json(
        kinds.record('FileHistoryPage', {
          data: kinds.array(
            kinds.object({
              ...revisionDescribed,
              op_type: kinds.text('The kind of change.'),
              old_path: kinds.text('The path before, or empty.'),
            }),
          ),
          page: kinds.integer(),
          total_count: kinds.count('The number of revisions.'),
        }),
        'A page of revisions, newest first.',
      ),
    }),
    async handle({ user, params, query, request }, { access, directory }) {
      const { history } = await access.open(user, params.repo_id)
      const { page, perPage } = readPage(query, 25, { lenient: true })
      const found = await history.listFileHistoryPage(pathOf(query.path), { page, perPage })
      const people = await creatorsOf(found.revisions, directory)
      return {
        data: found.revisions.map((revision) =>
          newHistoryItem(revision, people, request.baseUrl, query.avatar_size),
        ),
        page,
        total_count: found.total,
      }
    },
  }),
]

function pathOf(sent: SentPath): LibraryPath {
  return sent.path ?? fail({ code: 'path-not-found', path: filePathText(sent), wanted: 'File' })
}

function readStart(sent: string | undefined): CommitId | undefined {
  if (!sent) return undefined
  const id = parseCommitId(sent)
  if (id === undefined) throw errorMessage(400, 'commit_id invalid.')
  return id
}

function readLimit(sent: string | undefined): number {
  const limit = parseInteger(sent) ?? DEFAULT_LIMIT
  return limit < 1 ? DEFAULT_LIMIT : Math.min(limit, MAX_LIMIT)
}

function creatorsOf(revisions: readonly Revision[], directory: Directory): Promise<Map<string, Person>> {
  return directory.people(revisions.map(({ commit }) => commit.creatorName ?? ''))
}

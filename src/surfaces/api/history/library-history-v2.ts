import { DomainError } from '../../../base/errors.ts'
import { parseCommitId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { Refusal } from '../../../platform/responses/index.ts'
import { readPage } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { changesByKind, commitRecord } from './commit-wire.ts'
import { commit as commitDescribed } from './file-history.schema.ts'
import { paths } from './library-history.schema.ts'
import { route } from './services.ts'

const params = { repo_id: libraryIdParam }

export const libraryHistoryRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/history/',
    auth: 'user',
    summary: 'Lists the commits of a library, newest first, for older clients.',
    compatibility: { result: 'different', note: 'Needs a permission on the library.' },
    callers: 'readers',
    params,
    query: { page: rawText(), per_page: rawText() },
    responses: () => ({
      200: json(
        kinds.record('OlderHistory', {
          commits: kinds.array(
            kinds.object({
              ...commitDescribed,
              rev_file_id: kinds.nothing(),
              rev_file_size: kinds.literal(0),
              rev_renamed_old_path: kinds.nothing(),
            }),
          ),
          page_next: kinds.flag('Whether there is another page.'),
        }),
        'A page of commits, newest first.',
      ),
    }),
    async handle({ user, params, query }, { access }) {
      const { history } = await access.open(user, params.repo_id)
      const sent = readPage(query, 25)
      const page = Math.max(1, sent.page)
      const perPage = sent.perPage < 1 ? 25 : sent.perPage
      const { commits, more } = await history.listHistory(page, perPage)
      return { commits: commits.map(commitRecord), page_next: more }
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repo_history_changes/:repo_id/',
    auth: 'user',
    summary: 'Lists the paths changed by a commit, by kind of change.',
    compatibility: 'supported',
    params,
    query: { commit_id: rawText() },
    responses: () => ({
      200: json(
        kinds.record('ChangedPaths', {
          added_files: paths('The files that were added.'),
          deleted_files: paths('The files that were deleted.'),
          modified_files: paths('The files that were changed.'),
          renamed_files: paths('The old and the new path of each file and folder that was renamed or moved.'),
          added_dirs: paths('The folders that were added.'),
          deleted_dirs: paths('The folders that were deleted.'),
        }),
        'The changed paths. Kinds of changes that did not occur are left out.',
      ),
      400: json(
        kinds.record('HistoryRefusal', { err: kinds.text('Why it was refused.') }),
        'There is no such library or commit.',
      ),
    }),
    details: () => ({ parameters: { commit_id: { required: true, description: 'The id of the commit.' } } }),
    async handle({ user, params, query }, { access }) {
      try {
        const { history } = await access.open(user, params.repo_id)
        const commit = parseCommitId(query.commit_id ?? '')
        if (commit === undefined) throw new Refusal(400, { err: 'Invalid argument' })
        return changesByKind((await history.getCommitDetail(commit)).changes)
      } catch (error) {
        throw inItsOwnWords(error)
      }
    },
  }),
]

/** Only this call uses `err`, which the desktop client reads. */
function inItsOwnWords(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  if (error.fault.code === 'library-not-found') return new Refusal(400, { err: 'Library does not exist' })
  return error.fault.code === 'commit-not-found' ? new Refusal(400, { err: 'Invalid argument' }) : error
}

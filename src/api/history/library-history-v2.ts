import { DomainError } from '../../errors.ts'
import { Refusal, rawText } from '../../http/index.ts'
import { parseCommitId } from '../../objects/index.ts'
import { readPage } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from '../services.ts'
import { changesByKind, commitRecord } from './commit-wire.ts'

const params = { repo_id: libraryIdParam }

export const libraryHistoryRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/history/',
    auth: 'user',
    summary: 'Lists the commits of a library, newest first, for older clients.',
    params,
    query: { page: rawText(), per_page: rawText() },
    async handle({ user, params, query }, { access, core }) {
      const { info } = await access.open(user, params.repo_id)
      const sent = readPage(query, 25)
      const page = Math.max(1, sent.page)
      const perPage = sent.perPage < 1 ? 25 : sent.perPage
      const { commits, more } = await core.history.listHistory(info, page, perPage)
      return { commits: commits.map(commitRecord), page_next: more }
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repo_history_changes/:repo_id/',
    auth: 'user',
    summary: 'Lists the paths changed by a commit, by kind of change.',
    params,
    query: { commit_id: rawText() },
    async handle({ user, params, query }, { access, core }) {
      try {
        const { info } = await access.open(user, params.repo_id)
        const commit = parseCommitId(query.commit_id ?? '')
        if (commit === undefined) throw new Refusal(400, { err: 'Invalid argument' })
        return changesByKind((await core.history.getCommitDetail(info, commit)).changes)
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

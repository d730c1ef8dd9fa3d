import { fail } from '../../errors.ts'
import { errorMessage, rawText } from '../../http/index.ts'
import { withSlash } from '../../objects/index.ts'
import { shownDir } from '../../tree/index.ts'
import { readPage } from '../common/paging.ts'
import { commitIdParam, libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { route } from '../services.ts'
import { commitDetail, commitDirent, historyEntry } from './commit-wire.ts'

export const libraryHistoryRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/history/',
    auth: 'user',
    summary: 'Lists the commits of a library, newest first.',
    params: { repo_id: libraryIdParam },
    query: { page: rawText(), per_page: rawText() },
    async handle({ user, params, query }, { access, core, directory }) {
      const { info } = await access.open(user, params.repo_id)
      const { page, perPage } = readPage(query, 100)
      if (page < 1) throw errorMessage(400, 'page invalid.')
      if (perPage < 1) throw errorMessage(400, 'per_page invalid.')
      const { commits, more } = await core.history.listHistory(info, page, perPage)
      const people = await directory.people(commits.map(({ creatorName }) => creatorName ?? ''))
      return { data: commits.map((commit) => historyEntry(commit, people)), more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/',
    auth: 'user',
    summary: 'Describes a commit and its changes.',
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    async handle({ user, params }, { access, core, directory }) {
      const { info } = await access.open(user, params.repo_id)
      const { commit, changes } = await core.history.getCommitDetail(info, params.commit_id)
      return commitDetail(commit, changes, await directory.person(commit.creatorName ?? ''))
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/dir/',
    auth: 'user',
    summary: 'Lists a folder as of a commit.',
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    query: { path: sentPathOrRoot },
    async handle({ user, params, query }, { access, core }) {
      const { info } = await access.open(user, params.repo_id)
      const tree = await core.history.getTreeAt(info, params.commit_id)
      const { text, path } = query.path
      const found = path && (await tree.findDir(path))
      if (path === undefined || found === undefined) {
        return fail({ code: 'path-not-found', path: text, wanted: 'Folder' })
      }
      const parentDir = withSlash(path)
      const { entries } = await shownDir(found.dir)
      return { dirent_list: entries.map((entry) => commitDirent(entry, parentDir)) }
    },
  }),
]

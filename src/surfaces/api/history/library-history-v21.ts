import { fail } from '../../../base/errors.ts'
import { withSlash } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { shownDir } from '../../../libraries/tree/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { readPage } from '../common/paging.ts'
import { commitIdParam, libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { commitDetail, commitDirent, historyEntry } from './commit-wire.ts'
import {
  commitDetail as commitDetailSchema,
  historyEntry as historyEntrySchema,
} from './library-history.schema.ts'
import { route } from './services.ts'

export const libraryHistoryRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/history/',
    auth: 'user',
    summary: 'Lists the commits of a library, newest first.',
    compatibility: 'supported',
    callers: 'readers',
    params: { repo_id: libraryIdParam },
    query: { page: rawText(), per_page: rawText() },
    responses: () => ({
      200: json(
        kinds.record('History', {
          data: kinds.array(historyEntrySchema),
          more: kinds.flag('Whether there is another page.'),
        }),
        'A page of commits, newest first.',
      ),
    }),
    details: () => ({
      parameters: {
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 100, at most 1000.' },
      },
    }),
    async handle({ user, params, query }, { access, directory }) {
      const { history } = await access.open(user, params.repo_id)
      const { page, perPage } = readPage(query, 100)
      if (page < 1) throw errorMessage(400, 'page invalid.')
      if (perPage < 1) throw errorMessage(400, 'per_page invalid.')
      const { commits, more } = await history.listHistory(page, perPage)
      const people = await directory.people(commits.map(({ creatorName }) => creatorName ?? ''))
      return { data: commits.map((commit) => historyEntry(commit, people)), more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/',
    auth: 'user',
    summary: 'Describes a commit and its changes.',
    compatibility: 'supported',
    callers: 'readers',
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    responses: () => ({
      200: json(commitDetailSchema, 'The commit and its changes.'),
    }),
    async handle({ user, params }, { access, directory }) {
      const { history } = await access.open(user, params.repo_id)
      const { commit, changes } = await history.getCommitDetail(params.commit_id)
      return commitDetail(commit, changes, await directory.person(commit.creatorName ?? ''))
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/dir/',
    auth: 'user',
    summary: 'Lists a folder as of a commit.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    query: { path: sentPathOrRoot },
    responses: () => ({
      200: json(
        kinds.record('FolderOfCommit', {
          dirent_list: kinds.array(
            kinds.object({
              type: kinds.oneOfWords(['dir', 'file']),
              parent_dir: kinds.folderPath,
              obj_id: kinds.objectId,
              name: kinds.name,
              size: kinds.optional(kinds.size),
            }),
          ),
        }),
        'The entries.',
      ),
    }),
    async handle({ user, params, query }, { access }) {
      const { history } = await access.open(user, params.repo_id)
      const tree = await history.getTreeAt(params.commit_id)
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

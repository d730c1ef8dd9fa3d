import { parseCommitId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { downloadLink, readReuse } from '../transfers/download-link.ts'
import { commit as commitDescribed } from './file-history.schema.ts'
import { revisionRecord } from './revision-wire.ts'
import { route } from './services.ts'

const MAX_HISTORY = 1000

const params = { repo_id: libraryIdParam }
const path = requiredPath('Path is missing.')
const noRevision = (): FaultResponse => [404, 'Revision not found.']

export const fileHistoryRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/history/',
    auth: 'user',
    summary: 'Lists the revisions of a file, newest first, for older clients.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { p: path },
    responses: () => ({
      200: json(
        kinds.record('OlderFileHistory', {
          commits: kinds.array(
            kinds.object({
              ...commitDescribed,
              rev_file_id: kinds.objectId,
              rev_file_size: kinds.size,
              rev_renamed_old_path: kinds.orNull(kinds.path),
              user_info: kinds.object({
                email: kinds.account,
                name: kinds.displayName,
                contact_email: kinds.contactEmail,
              }),
            }),
          ),
        }),
        'The revisions, newest first.',
      ),
    }),
    async handle({ user, params, query }, { access, directory }) {
      const library = await access.open(user, params.repo_id)
      const file = await fileAt(library, query.p)
      const limit = MAX_HISTORY
      const { revisions } = await library.history.listFileHistoryFrom(file.path, { limit })
      const people = await directory.people(revisions.map(({ commit }) => commit.creatorName ?? ''))
      return { commits: revisions.map((revision) => revisionRecord(revision, people)) }
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/revision/',
    auth: 'user',
    summary: 'Returns a download link of a file as of a commit.',
    compatibility: 'supported',
    params,
    query: { p: path, commit_id: rawText(), reuse: rawText() },
    responses: () => ({
      200: json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' }),
    }),
    async handle({ user, params, query, request }, services) {
      const { access } = services
      const library = await access.open(user, params.repo_id)
      const id = parseCommitId(query.commit_id ?? '')
      const sent = query.p
      if (id === undefined || sent.path === undefined) throw errorMessage(...noRevision())
      const { path } = sent
      const messages = { 'commit-not-found': noRevision, 'path-not-found': noRevision }
      const file = await withFaultMessages(messages, async () => {
        const commit = await library.history.getCommitFor(id, path)
        return fileAt({ tree: await library.history.treeOf(commit) }, sent)
      })
      return downloadLink(services, library, file, { reusable: readReuse(query.reuse), request })
    },
  }),
]

import { parseCommitId } from '../../../base/objects/index.ts'
import { parentOf, ROOT } from '../../../base/paths/index.ts'
import { revertFile, revertFolder } from '../../../libraries/edits/index.ts'
import type { FaultResponses } from '../../../platform/http/index.ts'
import { map, rawText } from '../../../platform/input/index.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import { libraryIdParam, requiredPath, type SentPath } from '../common/readers.ts'
import { filePathText } from '../common/resolve-path.ts'
import { restored } from './file-history.schema.ts'
import { route } from './services.ts'

const params = { repo_id: libraryIdParam }

const body = {
  p: map(requiredPath('path invalid.'), (sent) => (sent.path === ROOT ? undefined : sent), 'path invalid.'),
  commit_id: map(rawText(), (sent) => parseCommitId(sent ?? '')),
}

const faults: FaultResponses = { 'library-not-found': ({ id }) => [404, `library ${id} not found.`] }

export const revertRoutesV2 = [
  revertRoute('file', {
    kind: 'file',
    summary: 'Reverts a file to a commit, or restores it.',
    revert: revertFile,
  }),
  revertRoute('dir', {
    kind: 'folder',
    summary: 'Restores a folder as of a commit.',
    revert: revertFolder,
  }),
]

function revertRoute(
  segment: string,
  { kind, summary, revert }: { kind: 'file' | 'folder'; summary: string; revert: typeof revertFile },
) {
  return route({
    method: 'PUT',
    path: `/api2/repos/:repo_id/${segment}/revert/`,
    auth: 'user',
    summary,
    compatibility: 'supported',
    params,
    body,
    faults,
    responses: () => restored,
    details: () => ({ errors: [443] }),
    async handle({ user, params, body }, { access, core, quotas }) {
      const library = await access.open(user, params.repo_id)
      const editable = library.editable(parentOf(body.p.path ?? ROOT))
      const wanted = { path: body.p.path, commitId: body.commit_id }
      await withFaultMessages(missing(kind, body.p), () =>
        revert(core, editable, wanted, (info) => quotas.roomLeft(info)),
      )
      return { success: true }
    },
  })
}

/** An unknown commit is reported like a missing file. */
function missing(kind: 'file' | 'folder', sent: SentPath): FaultResponses {
  const answer = (): [number, string] => [404, `${kind} ${filePathText(sent)} not found.`]
  return { 'path-not-found': answer, 'commit-not-found': answer }
}

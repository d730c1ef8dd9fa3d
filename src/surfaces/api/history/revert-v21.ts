import { ROOT } from '../../../base/paths/index.ts'
import { revertLibrary } from '../../../libraries/edits/index.ts'
import { commitIdParam, libraryIdParam } from '../common/readers.ts'
import { restored } from './file-history.schema.ts'
import { route } from './services.ts'

export const revertRoutesV21 = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/revert/',
    auth: 'user',
    summary: 'Reverts a library to a commit.',
    compatibility: 'supported',
    callers: 'the owner',
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    responses: () => restored,
    details: () => ({ errors: [443] }),
    async handle({ user, params }, { access, core, quotas }) {
      const library = await access.open(user, params.repo_id)
      const { id } = await library.history.getCommit(params.commit_id)
      const owned = library.owned()
      // Throws password-needed: an encrypted library that is not unlocked must not change.
      await core.keys.keyFor(library)
      // Even the owner cannot change a read-only library.
      library.editable(ROOT)
      await revertLibrary(core, owned, id, (info) => quotas.roomLeft(info))
      return { success: true }
    },
  }),
]

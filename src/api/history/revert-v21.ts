import { revertLibrary } from '../../library/index.ts'
import { ROOT } from '../../objects/index.ts'
import { commitIdParam, libraryIdParam } from '../common/readers.ts'
import { route } from '../services.ts'

export const revertRoutesV21 = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/commits/:commit_id/revert/',
    auth: 'user',
    summary: 'Gives a library the content it had in a commit.',
    params: { repo_id: libraryIdParam, commit_id: commitIdParam },
    async handle({ user, params }, { access, core, quotas }) {
      const library = await access.open(user, params.repo_id)
      const { id } = await core.history.getCommit(library.info, params.commit_id)
      const owned = library.owned()
      // No byte of it is needed, but what is locked stays as it is. Throws password-needed.
      core.keys.keyFor(library)
      // Being the owner is not enough to change a library that is read-only.
      library.editable(ROOT)
      await revertLibrary(core, owned, id, (info) => quotas.roomLeft(info))
      return { success: true }
    },
  }),
]

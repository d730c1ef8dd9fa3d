import { fail } from '../../errors.ts'
import { canAddLibrary } from '../../identity/index.ts'
import { ensureDefaultLibrary, findDefaultLibrary } from '../../library/index.ts'
import { libraryDeed, noting } from '../common/audit.ts'
import { route } from '../services.ts'

const path = '/api2/default-repo/'

export const defaultLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Tells whether the caller has a default library, and which.',
    async handle({ user }, { core }) {
      const library = await findDefaultLibrary(core, user)
      return { exists: library !== undefined, repo_id: library?.id ?? '' }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Makes a default library for the caller, unless there is one.',
    async handle({ user, request }, { audit, core }) {
      if (!canAddLibrary(user.role)) fail({ code: 'role-forbids', action: 'add-library' })
      const library = await ensureDefaultLibrary(core, user, (tx, made) =>
        noting({ audit }, { user, request }, libraryDeed('library-made', made))(tx),
      )
      return { exists: true, repo_id: library.id }
    },
  }),
]

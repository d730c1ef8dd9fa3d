import { fail } from '../../errors.ts'
import { canAddLibrary } from '../../identity/index.ts'
import { ensureDefaultLibrary, findDefaultLibrary } from '../../library/index.ts'
import { auditAction, libraryAction } from '../common/audit.ts'
import { route } from '../services.ts'

const path = '/api2/default-repo/'

export const defaultLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns the default library of the caller, if any.',
    async handle({ user }, { core }) {
      const library = await findDefaultLibrary(core, user)
      return { exists: library !== undefined, repo_id: library?.id ?? '' }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Creates the default library of the caller, unless it exists.',
    async handle({ user, request }, { audit, core }) {
      if (!canAddLibrary(user.role)) fail({ code: 'role-forbids', action: 'add-library' })
      const library = await ensureDefaultLibrary(core, user, (tx, made) =>
        auditAction({ audit }, { user, request }, libraryAction('library-made', made))(tx),
      )
      return { exists: true, repo_id: library.id }
    },
  }),
]

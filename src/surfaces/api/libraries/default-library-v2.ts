import { fail } from '../../../base/errors.ts'
import { json } from '../../../base/schemas/index.ts'
import { ensureDefaultLibrary, findDefaultLibrary } from '../../../libraries/library/index.ts'
import { auditActor, roleAllows } from '../../../people/accounts/index.ts'
import { defaultLibrary } from './libraries.schema.ts'
import { route } from './services.ts'

const path = '/api2/default-repo/'

export const defaultLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns the default library of the caller, if any.',
    compatibility: { result: 'different', note: '`repo_id` is always present, empty if there is none.' },
    callers: 'every account',
    responses: () => ({ 200: json(defaultLibrary, 'The default library of the caller.') }),
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
    compatibility: { result: 'different', note: 'The new library is remembered also without a template.' },
    callers: 'every account',
    responses: () => ({ 200: json(defaultLibrary, 'The default library of the caller.') }),
    async handle({ user, request }, { core }) {
      if (!roleAllows(user.role, 'add-library')) fail({ code: 'role-forbids', action: 'add-library' })
      const library = await ensureDefaultLibrary(core, user, auditActor(user, request))
      return { exists: true, repo_id: library.id }
    },
  }),
]

import { fail } from '../../../base/errors.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { transferLibrary } from '../../../libraries/library/index.ts'
import { auditActor, roleAllows } from '../../../people/accounts/index.ts'
import { required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { keepShares, libraryIdParam } from '../common/readers.ts'
import { route } from './services.ts'

const path = '/api2/repos/:repo_id/owner/'
const params = { repo_id: libraryIdParam }

export const libraryOwnerRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns the owner of a library, to the owner only.',
    compatibility: 'supported',
    callers: 'the owner',
    params,
    responses: () => ({
      200: json(kinds.record('LibraryOwner', { owner: kinds.account }), 'The owner.'),
    }),
    async handle({ user, params }, { access }) {
      await access.openOwned(user, params.repo_id)
      return { owner: user.email }
    },
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Transfers a library to another account.',
    compatibility: 'supported',
    params,
    body: { owner: required(), reshare: keepShares },
    responses: () => ({ 200: json(kinds.successFlag, 'The library was transferred.') }),
    details: () => ({
      errors: [443],
      parameters: { owner: { description: 'The account that becomes the owner.' } },
    }),
    async handle({ user, params, body, request }, { access, accounts, core, shares }) {
      if (!(await access.exists(params.repo_id))) fail({ code: 'library-not-found', id: params.repo_id })
      const email = body.owner.toLowerCase()
      const owner = (await accounts.find(email)) ?? fail({ code: 'account-not-found', email })
      const library = await access.openOwned(user, params.repo_id)
      if (!roleAllows(owner.role, 'add-library')) {
        const words = `Transfer failed: role of ${owner.email} is ${owner.role}, can not add library.`
        throw errorMessage(403, words)
      }
      if (owner.key === user.key) throw errorMessage(400, 'Library can not be transferred to owner.')
      // A transfer cannot be declined.
      if (await shares.holds(user, owner)) fail({ code: 'permission-denied' })
      await transferLibrary(core, library, owner, auditActor(user, request), { keepShares: body.reshare })
      return { success: true }
    },
  }),
]

import type { LinkKind } from '../../access/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from '../services.ts'
import { auditDeletion, linkFaults, linksToWire, linkTokenParam } from './link-management.ts'

const kinds: readonly LinkKind[] = ['share', 'upload']

/** All links of a library, for those who manage its shares. */
export const libraryLinkRoutes = kinds.flatMap((kind) => [
  route({
    method: 'GET',
    path: `/api/v2.1/repos/:repo_id/${kind}-links/`,
    auth: 'user',
    scope: 'none',
    summary: `Lists all ${kind} links of a library, for those who manage its shares.`,
    params: { repo_id: libraryIdParam },
    async handle({ user, params, request }, services) {
      const library = await services.access.openAdministered(user, params.repo_id)
      const links = await services.links.listIn(library, kind)
      return linksToWire(services, request, links, () => library)
    },
  }),
  route({
    method: 'DELETE',
    path: `/api/v2.1/repos/:repo_id/${kind}-links/:token/`,
    auth: 'user',
    scope: 'none',
    summary: `Deletes any ${kind} link of a library, for those who manage its shares.`,
    params: { repo_id: libraryIdParam, token: linkTokenParam },
    faults: linkFaults,
    async handle({ user, params, request }, services) {
      const library = await services.access.openAdministered(user, params.repo_id)
      await services.links.deleteIn(library, params.token, kind, auditDeletion(services, { user, request }))
      return { success: true }
    },
  }),
])

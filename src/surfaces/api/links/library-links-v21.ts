import { json } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { LinkKind } from '../../../sharing/access/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { linkFaults, linksToWire, linkTokenParam } from './link-management.ts'
import { deleted, shareLinks, uploadLinks } from './own-links.schema.ts'
import { route } from './services.ts'

const linkKinds: readonly LinkKind[] = ['share', 'upload']

/** All links of a library, for those who manage its shares. */
export const libraryLinkRoutes = linkKinds.flatMap((kind) => [
  route({
    method: 'GET',
    path: `/api/v2.1/repos/:repo_id/${kind}-links/`,
    auth: 'user',
    scope: 'none',
    summary: `Lists all ${kind} links of a library, for those who manage its shares.`,
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    responses: () => ({ 200: json(kind === 'share' ? shareLinks : uploadLinks, 'The links.') }),
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
    compatibility: 'supported',
    params: { repo_id: libraryIdParam, token: linkTokenParam },
    faults: linkFaults,
    responses: () => deleted,
    async handle({ user, params, request }, services) {
      const library = await services.access.openAdministered(user, params.repo_id)
      await services.links.deleteIn(library, params.token, kind, auditActor(user, request))
      return { success: true }
    },
  }),
])

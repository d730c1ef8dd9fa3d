import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor, unknownPerson } from '../../../people/accounts/index.ts'
import type { Link, LinkKind } from '../../../sharing/access/index.ts'
import { pageQuery } from '../common/paging.ts'
import { linkFaults, linkTokenParam } from '../links/link-management.ts'
import { adminLinkToWire } from './admin-wire.ts'
import { count as countSchema, done, link as linkSchema, links as linksSchema } from './libraries.schema.ts'
import { type AdministrationServices, adminRoute as route } from './services.ts'

const linkKinds: readonly LinkKind[] = ['share', 'upload']

/** All links of the server. */
export const adminLinkRoutes = linkKinds.flatMap((kind) => [
  route({
    method: 'GET',
    path: `/api/v2.1/admin/${kind}-links/`,
    auth: 'admin',
    summary: `Lists all ${kind} links page by page, newest first.`,
    compatibility: 'supported',
    query: pageQuery(100),
    responses: () => ({
      200: json(
        kinds.record(kind === 'share' ? 'AdminShareLinks' : 'AdminUploadLinks', {
          [`${kind}_link_list`]: linksSchema,
          count: countSchema,
        }),
        'A page of links, newest first.',
      ),
    }),
    async handle({ user, query }, services) {
      const { page, per_page: perPage } = query
      const { links, count } = await services.links.listAll(user, kind, { page, perPage })
      return { [`${kind}_link_list`]: await toWire(services, links), count }
    },
  }),
  route({
    method: 'GET',
    path: `/api/v2.1/admin/${kind}-links/:token/`,
    auth: 'admin',
    summary: `Shows any ${kind} link.`,
    compatibility: 'supported',
    params: { token: linkTokenParam },
    faults: linkFaults,
    responses: () => ({ 200: json(linkSchema, 'The link.') }),
    async handle({ user, params }, services) {
      const [shown] = await toWire(services, [await services.links.getAny(user, params.token, kind)])
      return shown
    },
  }),
  route({
    method: 'DELETE',
    path: `/api/v2.1/admin/${kind}-links/:token/`,
    auth: 'admin',
    summary: `Deletes any ${kind} link. Idempotent.`,
    compatibility: 'supported',
    params: { token: linkTokenParam },
    responses: () => done('The link is gone.'),
    async handle({ user, params, request }, services) {
      await services.links.deleteAny(user, params.token, kind, auditActor(user, request))
      return { success: true }
    },
  }),
])

async function toWire({ directory, links }: AdministrationServices, list: readonly Link[]) {
  const people = await directory.people(list.map(({ creator }) => creator))
  return list.map((link) => {
    const creator = people.get(link.creator) ?? unknownPerson(link.creator)
    return adminLinkToWire(link, creator, links.isExpired(link))
  })
}

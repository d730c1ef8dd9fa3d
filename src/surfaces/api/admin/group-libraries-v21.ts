import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { pageQuery } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { groupIdParam } from '../groups/group-input.ts'
import { groupLibraries, groupLibraryItem } from '../groups/group-wire.ts'
import { groupLibrary } from '../groups/groups.schema.ts'
import { page as pageDescribed } from './admin.schema.ts'
import { pageInfo } from './admin-wire.ts'
import { done, ofGroup } from './groups.schema.ts'
import { adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/groups/:group_id/libraries/'
const params = { group_id: groupIdParam }

export const adminGroupLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists the libraries shared with any group, latest change first.',
    compatibility: 'supported',
    params,
    query: pageQuery(100),
    responses: () => ({
      200: json(
        kinds.record('AdminGroupLibraries', {
          ...ofGroup,
          libraries: kinds.array(groupLibrary),
          page_info: pageDescribed,
        }),
        'A page of libraries, latest change first.',
      ),
    }),
    async handle({ user, params, query }, services) {
      const { page, per_page: perPage } = query
      const { group } = await asAdministrator.getGroup(services.groups, user, params.group_id)
      const all = await services.shares.sharedWith(group)
      const shown = await groupLibraries(services, user, all.slice((page - 1) * perPage, page * perPage))
      return {
        group_id: group.key,
        group_name: group.name,
        libraries: shown.map(groupLibraryItem),
        page_info: pageInfo(page, all.length > page * perPage),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/admin/groups/:group_id/libraries/:repo_id/',
    auth: 'admin',
    summary: 'Ends the share of a library or folder with any group; the library stays.',
    compatibility: 'supported',
    params: { ...params, repo_id: libraryIdParam },
    responses: () => done('The share was ended.'),
    async handle({ user, params, request }, services) {
      const { group } = await asAdministrator.getGroup(services.groups, user, params.group_id)
      const all = await services.shares.sharedWith(group)
      const shared = all.find(({ info }) => info.id === params.repo_id)
      if (shared === undefined) throw errorMessage(404, `Group library ${params.repo_id} not found.`)
      const library = asAdministrator.openShared(services.core, user, shared)
      await services.shares.revokeFromGroup(library, group, auditActor(user, request))
      return { success: true }
    },
  }),
]

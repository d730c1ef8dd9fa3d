import { fail } from '../../../base/errors.ts'
import { parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { sharePermission } from '../shares/share-input.ts'
import { createGroupLibrary, groupIdParam, page, perPage } from './group-input.ts'
import { groupLibraries, groupLibraryItem } from './group-wire.ts'
import { groupLibrary, success } from './groups.schema.ts'
import { route } from './services.ts'
import { unshareFromGroup } from './unshare-from-group.ts'

const path = '/api/v2.1/groups/:group_id/libraries/'
const params = { group_id: groupIdParam }

export const groupLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Lists the libraries shared with a group, latest change first.',
    compatibility: 'supported',
    params,
    query: { page, per_page: perPage(100) },
    responses: () => ({
      200: json(kinds.array(groupLibrary), 'The libraries, latest change first.'),
    }),
    async handle({ user, params, query }, services) {
      const { group } = await services.groups.get(user, params.group_id)
      const all = await services.shares.sharedWith(group)
      const from = (query.page - 1) * query.per_page
      const libraries = await groupLibraries(services, user, all.slice(from, from + query.per_page))
      return libraries.map(groupLibraryItem)
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Creates a library and shares it with a group.',
    compatibility: 'supported',
    params,
    body: { repo_name: text(), password: text(), passwd: text(), permission: sharePermission() },
    faults: { 'role-forbids': () => [403, 'Permission denied.'] },
    responses: () => ({ 200: json(groupLibrary, 'The new library.') }),
    async handle({ user, params, body, request }, services) {
      const name = parseName(body.repo_name)
      if (name === undefined) throw errorMessage(400, 'repo_name invalid.')
      const { group } = await services.groups.get(user, params.group_id)
      const made = await createGroupLibrary(services, { user, request }, group, {
        name,
        description: '',
        password: body.password || body.passwd,
        permission: body.permission,
      })
      const shared = await services.shares.sharedWith(group)
      const [library] = await groupLibraries(
        services,
        user,
        shared.filter(({ info }) => info.id === made.id),
      )
      return library === undefined
        ? fail({ code: 'library-not-found', id: made.id })
        : groupLibraryItem(library)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/groups/:group_id/libraries/:repo_id/',
    auth: 'user',
    summary: 'Ends the share of a library with a group; the library stays.',
    compatibility: 'supported',
    params: { ...params, repo_id: libraryIdParam },
    responses: () => success('The share was ended.'),
    async handle({ user, params, request }, services) {
      if (!(await unshareFromGroup(services, { user, request }, params.group_id, params.repo_id))) {
        throw errorMessage(404, `Group library ${params.repo_id} not found.`)
      }
      return { success: true }
    },
  }),
]

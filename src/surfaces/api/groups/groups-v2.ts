import { DomainError, fail } from '../../../base/errors.ts'
import { parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { rawText, text } from '../../../platform/input/index.ts'
import { errorMessage, Refusal } from '../../../platform/responses/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { parseInteger, parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { apiFaults } from '../faults.ts'
import { createGroupLibrary, groupIdParam } from './group-input.ts'
import { groupLibraries, groupRepoV2 } from './group-wire.ts'
import { olderGroup, olderGroupLibrary, refusal, success } from './groups.schema.ts'
import { route } from './services.ts'
import { unshareFromGroup } from './unshare-from-group.ts'

const params = { group_id: groupIdParam }
const one = '/api2/groups/:group_id/'
const repos = '/api2/groups/:group_id/repos/'
const members = '/api2/groups/:group_id/members/'
const groupNotFound = { 'group-not-found': (): [number, string] => [404, 'Group not found'] }

function denied(action: string) {
  const message = `You do not have permission to ${action} group.`
  return { 'permission-denied': (): [number, string] => [403, message] }
}

export const groupRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/groups/',
    auth: 'user',
    summary: 'Lists the groups the caller is in, for older clients.',
    compatibility: 'supported',
    callers: 'every account',
    query: { with_msg: rawText(), limit: rawText() },
    responses: () => ({
      200: [
        json(
          kinds.record('OlderGroups', {
            groups: kinds.array(kinds.object({ ...olderGroup, msgnum: kinds.literal(0) })),
            replynum: kinds.literal(0),
          }),
          'The groups.',
        ),
        json(
          kinds.array(kinds.record('OlderGroup', { ...olderGroup, avatar: kinds.url })),
          'With `with_msg=false`, the first `limit` of them.',
        ),
      ],
    }),
    async handle({ user, query, request }, { accounts, groups }) {
      const list = (await groups.of(user)).map(({ group }) => group)
      const owners = await accounts.findManyByKey(list.map(({ ownerKey }) => ownerKey))
      const shown = list.map((group) => ({
        id: group.key,
        name: group.name,
        creator: owners.get(group.ownerKey)?.email ?? '',
        ctime: group.createdAt * 1_000_000,
      }))
      if (query.with_msg !== 'false') {
        return { groups: shown.map((group) => ({ ...group, msgnum: 0 })), replynum: 0 }
      }
      const limit = Math.max(0, parseInteger(query.limit) ?? 8)
      return shown.slice(0, limit).map((group) => ({ ...group, avatar: avatarUrl(request.baseUrl) }))
    },
  }),
  route({
    method: 'PUT',
    path: '/api2/groups/',
    auth: 'user',
    summary: 'Creates a group, for older clients.',
    compatibility: 'supported',
    body: { group_name: text() },
    responses: () => ({
      200: json(
        kinds.record('CreatedGroup', {
          success: kinds.literal(true),
          group_id: kinds.integer('The id of the group.'),
        }),
        'The new group.',
      ),
      400: json(refusal, 'The name is invalid or taken.'),
      403: json(refusal, 'The caller may not create groups.'),
    }),
    details: () => ({
      parameters: { group_name: { required: true, description: 'The name of the group.' } },
    }),
    async handle({ user, body, request }, services) {
      try {
        const { key } = await services.groups.create(user, body.group_name, auditActor(user, request))
        return { success: true, group_id: key }
      } catch (error) {
        throw inItsOwnWords(error)
      }
    },
  }),
  route({
    method: 'POST',
    path: one,
    auth: 'user',
    summary: 'Renames a group, for older clients.',
    compatibility: 'supported',
    params,
    body: { operation: text(), newname: text() },
    faults: { ...groupNotFound, ...denied('rename') },
    responses: () => success('The group was renamed.'),
    async handle({ user, params, body, request }, services) {
      const membership = await services.groups.administered(user, params.group_id)
      if (body.operation.toLowerCase() !== 'rename') throw errorMessage(400, 'Operation can only be rename.')
      if (body.newname === '') throw errorMessage(400, 'New name is missing')
      await services.groups.rename(membership, body.newname, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    auth: 'user',
    summary: 'Deletes a group, for older clients; libraries shared with it stay with their owners.',
    compatibility: 'supported',
    params,
    faults: { ...groupNotFound, ...denied('delete') },
    responses: () => success('The group was deleted.'),
    async handle({ user, params, request }, services) {
      const membership = await services.groups.owned(user, params.group_id)
      await services.groups.delete(membership, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: repos,
    auth: 'user',
    summary: 'Lists the libraries shared with a group, for older clients.',
    compatibility: 'supported',
    params,
    faults: groupNotFound,
    responses: () => ({
      200: json(kinds.array(olderGroupLibrary), 'The libraries.'),
    }),
    async handle({ user, params }, services) {
      const { group } = await services.groups.get(user, params.group_id)
      const libraries = await groupLibraries(services, user, await services.shares.sharedWith(group))
      const now = services.now()
      return libraries.map((library) => groupRepoV2(library, user, now))
    },
  }),
  route({
    method: 'POST',
    path: repos,
    auth: 'user',
    summary: 'Creates a library and shares it with a group, for older clients.',
    compatibility: 'supported',
    params,
    body: { name: text(), desc: rawText(), passwd: text(), permission: rawText() },
    faults: groupNotFound,
    responses: () => ({ 200: json(olderGroupLibrary, 'The new library.') }),
    async handle({ user, params, body, request }, services) {
      const { group } = await services.groups.get(user, params.group_id)
      const name = parseName(body.name)
      if (name === undefined) throw errorMessage(400, 'Library name is required.')
      const permission = body.permission || 'r'
      if (permission !== 'r' && permission !== 'rw') throw errorMessage(400, 'Invalid permission')
      const description = parseText(body.desc ?? '')
      if (description === undefined) throw errorMessage(400, 'desc invalid.')
      const made = await createGroupLibrary(services, { user, request }, group, {
        name,
        description,
        password: body.passwd,
        permission,
      })
      const shared = await services.shares.sharedWith(group)
      const [library] = await groupLibraries(
        services,
        user,
        shared.filter(({ info }) => info.id === made.id),
      )
      if (library === undefined) return fail({ code: 'library-not-found', id: made.id })
      return groupRepoV2(library, user, services.now())
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/groups/:group_id/repos/:repo_id/',
    auth: 'user',
    summary: 'Ends the share of a library with a group, for older clients.',
    compatibility: 'supported',
    params: { ...params, repo_id: libraryIdParam },
    faults: groupNotFound,
    responses: () => ({
      200: json(kinds.successWord, 'The share was ended.'),
    }),
    async handle({ user, params, request }, services) {
      await unshareFromGroup(services, { user, request }, params.group_id, params.repo_id)
      return 'success'
    },
  }),
  route({
    method: 'PUT',
    path: members,
    auth: 'user',
    summary: 'Adds a user to a group, for older clients.',
    compatibility: 'supported',
    params,
    body: { user_name: text() },
    faults: groupNotFound,
    responses: () => success('The member was added.'),
    async handle({ user, params, body, request }, services) {
      const { accounts, groups } = services
      const membership = await groups.administered(user, params.group_id)
      const account = await accounts.find(body.user_name)
      if (account === undefined) throw errorMessage(400, 'Not a valid user')
      await services.groups.add(membership, account, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: members,
    auth: 'user',
    summary: 'Removes a user from a group, for older clients.',
    compatibility: 'supported',
    params,
    query: { user_name: rawText() },
    body: { user_name: rawText() },
    faults: groupNotFound,
    responses: () => success('The member was removed.'),
    async handle({ user, params, query, body, request }, services) {
      const { accounts, groups } = services
      const membership = await groups.administered(user, params.group_id)
      const account = await accounts.find(body.user_name ?? query.user_name ?? '')
      if (account === undefined) throw errorMessage(400, 'Not a valid user')
      await services.groups.remove(membership, account, auditActor(user, request))
      return { success: true }
    },
  }),
]

/** Only this call uses `error`. */
function inItsOwnWords(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  const { fault } = error
  if (fault.code === 'role-forbids') {
    return new Refusal(403, { error: 'You do not have permission to create group.' })
  }
  if (fault.code !== 'group-exists' && fault.code !== 'group-name-invalid') return error
  const [status, message] =
    fault.code === 'group-exists' ? apiFaults['group-exists'](fault) : apiFaults['group-name-invalid'](fault)
  return new Refusal(status, { error: message })
}

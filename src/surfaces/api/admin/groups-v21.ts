import { json, kinds } from '../../../base/schemas/index.ts'
import { type Account, auditActor, type Group } from '../../../people/accounts/index.ts'
import { optionalText, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { pageQuery } from '../common/paging.ts'
import { getUser, groupIdParam } from '../groups/group-input.ts'
import { page as pageDescribed } from './admin.schema.ts'
import { adminGroupsToWire, adminGroupToWire, pageInfo } from './admin-wire.ts'
import { done, group as groupSchema } from './groups.schema.ts'
import { type AdministrationServices, adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/groups/'
const pathOfOne = '/api/v2.1/admin/groups/:group_id/'
const params = { group_id: groupIdParam }

export const adminGroupRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists all groups page by page, or those whose name contains a text.',
    compatibility: 'supported',
    callers: 'administrators',
    query: { ...pageQuery(100), name: optionalText() },
    responses: () => ({
      200: json(
        kinds.record('AdminGroups', { groups: kinds.array(groupSchema), page_info: pageDescribed }),
        'A page of groups.',
      ),
    }),
    details: () => ({ parameters: { name: { description: 'Only groups whose name contains this text.' } } }),
    async handle({ query }, services) {
      const { page, per_page: perPage, name } = query
      const { groups, more } = await services.groups.listPage({ name }, { page, perPage })
      return { groups: await adminGroupsToWire(services, groups), page_info: pageInfo(page, more) }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'admin',
    summary: 'Creates a group for an account, or for the caller.',
    compatibility: 'supported',
    body: { group_name: text(), group_owner: optionalText() },
    responses: () => ({ 201: json(groupSchema, 'The new group.') }),
    details: () => ({
      parameters: {
        group_name: { required: true, description: 'The name of the group.' },
        group_owner: { description: 'The account that owns it. Default: the caller.' },
      },
    }),
    async handle({ user, body, request }, services) {
      const owner = body.group_owner ? await getUser(services, body.group_owner) : user
      const group = await services.groups.create(owner, body.group_name, auditActor(user, request))
      return jsonResponse(201, await adminGroupToWire(services, group))
    },
  }),
  route({
    method: 'GET',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Describes a group.',
    compatibility: 'supported',
    params,
    responses: () => ({ 200: json(groupSchema, 'The group.') }),
    async handle({ user, params }, services) {
      const { group } = await asAdministrator.getGroup(services.groups, user, params.group_id)
      return adminGroupToWire(services, group)
    },
  }),
  route({
    method: 'PUT',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Renames a group, or transfers it to another owner.',
    compatibility: 'supported',
    params,
    body: { new_owner: optionalText(), new_name: optionalText() },
    responses: () => ({ 200: json(groupSchema, 'The changed group.') }),
    details: () => ({
      parameters: {
        new_owner: { description: 'The account that becomes the owner.' },
        new_name: { description: 'The new name.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const by = auditActor(user, request)
      if (!body.new_owner && !body.new_name) throw errorMessage(400, 'new_owner invalid.')
      let membership = await asAdministrator.getGroup(services.groups, user, params.group_id)
      // Checked before anything is changed: the request is applied completely or not at all.
      const owner = body.new_owner ? await newOwner(services, membership.group, body.new_owner) : undefined
      if (body.new_name) {
        membership = { ...membership, group: await services.groups.rename(membership, body.new_name, by) }
      }
      if (owner === undefined) return adminGroupToWire(services, membership.group)
      return adminGroupToWire(services, await services.groups.transfer(membership, owner, by))
    },
  }),
  route({
    method: 'DELETE',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Deletes a group; libraries shared with it stay with their owners. Idempotent.',
    compatibility: 'supported',
    params,
    responses: () => done('The group is gone.'),
    async handle({ user, params, request }, services) {
      if ((await services.groups.find(params.group_id)) === undefined) return { success: true }
      const membership = await asAdministrator.getGroup(services.groups, user, params.group_id)
      await services.groups.delete(membership, auditActor(user, request))
      return { success: true }
    },
  }),
]

async function newOwner(services: AdministrationServices, group: Group, sent: string): Promise<Account> {
  const account = await getUser(services, sent)
  if (account.key === group.ownerKey) throw errorMessage(400, `User ${account.email} is already group owner.`)
  return account
}

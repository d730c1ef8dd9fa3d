import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { list, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { emailParam } from '../accounts/account-input.ts'
import { pageQuery } from '../common/paging.ts'
import { groupIdParam } from '../groups/group-input.ts'
import {
  addMembers,
  getMember,
  MAX_PER_REQUEST,
  parseIsAdmin,
  setMemberAdmin,
} from '../groups/group-members.ts'
import { memberItem } from '../groups/group-wire.ts'
import { addedMembers, member as memberDescribed } from '../groups/groups.schema.ts'
import { page as pageDescribed } from './admin.schema.ts'
import { pageInfo } from './admin-wire.ts'
import { done, ofGroup } from './groups.schema.ts'
import { adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/groups/:group_id/members/'
const pathOfOne = '/api/v2.1/admin/groups/:group_id/members/:email/'
const params = { group_id: groupIdParam }
const one = { group_id: groupIdParam, email: emailParam }

export const adminGroupMemberRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists the members of any group.',
    compatibility: 'supported',
    params,
    query: pageQuery(100),
    responses: () => ({
      200: json(
        kinds.record('AdminGroupMembers', {
          ...ofGroup,
          members: kinds.array(memberDescribed),
          page_info: pageDescribed,
        }),
        'A page of members.',
      ),
    }),
    async handle({ user, params, query, request }, { groups }) {
      const { page, per_page: perPage } = query
      const { group } = await asAdministrator.getGroup(groups, user, params.group_id)
      const found = await groups.members(group, { limit: perPage + 1, offset: (page - 1) * perPage })
      const members = found.slice(0, perPage).map((member) => memberItem(group, member, request.baseUrl))
      const more = found.length > perPage
      return { group_id: group.key, group_name: group.name, members, page_info: pageInfo(page, more) }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'admin',
    summary: 'Adds users to any group and reports those that failed.',
    compatibility: 'supported',
    params,
    body: { email: list({ nonEmpty: true }) },
    responses: () => ({ 200: json(addedMembers, 'The result for each account.') }),
    details: () => ({ parameters: { email: { description: 'The accounts.' } } }),
    async handle({ user, params, body, request }, services) {
      const sent = body.email.map((email) => email.trim().toLowerCase())
      const emails = [...new Set(sent)].filter((email) => email !== '')
      if (emails.length === 0 || emails.length > MAX_PER_REQUEST) throw errorMessage(400, 'email invalid.')
      const membership = await asAdministrator.getGroup(services.groups, user, params.group_id)
      return addMembers(services, { user, request }, membership, emails)
    },
  }),
  route({
    method: 'PUT',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Makes a member a group administrator or a regular member; the owner stays an administrator.',
    compatibility: 'supported',
    params: one,
    body: { is_admin: rawText() },
    responses: () => ({ 200: json(memberDescribed, 'The changed member.') }),
    details: () => ({ parameters: { is_admin: { required: true, description: '`true` or `false`.' } } }),
    async handle({ user, params, body, request }, services) {
      const wanted = parseIsAdmin(body.is_admin)
      const membership = await asAdministrator.getGroup(services.groups, user, params.group_id)
      return setMemberAdmin(services, { user, request }, membership, { email: params.email, wanted })
    },
  }),
  route({
    method: 'DELETE',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Removes a member other than the owner from a group, and ends their shares with it.',
    compatibility: 'supported',
    params: one,
    responses: () => done('The member was removed.'),
    async handle({ user, params, request }, services) {
      const membership = await asAdministrator.getGroup(services.groups, user, params.group_id)
      const { account } = await getMember(services, membership.group, params.email)
      if (account.key === membership.group.ownerKey) {
        throw errorMessage(400, `${account.email} is group owner, can not be removed.`)
      }
      await services.groups.remove(membership, account, auditActor(user, request))
      return { success: true }
    },
  }),
]

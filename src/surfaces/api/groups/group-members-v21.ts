import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { flag, rawText, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { avatarSize, emailParam } from '../accounts/account-input.ts'
import { getUser, groupIdParam, page, perPage } from './group-input.ts'
import {
  addMembers,
  alreadyMember,
  getMember,
  MAX_PER_REQUEST,
  parseIsAdmin,
  removeByEmail,
  setMemberAdmin,
} from './group-members.ts'
import { memberItem } from './group-wire.ts'
import { addedMembers, member as memberSchema, success } from './groups.schema.ts'
import { route } from './services.ts'

const path = '/api/v2.1/groups/:group_id/members/'
const params = { group_id: groupIdParam }
const one = { group_id: groupIdParam, email: emailParam }

export const groupMemberRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Lists the members of a group, or its administrators.',
    compatibility: 'supported',
    params,
    query: {
      page,
      per_page: perPage(100),
      is_admin: flag({ lenient: true, default: false }),
      avatar_size: avatarSize,
    },
    responses: () => ({ 200: json(kinds.array(memberSchema), 'The members.') }),
    async handle({ user, params, query, request }, { groups }) {
      const { group } = await groups.get(user, params.group_id)
      const offset = (query.page - 1) * query.per_page
      const wanted = { limit: query.per_page, offset, onlyAdmins: query.is_admin }
      const members = await groups.members(group, wanted)
      return members.map((member) => memberItem(group, member, request.baseUrl, query.avatar_size))
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Adds a user to a group.',
    compatibility: 'supported',
    params,
    body: { email: text() },
    responses: () => ({ 201: json(memberSchema, 'The new member.') }),
    async handle({ user, params, body, request }, services) {
      const { groups } = services
      const membership = await groups.administered(user, params.group_id)
      const account = await getUser(services, body.email)
      const isNew = await services.groups.add(membership, account, auditActor(user, request))
      if (!isNew) throw errorMessage(400, alreadyMember(account))
      return jsonResponse(201, memberItem(membership.group, { account, isAdmin: false }, request.baseUrl))
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/groups/:group_id/members/bulk/',
    auth: 'user',
    summary: 'Adds several users to a group and reports those that failed.',
    compatibility: 'supported',
    params,
    body: { emails: text() },
    responses: () => ({
      200: json(addedMembers, 'The result for each account.'),
    }),
    async handle({ user, params, body, request }, services) {
      const membership = await services.groups.administered(user, params.group_id)
      const sent = [...new Set(body.emails.split(',').map((email) => email.trim().toLowerCase()))]
      const emails = sent.filter((email) => email !== '')
      if (emails.length > MAX_PER_REQUEST) throw errorMessage(400, 'emails invalid.')
      return addMembers(services, { user, request }, membership, emails)
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/groups/:group_id/members/:email/',
    auth: 'user',
    summary: 'Describes a member of a group.',
    compatibility: 'supported',
    params: one,
    responses: () => ({ 200: json(memberSchema, 'The member.') }),
    async handle({ user, params, request }, services) {
      const { group } = await services.groups.get(user, params.group_id)
      return memberItem(group, await getMember(services, group, params.email), request.baseUrl)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/groups/:group_id/members/:email/',
    auth: 'user',
    summary: 'Makes a member a group administrator or a regular member.',
    compatibility: 'supported',
    params: one,
    body: { is_admin: rawText() },
    responses: () => ({ 200: json(memberSchema, 'The changed member.') }),
    async handle({ user, params, body, request }, services) {
      const wanted = parseIsAdmin(body.is_admin)
      const membership = await services.groups.owned(user, params.group_id)
      return setMemberAdmin(services, { user, request }, membership, { email: params.email, wanted })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/groups/:group_id/members/:email/',
    auth: 'user',
    summary: 'Removes a member from a group, or leaves it, and ends their shares with it.',
    compatibility: 'supported',
    params: one,
    responses: () => success('The member was removed.'),
    async handle({ user, params, request }, services) {
      const membership = await services.groups.get(user, params.group_id)
      await removeByEmail(services, { user, request }, membership, params.email)
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/groups/:group_id/search-member/',
    auth: 'user',
    summary: 'Searches members of a group.',
    compatibility: 'supported',
    params,
    query: { q: text(), avatar_size: avatarSize },
    responses: () => ({
      200: json(kinds.array(memberSchema), 'The members that match.'),
    }),
    async handle({ user, params, query, request }, { groups }) {
      const { group } = await groups.get(user, params.group_id)
      if (query.q === '') throw errorMessage(400, 'q invalid.')
      const found = await groups.searchMembers(group, query.q)
      return found.map((member) => memberItem(group, member, request.baseUrl, query.avatar_size))
    },
  }),
]

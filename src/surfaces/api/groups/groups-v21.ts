import { json, kinds } from '../../../base/schemas/index.ts'
import { type Account, auditActor, type Group, parseEmail } from '../../../people/accounts/index.ts'
import { accepting, type Reader, rawText, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { groupIdParam } from './group-input.ts'
import { briefGroups, groupLibraries, groupRepo, groupsToWire, groupToWire } from './group-wire.ts'
import {
  group as groupDescribed,
  groupName,
  groupRecord,
  groupRepo as groupRepoSchema,
  success,
} from './groups.schema.ts'
import { type GroupServices, route } from './services.ts'

const params = { group_id: groupIdParam }

/** `0` or `1`; anything else is rejected. */
const zeroOrOne: Reader<boolean> = accepting(
  { type: 'string', enum: ['0', '1'], default: '0' },
  (fields, name) => {
    const sent = fields.text(name) || '0'
    if (sent !== '0' && sent !== '1') throw errorMessage(400, `${name} invalid.`)
    return sent === '1'
  },
)

export const groupRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/groups/',
    auth: 'user',
    summary: 'Lists the groups of the caller, optionally with the libraries shared with them.',
    compatibility: 'supported',
    callers: 'every account',
    sample: { query: { with_repos: 1 } },
    query: { with_repos: zeroOrOne },
    responses: () => ({
      200: json(
        kinds.array(
          kinds.record('GroupWithLibraries', {
            ...groupDescribed,
            repos: kinds.optional(kinds.array(groupRepoSchema, { description: 'With `with_repos=1`.' })),
          }),
        ),
        'The groups.',
      ),
    }),
    async handle({ user, query }, services) {
      const list = (await services.groups.of(user)).map(({ group }) => group)
      const shown = await groupsToWire(services, list)
      return query.with_repos ? withRepos(services, user, list, shown) : shown
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/groups/',
    auth: 'user',
    summary: 'Creates a group.',
    compatibility: 'supported',
    body: { name: text(), group_name: text() },
    responses: () => ({ 201: json(groupRecord, 'The new group.') }),
    async handle({ user, body, request }, services) {
      const group = await services.groups.create(
        user,
        body.name || body.group_name,
        auditActor(user, request),
      )
      return jsonResponse(201, await groupToWire(services, group))
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/groups/:group_id/',
    auth: 'user',
    summary: 'Describes a group to its members.',
    compatibility: 'supported',
    params,
    responses: () => ({ 200: json(groupRecord, 'The group.') }),
    async handle({ user, params }, services) {
      const { group } = await services.groups.get(user, params.group_id)
      return groupToWire(services, group)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/groups/:group_id/',
    auth: 'user',
    summary: 'Renames a group, or transfers it to another owner.',
    compatibility: 'supported',
    params,
    body: { name: rawText(), owner: rawText() },
    responses: () => ({ 200: json(groupRecord, 'The changed group.') }),
    async handle({ user, params, body, request }, services) {
      const { groups } = services
      const by = auditActor(user, request)
      let membership = await groups.administered(user, params.group_id)
      if (body.name) {
        membership = { ...membership, group: await services.groups.rename(membership, body.name, by) }
      }
      if (body.owner) {
        const owned = await groups.owned(user, params.group_id)
        const account = await newOwner(services, owned.group, body.owner)
        return groupToWire(services, await services.groups.transfer(owned, account, by))
      }
      return groupToWire(services, membership.group)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/groups/:group_id/',
    auth: 'user',
    summary: 'Deletes a group; libraries shared with it stay with their owners.',
    compatibility: 'supported',
    params,
    responses: () => success('The group was deleted.'),
    async handle({ user, params, request }, services) {
      const membership = await services.groups.owned(user, params.group_id)
      await services.groups.delete(membership, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/shareable-groups/',
    auth: 'user',
    summary: 'Lists the groups the caller can share with.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(kinds.array(groupName), 'The groups.') }),
    async handle({ user }, services) {
      return briefGroups(
        services,
        (await services.groups.of(user)).map(({ group }) => group),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/search-group/',
    auth: 'user',
    summary: "Searches the caller's groups by part of their name.",
    compatibility: { result: 'different', note: 'Finds groups the caller is in.' },
    callers: 'every account',
    sample: { query: { q: 'Kol' } },
    query: { q: text() },
    responses: () => ({ 200: json(kinds.array(groupName), 'The groups that match.') }),
    async handle({ user, query }, services) {
      if (query.q === '') throw errorMessage(400, 'q invalid.')
      const part = query.q.normalize('NFC').toLowerCase()
      const mine = (await services.groups.of(user)).map(({ group }) => group)
      return briefGroups(
        services,
        mine.filter(({ name }) => name.toLowerCase().includes(part)),
      )
    },
  }),
]

async function withRepos(
  services: GroupServices,
  user: Account,
  list: readonly Group[],
  shown: Awaited<ReturnType<typeof groupsToWire>>,
) {
  const libraries = await groupLibraries(services, user, await services.shares.sharedWithAny(list))
  const now = services.now()
  return shown.map((group) => ({
    ...group,
    repos: libraries
      .filter(({ shared }) => shared.granteeKey === group.id)
      .map((library) => groupRepo(library, now)),
  }))
}

async function newOwner({ accounts }: GroupServices, group: Group, sent: string): Promise<Account> {
  const email = parseEmail(sent)
  const account = email === undefined ? undefined : await accounts.find(email)
  if (account === undefined) throw errorMessage(400, `Email ${sent} invalid.`)
  if (account.key === group.ownerKey) throw errorMessage(400, `User ${account.email} is already group owner.`)
  return account
}

import { parseOutsideJson } from '../../../base/json.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { type Account, roleAllows } from '../../../people/accounts/index.ts'
import { flag, rawValue, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { userItem } from './account-wire.ts'
import { person } from './accounts.schema.ts'
import { type AccountServices, accountRoute as route } from './services.ts'

/** SQLite and PostgreSQL limit the parameters of a statement. */
const MAX_KNOWN = 10_000

/**
 * The keys of the accounts that the caller may find: itself, the owners of libraries it can open, and the members of its groups. Undefined for
 * all, which roles other than guests may find.
 */
async function findKnownPeople(
  { access, groups }: Pick<AccountServices, 'access' | 'groups'>,
  user: Account,
): Promise<readonly number[] | undefined> {
  if (roleAllows(user.role, 'search-people')) return undefined
  const known = new Set([user.key])
  for (const { info } of await access.listOpenable(user)) known.add(info.ownerKey)
  for (const { group } of await groups.of(user)) {
    for (const { account } of await groups.members(group)) known.add(account.key)
  }
  return [...known].slice(0, MAX_KNOWN)
}

const MAX_FOUND = 10
const MAX_ASKED = 1000

export const searchUserRoutes = [
  route({
    method: 'GET',
    path: '/api2/search-user/',
    auth: 'user',
    summary:
      'Searches active users by part of their id, name, contact e-mail or login id. Guests find the owners of libraries shared with them and the members of their groups.',
    compatibility: 'supported',
    callers: 'every account',
    sample: { query: { q: 'reader' } },
    query: { q: text(), include_self: flag({ default: true, lenient: true }) },
    responses: () => ({
      200: json(kinds.record('FoundUsers', { users: kinds.array(person) }), 'The users that match.'),
    }),
    async handle({ user, query, request }, services) {
      if (query.q === '') throw errorMessage(400, 'q invalid.')
      const among = await findKnownPeople(services, user)
      const found = await services.accounts.search(query.q, { limit: MAX_FOUND + 1, among })
      const others = found.filter(({ key }) => query.include_self || key !== user.key)
      return { users: others.slice(0, MAX_FOUND).map((account) => userItem(account, request.baseUrl)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/user-list/',
    auth: 'user',
    summary: 'Returns the names of users by their ids; to guests of those that they can find.',
    compatibility: 'supported',
    body: { user_id_list: rawValue() },
    responses: () => ({
      200: json(kinds.record('UserList', { user_list: kinds.array(person) }), 'Those that exist.'),
    }),
    async handle({ user, body, request }, services) {
      const sent = parseIds(body.user_id_list)
      if (sent === undefined) throw errorMessage(400, 'user_id_list invalid.')
      const known = await findKnownPeople(services, user)
      const found = [...(await services.accounts.findMany(sent)).values()]
      const shown = found.filter(({ key }) => known === undefined || known.includes(key))
      return { user_list: shown.map((account) => userItem(account, request.baseUrl)) }
    },
  }),
]

/** A list of strings, which a form may send as JSON. */
function parseIds(sent: unknown): string[] | undefined {
  const value = typeof sent === 'string' ? parseJson(sent) : sent
  if (!Array.isArray(value) || value.length > MAX_ASKED) return undefined
  return value.every((one) => typeof one === 'string') ? value : undefined
}

function parseJson(sent: string): unknown {
  try {
    return parseOutsideJson(sent)
  } catch {
    return sent.split(',')
  }
}

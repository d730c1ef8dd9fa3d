import { errorMessage, flag, rawValue, text } from '../../http/index.ts'
import { parseOutsideJson } from '../../json.ts'
import { route } from '../services.ts'
import { findKnownPeople } from './known-people.ts'
import { userItem } from './person-wire.ts'

const MAX_FOUND = 10
const MAX_ASKED = 1000

export const searchUserRoutes = [
  route({
    method: 'GET',
    path: '/api2/search-user/',
    auth: 'user',
    summary:
      'Searches active users by part of their id, name, contact e-mail or login id. Guests find the owners of libraries shared with them and the members of their groups.',
    query: { q: text(), include_self: flag({ default: true, lenient: true }) },
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
    body: { user_id_list: rawValue() },
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

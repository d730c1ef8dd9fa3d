import { type Account, roleAllows } from '../../identity/index.ts'
import type { ApiServices } from '../services.ts'

/** SQLite and PostgreSQL limit the parameters of a statement. */
const MAX_KNOWN = 10_000

/**
 * The keys of the accounts that the caller may find: itself, the owners of libraries it can open, and the members of its groups. Undefined for
 * all, which roles other than guests may find.
 */
export async function findKnownPeople(
  { access, groups }: Pick<ApiServices, 'access' | 'groups'>,
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

import { emailAsShown, type Person, personOf } from '../../../people/accounts/index.ts'
import type { ApiServices } from '../services.ts'

/** The owners of libraries, by key. */
export async function ownersOf(
  { accounts }: ApiServices,
  keys: Iterable<number>,
): Promise<Map<number, Person>> {
  const owners = new Map<number, Person>()
  for (const key of new Set(keys)) {
    const account = await accounts.findByKey(key)
    if (account !== undefined) owners.set(key, personOf({ ...account, email: emailAsShown(account.email) }))
  }
  return owners
}

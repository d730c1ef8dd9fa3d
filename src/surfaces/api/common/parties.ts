import {
  type Account,
  type Accounts,
  type Group,
  type Groups,
  type Person,
  personOf,
  unknownPerson,
} from '../../../people/accounts/index.ts'
import type { Share } from '../../../sharing/access/index.ts'

/** The accounts and groups that shares name. */
export interface Parties {
  readonly accounts: ReadonlyMap<number, Account>
  readonly groups: ReadonlyMap<number, Group>
}

/** One query for all accounts and one for all groups. */
export async function partiesOf(
  { accounts, groups }: { readonly accounts: Accounts; readonly groups: Groups },
  shares: readonly Share[],
  owners: readonly number[] = [],
): Promise<Parties> {
  const keysOf = (grantee: Share['grantee']) =>
    shares.filter((share) => share.grantee === grantee).map(({ granteeKey }) => granteeKey)
  const people = [...keysOf('user'), ...shares.map(({ grantedBy }) => grantedBy), ...owners]
  return {
    accounts: await accounts.findManyByKey(people),
    groups: await groups.findMany(keysOf('group')),
  }
}

export function personIn({ accounts }: Parties, key: number): Person {
  const account = accounts.get(key)
  return account === undefined ? unknownPerson('') : personOf(account)
}

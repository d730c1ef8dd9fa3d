import { toNfc } from '../../../base/paths/index.ts'
import type { Permission } from '../../../libraries/library/index.ts'
import type { LibraryInfo, LibrarySummary } from '../../../libraries/registry/index.ts'
import { type Account, type Person, personOf, unknownPerson } from '../../../people/accounts/index.ts'
import type { SharedLibrary } from '../../../sharing/access/index.ts'
import { type Parties, partiesOf } from '../common/parties.ts'
import type { LibraryServices } from './services.ts'

/** Why the caller can open a library, in the order of the listings. */
const libraryRelations = ['mine', 'shared', 'group', 'public'] as const
export type LibraryRelation = (typeof libraryRelations)[number]

/** A library in a listing, with its share if it is shared. */
export interface Listed {
  readonly relation: LibraryRelation
  readonly library: LibrarySummary
  readonly owner: Person
  readonly modifier: Person
  /** The permission of the caller. */
  readonly permission: Permission
  /** Undefined for an owned library. */
  readonly shared: SharedLibrary | undefined
}

/** Listed libraries, and the accounts and groups that their shares name. */
interface LibraryList {
  readonly entries: readonly Listed[]
  readonly parties: Parties
}

/**
 * The libraries a user can open, grouped by relation, latest change first. A library with two relations is listed
 * twice. One query per relation, and one each for owners, groups and modifiers.
 */
export async function listLibraries(
  services: Pick<LibraryServices, 'access' | 'accounts' | 'directory' | 'groups'>,
  user: Account,
  wanted: { has(relation: LibraryRelation): boolean },
  nameContains = '',
): Promise<LibraryList> {
  const part = toNfc(nameContains).toLowerCase()
  const isWanted = ({ name }: { name: string }) => part === '' || toNfc(name).toLowerCase().includes(part)
  const owned = wanted.has('mine') ? (await services.access.listOwned(user)).filter(isWanted) : []
  const shared: { relation: LibraryRelation; one: SharedLibrary }[] = []
  for (const relation of ['shared', 'group', 'public'] as const) {
    if (!wanted.has(relation)) continue
    for (const one of await services.access.listShared(user, relation)) {
      if (isWanted(one.info)) shared.push({ relation, one })
    }
  }
  const shares = shared.map(({ one }) => one)
  const [parties, people] = await Promise.all([
    partiesOf(
      services,
      shares,
      shares.map(({ info }) => info.ownerKey),
    ),
    services.directory.people([...owned, ...shares.map(({ info }) => info)].map(({ modifier }) => modifier)),
  ])
  const modifierOf = (email: string) => people.get(email) ?? unknownPerson(email)
  const self = personOf(user)
  return {
    parties,
    entries: [
      ...owned.map((library) => {
        const modifier = modifierOf(library.modifier)
        return {
          relation: 'mine' as const,
          library,
          owner: self,
          modifier,
          permission: library.permission,
          shared: undefined,
        }
      }),
      ...shared.map(({ relation, one }) => {
        const account = parties.accounts.get(one.info.ownerKey)
        const owner = account === undefined ? unknownPerson('') : personOf(account)
        const modifier = modifierOf(one.info.modifier)
        return {
          relation,
          library: summaryOf(one.info),
          owner,
          modifier,
          permission: one.permission,
          shared: one,
        }
      }),
    ],
  }
}

function summaryOf(info: LibraryInfo): LibrarySummary {
  const { key, id, name, head, size, updatedAt, modifier, modifierViaLink, status, encryption } = info
  const changed = { updatedAt, modifier, modifierViaLink }
  const encrypted = encryption !== undefined
  return { key, id, name, head, size, ...changed, status, encrypted, salt: encryption?.salt ?? '' }
}

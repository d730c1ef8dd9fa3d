import type { SharedLibrary } from '../../access/index.ts'
import type { LibraryInfo, LibrarySummary } from '../../commits/index.ts'
import { type Account, type Person, personOf, strangerCalled } from '../../identity/index.ts'
import type { Permission } from '../../library/index.ts'
import { toNfc } from '../../objects/index.ts'
import type { ApiServices } from '../services.ts'
import { type Parties, partiesOf } from '../shares/share-wire.ts'

/** The ways a library comes within reach, in the order lists show them. */
export const ways = ['mine', 'shared', 'group', 'public'] as const
export type Way = (typeof ways)[number]

/** A library in a list: what is shown of it, and for one that is shared, the share. */
export interface Listed {
  readonly way: Way
  readonly library: LibrarySummary
  readonly owner: Person
  readonly modifier: Person
  /** What the caller may do with it. */
  readonly permission: Permission
  /** Undefined for an owned library. */
  readonly shared: SharedLibrary | undefined
}

/** What lists of libraries show, and all that shares in them name. */
interface LibraryList {
  readonly entries: readonly Listed[]
  readonly parties: Parties
}

/**
 * The libraries a user can open, way by way, newest change first in each: one that is reached in two ways is there
 * twice. One query for each way, and one each for owners, groups and modifiers.
 */
export async function listLibraries(
  services: ApiServices,
  user: Account,
  wanted: { has(way: Way): boolean },
  nameContains = '',
): Promise<LibraryList> {
  const part = toNfc(nameContains).toLowerCase()
  const isWanted = ({ name }: { name: string }) => part === '' || toNfc(name).toLowerCase().includes(part)
  const owned = wanted.has('mine') ? (await services.access.listOwned(user)).filter(isWanted) : []
  const shared: { way: Way; one: SharedLibrary }[] = []
  for (const way of ['shared', 'group', 'public'] as const) {
    if (!wanted.has(way)) continue
    for (const one of await services.access.listShared(user, way)) {
      if (isWanted(one.info)) shared.push({ way, one })
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
  const modifierOf = (email: string) => people.get(email) ?? strangerCalled(email)
  const self = personOf(user)
  return {
    parties,
    entries: [
      ...owned.map((library) => {
        const modifier = modifierOf(library.modifier)
        return {
          way: 'mine' as const,
          library,
          owner: self,
          modifier,
          permission: library.permission,
          shared: undefined,
        }
      }),
      ...shared.map(({ way, one }) => {
        const account = parties.accounts.get(one.info.ownerKey)
        const owner = account === undefined ? strangerCalled('') : personOf(account)
        const modifier = modifierOf(one.info.modifier)
        return { way, library: summaryOf(one.info), owner, modifier, permission: one.permission, shared: one }
      }),
    ],
  }
}

function summaryOf(info: LibraryInfo): LibrarySummary {
  const { key, id, name, head, size, updatedAt, modifier, status, encryption } = info
  const encrypted = encryption !== undefined
  return { key, id, name, head, size, updatedAt, modifier, status, encrypted, salt: encryption?.salt ?? '' }
}

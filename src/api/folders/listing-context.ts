import { personOf, unknownPerson } from '../../identity/index.ts'
import { type Library, locksOf, starredIn } from '../../library/index.ts'
import type { ApiServices } from '../services.ts'
import { type ListingContext, modifierText, type ShownLock, tagsText } from './dirent-wire.ts'

/** A listing context to which modifiers are added folder by folder. */
export interface GrowingListingContext extends ListingContext {
  readonly modifiers: Map<string, string>
}

/** One query each for locks, stars, tags and names, independent of the length of the listing. */
export async function loadListingContext(
  services: ApiServices,
  library: Library,
  emails: readonly string[] = [],
): Promise<GrowingListingContext> {
  const modifiers = new Map<string, string>()
  const [locks, starred, tags] = await Promise.all([
    shownLocks(services, library),
    starredIn(services.core, library),
    services.tags.byPath(library),
    addModifiers(services, modifiers, emails),
  ])
  const tagTexts = new Map(Array.from(tags, ([path, ofFile]) => [path, tagsText(ofFile)]))
  return { permission: library.permission, modifiers, locks, starred, tags: tagTexts }
}

export async function addModifiers(
  { directory }: ApiServices,
  modifiers: Map<string, string>,
  emails: readonly string[],
): Promise<void> {
  const missing = emails.filter((email) => !modifiers.has(email))
  if (missing.length === 0) return
  for (const [email, person] of await directory.people(missing)) modifiers.set(email, modifierText(person))
}

async function shownLocks(
  { accounts, core }: ApiServices,
  library: Library,
): Promise<ReadonlyMap<string, ShownLock>> {
  const locks = await locksOf(core, library.info)
  const owners = new Map<number, ShownLock['owner']>()
  const shown = new Map<string, ShownLock>()
  for (const lock of locks.values()) {
    let owner = owners.get(lock.accountKey)
    if (owner === undefined) {
      const account = await accounts.findByKey(lock.accountKey)
      owner = account === undefined ? unknownPerson('') : personOf(account)
      owners.set(lock.accountKey, owner)
    }
    shown.set(lock.path, { lock, owner, mine: lock.accountKey === library.actor.key })
  }
  return shown
}

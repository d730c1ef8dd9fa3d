import type { Dirent } from '../../../base/objects/index.ts'
import { joinPath, type LibraryPath, toNfc } from '../../../base/paths/index.ts'
import { starredIn } from '../../../libraries/attributes/index.ts'
import { fileLocks, type Library } from '../../../libraries/library/index.ts'
import { personOf, unknownPerson } from '../../../people/accounts/index.ts'
import { type ListingContext, modifierText, type ShownLock, tagsText } from './dirent-wire.ts'
import type { ListingServices } from './services.ts'

/** A listing context to which modifiers and visitors' files are added folder by folder. */
export interface GrowingListingContext extends ListingContext {
  readonly modifiers: Map<string, string>
  readonly visitors: Set<string>
}

/** One query each for locks, stars and names, independent of the length of the listing, and one for the tags in each of `tagged`. */
export async function loadListingContext(
  services: ListingServices,
  library: Library,
  { emails = [], tagged = [] }: { emails?: readonly string[]; tagged?: readonly LibraryPath[] } = {},
): Promise<GrowingListingContext> {
  const modifiers = new Map<string, string>()
  const [locks, starred, tags] = await Promise.all([
    shownLocks(services, library),
    starredIn(services.core, library),
    Promise.all(tagged.map((folder) => services.tags.inFolder(library, folder))),
    addModifiers(services, modifiers, emails),
  ])
  const tagTexts = new Map(
    tags.flatMap((inFolder) => Array.from(inFolder, ([path, ofFile]) => [path, tagsText(ofFile)] as const)),
  )
  return { permission: library.permission, modifiers, locks, starred, tags: tagTexts, visitors: new Set() }
}

export async function addModifiers(
  { directory }: ListingServices,
  modifiers: Map<string, string>,
  emails: readonly string[],
): Promise<void> {
  const missing = emails.filter((email) => !modifiers.has(email))
  if (missing.length === 0) return
  for (const [email, person] of await directory.people(missing)) modifiers.set(email, modifierText(person))
}

/** Adds the files of a folder that visitors of links uploaded. */
export async function addVisitorsFiles(
  visitors: Set<string>,
  library: Library,
  folder: LibraryPath,
  files: readonly Dirent[],
): Promise<void> {
  for (const name of await library.history.listVisitorsFiles(folder, files))
    visitors.add(toNfc(joinPath(folder, name)))
}

async function shownLocks(
  { accounts, core }: ListingServices,
  library: Library,
): Promise<ReadonlyMap<string, ShownLock>> {
  const locks = await fileLocks.list(core, library.info)
  const owners = new Map<number, ShownLock['owner']>()
  const shown = new Map<string, ShownLock>()
  for (const lock of locks) {
    let owner = owners.get(lock.accountKey)
    if (owner === undefined) {
      const account = await accounts.findByKey(lock.accountKey)
      owner = account === undefined ? unknownPerson('') : personOf(account)
      owners.set(lock.accountKey, owner)
    }
    shown.set(lock.path, { lock, owner, mine: fileLocks.isHeldBy(lock, library.actor.key) })
  }
  return shown
}

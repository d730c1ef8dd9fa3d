import { DomainError, fail } from '../../base/errors.ts'
import type { Dirent } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf, parseName, ROOT } from '../../base/paths/index.ts'
import type { EditableLibrary, Library } from '../../libraries/library/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type Address, parseSnapshotName } from './address.ts'
import { davError } from './responses.ts'
import type { WebdavServices } from './services.ts'

/** What an address names: the root with all libraries, or a place in a library, where there may be nothing. */
type Resource = RootResource | LibraryResource

interface RootResource {
  readonly kind: 'root'
  readonly address: Address
}

/** A place in a library. */
export interface LibraryResource {
  readonly kind: 'file' | 'folder' | 'missing'
  readonly address: Address
  readonly library: Library
  readonly path: LibraryPath
  /** Undefined for the root of a library, and where there is nothing. */
  readonly entry: Dirent | undefined
}

/**
 * Finds what an address names. Throws a refusal if there is no such library, or if it is encrypted and locked and the address is below
 * it, and commit-not-found for a time before the library.
 */
export async function findResource(
  services: WebdavServices,
  user: Account,
  address: Address,
): Promise<Resource> {
  timeOf(address)
  if (address.library === undefined) return { kind: 'root', address }
  const current = await services.libraryNames.open(user, address.library)
  if (current === undefined) throw davError(404, 'There is no such library.')
  const library = await asOf(current, address)
  const { path } = address
  if (path === ROOT) return { kind: 'folder', address, library, path, entry: undefined }
  await refuseClosed(services, current)
  const entry = await library.tree.find(path)
  const kind = entry === undefined ? 'missing' : entry.kind === 'dir' ? 'folder' : 'file'
  return { kind, address, library, path, entry }
}

/** Throws a refusal if the library is encrypted and this credential has not given its password. */
export async function refuseClosed({ core }: WebdavServices, library: Library): Promise<void> {
  if (await core.keys.isOpen(library)) return
  const message =
    'The library is encrypted and locked. Open it in the web app, or give its password with the token you use here.'
  throw davError(403, message, { condition: 'library-locked' })
}

/** The place where an item is to be created or replaced. Throws a refusal for anything that cannot be changed, permission-denied. */
export function writable(resource: Resource): LibraryResource & { readonly editable: EditableLibrary } {
  const place = changeable(resource)
  if (place.path === ROOT) throw davError(403, 'A library cannot be changed this way.')
  return { ...place, editable: place.library.editable(parentOf(place.path)) }
}

/** As `writable`, also for the root of a library. */
export function changeable(resource: Resource): LibraryResource {
  if (resource.kind === 'root') throw davError(403, 'Libraries are created and deleted in the web app.')
  if (resource.address.snapshot !== undefined) throw davError(403, 'The past cannot be changed.')
  return resource
}

/** An item that exists. Throws a refusal. */
export function existing(resource: LibraryResource): LibraryResource & { readonly kind: 'file' | 'folder' } {
  if (resource.kind === 'missing') throw davError(404, 'There is no such item.')
  return { ...resource, kind: resource.kind }
}

/** Throws name-invalid if a new item may not have the name, and a refusal if its parent folder is missing. */
export async function refuseInvalidPlace({ kind, path, library }: LibraryResource): Promise<void> {
  if ((await library.tree.findDir(parentOf(path))) === undefined) {
    throw davError(409, 'The parent folder does not exist.')
  }
  const name = baseName(path)
  if (kind === 'missing' && parseName(name) !== name) fail({ code: 'name-invalid', name })
}

/** A library as it was at the time of the address; undefined if it did not exist then. */
export function findAsOf(library: Library, address: Address): Promise<Library | undefined> {
  return asOf(library, address).catch((error: unknown) => {
    if (error instanceof DomainError && error.fault.code === 'commit-not-found') return undefined
    throw error
  })
}

async function asOf(library: Library, address: Address): Promise<Library> {
  const time = timeOf(address)
  if (time === undefined) return library
  return library.asOf(await library.history.getTreeAtTime(time, address.snapshot ?? ''))
}

/** Unix seconds; undefined for now. Throws a refusal for a time that does not exist. */
function timeOf({ snapshot }: Address): number | undefined {
  if (snapshot === undefined) return undefined
  return parseSnapshotName(snapshot) ?? refuseUnknownTime()
}

function refuseUnknownTime(): never {
  throw davError(404, 'There is no such time.')
}

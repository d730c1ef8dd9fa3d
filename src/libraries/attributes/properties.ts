import { fail } from '../../base/errors.ts'
import { type LibraryPath, pathKey, ROOT } from '../../base/paths/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { dbOf } from '../library/for-operations.ts'
import type { EditableLibrary, Library, LibraryCore } from '../library/index.ts'
import { inOrigin, librarySizes } from '../registry/index.ts'
import {
  type DeadProperty,
  findProperties,
  listProperties,
  listPropertySizes,
  propertyBytes,
  putProperties,
} from './property-store.ts'

/** Characters of all properties of one item, in total. */
const MAX_CHARACTERS = 64 * 1024
/** Bytes of all properties of a library, whatever the quota is: a copy of a folder costs nothing but its properties. */
const MAX_LIBRARY_BYTES = 256 * 2 ** 20

/** The dead properties of an item. */
export function propertiesOf(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
): Promise<DeadProperty[]> {
  return findProperties(dbOf(core), library.info.key, inOrigin(library.info, path))
}

/** Tells the bytes of the dead properties of an item of the folder; 0 for none. */
export type PropertySizes = (path: LibraryPath) => number

/**
 * The sizes of the dead properties of the items of a folder. All properties of a large folder do not fit in memory, so they are
 * read for a few items at a time. Undefined if no item has any.
 */
export async function propertySizesIn(
  core: LibraryCore,
  { info }: Library,
  folder: LibraryPath,
): Promise<PropertySizes | undefined> {
  const sizes = await listPropertySizes(dbOf(core), info.key, inOrigin(info, folder))
  if (sizes.size === 0) return undefined
  return (path) => sizes.get(pathKey(inOrigin(info, path)).toString('hex')) ?? 0
}

/** The dead properties of some items, by their paths in this library. */
export async function propertiesOfAll(
  core: LibraryCore,
  { info }: Library,
  paths: readonly LibraryPath[],
): Promise<Map<string, DeadProperty[]>> {
  const places = new Map(paths.map((path) => [inOrigin(info, path), path]))
  const found = await listProperties(dbOf(core), info.key, [...places.keys()])
  return new Map(Array.from(found, ([place, all]) => [places.get(place as LibraryPath) ?? place, all]))
}

/**
 * Changes the dead properties of an item, all or none. False if those of the item would take too much space. Locks are not checked: that
 * is up to the caller. Throws path-not-found, quota-exceeded.
 */
export async function changeProperties(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  change: (properties: readonly DeadProperty[]) => DeadProperty[],
): Promise<boolean> {
  const { info, tree } = library
  if (path !== ROOT && (await tree.find(path)) === undefined) {
    fail({ code: 'path-not-found', path, wanted: 'Item' })
  }
  const place = inOrigin(info, path)
  return dbOf(core).write(async (tx) => {
    const before = await findProperties(tx, info.key, place)
    const properties = change(before)
    const characters = charactersOf(properties)
    if (characters > MAX_CHARACTERS) return false
    await putProperties(tx, info.key, place, properties)
    if (characters > charactersOf(before)) await refusePropertyGrowth(core, tx, info.key)
    return true
  })
}

function charactersOf(properties: readonly DeadProperty[]): number {
  return properties.reduce((sum, { xml }) => sum + xml.length, 0)
}

/**
 * Called in the transaction that stored more properties, also by a copy of items. They count against the quota of the owner like files, but only
 * here: uploads do not ask for them. Throws quota-exceeded.
 */
export async function refusePropertyGrowth(
  core: LibraryCore,
  tx: Transaction,
  libraryKey: number,
): Promise<void> {
  if ((await propertyBytes(tx, { libraryKey })) > MAX_LIBRARY_BYTES) {
    fail({ code: 'quota-exceeded', limit: MAX_LIBRARY_BYTES })
  }
  const owner = await core.growth.guard?.limitedOwner(tx, libraryKey)
  if (owner === undefined) return
  const { ownerKey, limit } = owner
  const used = (await librarySizes.bytesOf(tx, ownerKey)) + (await propertyBytes(tx, { ownerKey }))
  if (used > limit) fail({ code: 'quota-exceeded', limit })
}

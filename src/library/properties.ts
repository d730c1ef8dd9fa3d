import { asSeen, inOrigin } from '../commits/index.ts'
import { fail } from '../errors.ts'
import { type LibraryPath, ROOT } from '../objects/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { EditableLibrary, Library } from './library.ts'
import { type DeadProperty, findProperties, listPropertiesIn, putProperties } from './property-store.ts'

/** Characters of all properties of one item, in total. */
const MAX_CHARACTERS = 64 * 1024

/** The dead properties of an item. */
export function propertiesOf(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
): Promise<DeadProperty[]> {
  return findProperties(dbOf(core), library.info.key, inOrigin(library.info, path))
}

/** The dead properties of the items of a folder, by their paths in this library. */
export async function propertiesIn(
  core: LibraryCore,
  library: Library,
  folder: LibraryPath,
): Promise<Map<string, DeadProperty[]>> {
  const { info } = library
  const all = await listPropertiesIn(dbOf(core), info.key, inOrigin(info, folder))
  if (info.sub === undefined) return all
  const seen = new Map<string, DeadProperty[]>()
  for (const [path, properties] of all) seen.set(asSeen(info, path as LibraryPath) ?? path, properties)
  return seen
}

/**
 * Changes the dead properties of an item, all or none. False if they would take too much space. Locks are not checked: that
 * is up to the caller. Throws path-not-found.
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
    const properties = change(await findProperties(tx, info.key, place))
    const characters = properties.reduce((sum, { xml }) => sum + xml.length, 0)
    if (characters > MAX_CHARACTERS) return false
    await putProperties(tx, info.key, place, properties)
    return true
  })
}

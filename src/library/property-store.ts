import { type PathBinding, tableBinding } from '../commits/index.ts'
import { inGroups, type Reader, type Transaction } from '../database/index.ts'
import { type LibraryPath, parentOf, pathKey } from '../objects/index.ts'

/** A property that a WebDAV client stored. The server does not interpret it (a dead property of RFC 4918). */
export interface DeadProperty {
  readonly namespace: string
  readonly name: string
  /** The whole element, with its namespaces declared. */
  readonly xml: string
}

interface PropertyRow {
  path: string
  properties: string
}

const byPath = tableBinding('webdav_property', { rows: 'WebDAV properties', endsWithItem: true })

/** Properties follow the item at their path, and a copy of the item has them, too. */
export const propertyBinding: PathBinding = {
  ...byPath,
  async move(tx, libraryKey, from, to) {
    await byPath.move(tx, libraryKey, from, to)
    await tx.run(
      'update webdav_property set folder_key = ? where library_key = ? and path_key = ?',
      pathKey(parentOf(to)),
      libraryKey,
      pathKey(to),
    )
  },
  async copy(tx, from, to) {
    await putProperties(tx, to.libraryKey, to.path, await findProperties(tx, from.libraryKey, from.path))
  },
}

/** In the order they were set. */
export async function findProperties(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<DeadProperty[]> {
  const row = await reader.get<PropertyRow>(
    'select path, properties from webdav_property where library_key = ? and path_key = ?',
    libraryKey,
    pathKey(path),
  )
  return row === undefined ? [] : unpacked(row)
}

/** The sizes of the properties of each item of a folder that has some, by the hexadecimal path key. In bytes. */
export async function listPropertySizes(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<Map<string, number>> {
  const rows = await reader.all<{ path_key: Uint8Array; bytes: number }>(
    `select path_key, octet_length(properties) as bytes from webdav_property
     where library_key = ? and folder_key = ?`,
    libraryKey,
    pathKey(folder),
  )
  return new Map(rows.map((row) => [Buffer.from(row.path_key).toString('hex'), row.bytes]))
}

/** The properties of some items, by path. */
export async function listProperties(
  reader: Reader,
  libraryKey: number,
  paths: readonly LibraryPath[],
): Promise<Map<string, DeadProperty[]>> {
  const found = new Map<string, DeadProperty[]>()
  for (const { some, marks } of inGroups(paths.map(pathKey))) {
    const rows = await reader.all<PropertyRow>(
      `select path, properties from webdav_property where library_key = ? and path_key in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const row of rows) found.set(row.path, unpacked(row))
  }
  return found
}

/** Replaces all properties of an item. */
export async function putProperties(
  tx: Transaction,
  libraryKey: number,
  path: LibraryPath,
  properties: readonly DeadProperty[],
): Promise<void> {
  const key = pathKey(path)
  await tx.run('delete from webdav_property where library_key = ? and path_key = ?', libraryKey, key)
  if (properties.length === 0) return
  const packed = properties.map(({ namespace, name, xml }) => ({ namespace, name, xml }))
  const columns = ['library_key', 'path_key', 'path', 'folder_key', 'properties']
  const row = [libraryKey, key, path, pathKey(parentOf(path)), JSON.stringify(packed)]
  await tx.insert('webdav_property', columns, [row])
}

function unpacked({ properties }: PropertyRow): DeadProperty[] {
  return JSON.parse(properties) as DeadProperty[]
}

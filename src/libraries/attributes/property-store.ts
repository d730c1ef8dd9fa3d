import { type LibraryPath, parentOf, pathKey } from '../../base/paths/index.ts'
import { inGroups, type Reader, type Transaction } from '../../platform/database/index.ts'
import { libraryRows, type PathBinding, tableBinding } from '../registry/index.ts'

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
    // Those at `to` belonged to an item that is gone.
    if ((await findProperties(tx, libraryKey, from)).length > 0) await deleteProperties(tx, libraryKey, to)
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
  drop: deleteProperties,
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
  await deleteProperties(tx, libraryKey, path)
  if (properties.length === 0) return
  const packed = JSON.stringify(properties.map(({ namespace, name, xml }) => ({ namespace, name, xml })))
  const columns = ['library_key', 'path_key', 'path', 'folder_key', 'properties']
  const row = [libraryKey, pathKey(path), path, pathKey(parentOf(path)), packed]
  await tx.insert('webdav_property', columns, [row])
  await addUsage(tx, libraryKey, Buffer.byteLength(packed))
}

async function deleteProperties(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  const row = await tx.get<{ bytes: number }>(
    `delete from webdav_property where library_key = ? and path_key = ?
     returning octet_length(properties) as bytes`,
    libraryKey,
    pathKey(path),
  )
  if (row !== undefined) await addUsage(tx, libraryKey, -row.bytes)
}

/** The bytes of all properties of a library, and of all libraries of an owner. */
export async function propertyBytes(
  reader: Reader,
  of: { readonly libraryKey: number } | { readonly ownerKey: number },
): Promise<number> {
  const row =
    'libraryKey' in of
      ? await reader.get<{ bytes: number | string | null }>(
          'select bytes from webdav_property_usage where library_key = ?',
          of.libraryKey,
        )
      : await reader.get<{ bytes: number | string | null }>(
          `select sum(u.bytes) as bytes from webdav_property_usage u
             join ${libraryRows.wholeRelation} library on library.key = u.library_key where library.owner_key = ?`,
          of.ownerKey,
        )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return Number(row?.bytes ?? 0)
}

async function addUsage(tx: Transaction, libraryKey: number, bytes: number): Promise<void> {
  await tx.run(
    `insert into webdav_property_usage (library_key, bytes) values (?, ?)
     on conflict (library_key) do update set bytes = webdav_property_usage.bytes + excluded.bytes`,
    libraryKey,
    bytes,
  )
}

function unpacked({ properties }: PropertyRow): DeadProperty[] {
  return JSON.parse(properties) as DeadProperty[]
}

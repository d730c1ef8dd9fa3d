import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { PathBinding } from '../../libraries/registry/index.ts'
import type { Transaction } from '../../platform/database/index.ts'

/** Links follow the item they lead to. A path may have many; those of a deleted item lead nowhere. */
export const linkBinding: PathBinding = {
  rows: 'links',
  paths: 'select path, path_key from link where library_key = ? and path_key is not null',
  endsWithItem: true,
  async rekey(tx, libraryKey, path) {
    const sql = 'update link set path_key = ? where library_key = ? and path = ? and path_key is not null'
    await tx.run(sql, pathKey(path), libraryKey, path)
  },
  async move(tx, libraryKey, from, to) {
    await endTickets(tx, libraryKey, from)
    const sql = 'update link set path = ?, path_key = ? where library_key = ? and path_key = ?'
    await tx.run(sql, to, pathKey(to), libraryKey, pathKey(from))
  },
  async drop(tx, libraryKey, path) {
    await endTickets(tx, libraryKey, path)
    const sql = 'update link set path_key = null where library_key = ? and path_key = ?'
    await tx.run(sql, libraryKey, pathKey(path))
  },
  async listItems(reader, libraryKey) {
    const rows = await reader.all<{ path: string; is_dir: number }>(
      'select distinct path, is_dir from link where library_key = ? and path_key is not null',
      libraryKey,
    )
    return rows.map((row) => ({ path: row.path as LibraryPath, isDir: row.is_dir === 1 }))
  },
}

/** Ends the transfers opened by the links of a path: they name the path, which may become that of another item. */
async function endTickets(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  const links = 'select key from link where library_key = ? and path_key = ?'
  await tx.run(`delete from ticket where link_key in (${links})`, libraryKey, pathKey(path))
}

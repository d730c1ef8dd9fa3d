import { hash } from 'node:crypto'
import type { Migration } from './types.ts'

const ROWS_AT_ONCE = 1000

export const annotationsByFolder: Migration = {
  version: 28,
  name: 'annotations by folder',
  async up(tx, { bytes }) {
    // The hash of the parent folder. A listing reads only the annotations of its own entries.
    await tx.run(`alter table annotated_file add column folder_key ${bytes}`)
    await tx.run('create index annotated_file_by_folder on annotated_file (library_key, folder_key)')
    for (let after = 0; ; ) {
      const rows = await tx.all<{ key: number; path: string }>(
        'select key, path from annotated_file where key > ? order by key limit ?',
        after,
        ROWS_AT_ONCE,
      )
      for (const { key, path } of rows) {
        const folder = path.slice(0, Math.max(1, path.lastIndexOf('/')))
        const folderKey = hash('sha1', folder, 'buffer')
        await tx.run('update annotated_file set folder_key = ? where key = ?', folderKey, key)
        after = key
      }
      if (rows.length < ROWS_AT_ONCE) return
    }
  },
}

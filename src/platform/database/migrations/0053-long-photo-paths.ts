import { hash } from 'node:crypto'
import type { Migration } from './types.ts'

const MAX_BYTES = 1024
const ROWS_AT_ONCE = 100

export const longPhotoPaths: Migration = {
  version: 53,
  name: 'long photo paths',
  kind: 'expand',
  async up(tx, { text }) {
    // Before the column is added, which locks the table for other nodes.
    const long = await tx.all<{ key: number }>(
      `select key from photo where octet_length(parent) > ${MAX_BYTES}`,
    )
    // The folder of a photo, if it has more than 1,024 bytes: PostgreSQL rejects index entries of more than 2,704 bytes. `parent` is then the start
    // of it, a colon and its SHA-1. Nodes of older versions store every folder in `parent`, and fail as before where it does not fit.
    await tx.run(`alter table photo add column long_parent ${text}`)
    // SQLite has no such limit, but its rows may be moved to PostgreSQL.
    for (let from = 0; from < long.length; from += ROWS_AT_ONCE) {
      const keys = long.slice(from, from + ROWS_AT_ONCE).map(({ key }) => key)
      const rows = await tx.all<{ key: number; parent: string }>(
        `select key, parent from photo where key in (${keys.map(() => '?').join(', ')})`,
        ...keys,
      )
      for (const { key, parent } of rows) {
        const short = `${start(parent)}:${hash('sha1', parent)}`
        await tx.run('update photo set parent = ?, long_parent = ? where key = ?', short, parent, key)
      }
    }
  },
}

/** The first characters of a path that fit in 1,024 bytes. */
function start(path: string): string {
  const bytes = Buffer.from(path)
  let end = MAX_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

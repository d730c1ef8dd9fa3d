import { hash } from 'node:crypto'
import { type LibraryPath, ROOT, withSlash } from '../../base/paths/index.ts'

// PostgreSQL rejects index entries of more than 2,704 bytes, and the folder of a photo is part of a unique index. Longer folders are stored in
// long_parent. Their `parent` is the start of the path, which keeps ranges of folders in order, and its hash. It is longer than this, so that
// it equals no folder that is stored as it is.
const MAX_BYTES = 1024
/** The start of a path ends at a character, which has up to 4 bytes. */
const COMMON_BYTES = MAX_BYTES - 3

/** A condition on rows of `photo` and its parameters. */
export interface PhotoCondition {
  readonly sql: string
  readonly values: readonly string[]
}

/** The folder of a row. */
export const PARENT = 'coalesce(long_parent, parent)'

/** The columns `parent` and `long_parent` of the photos in a folder. */
export function parentColumns(folder: LibraryPath): {
  readonly parent: string
  readonly longParent: string | null
} {
  const isShort = folder.length * 3 <= MAX_BYTES || Buffer.byteLength(folder) <= MAX_BYTES
  if (isShort) return { parent: folder, longParent: null }
  return { parent: `${start(folder, MAX_BYTES)}:${hash('sha1', folder)}`, longParent: folder }
}

/** The condition that a photo is directly in a folder. Nodes of versions before schema 53 store every folder in `parent`. */
export function inFolder(folder: LibraryPath): PhotoCondition {
  const { parent, longParent } = parentColumns(folder)
  if (longParent === null) return { sql: 'parent = ?', values: [parent] }
  return { sql: 'parent in (?, ?)', values: [parent, longParent] }
}

/** The condition that a photo is below a folder. The successor of `/` in byte order is `0`. */
export function below(base: LibraryPath): PhotoCondition {
  if (base === ROOT) return { sql: '1 = 1', values: [] }
  const values = [base, withSlash(base), `${base}0`]
  const common = start(withSlash(base), COMMON_BYTES)
  if (common.length > base.length) return { sql: '(parent = ? or (parent >= ? and parent < ?))', values }
  // The nearest folder above whose path all rows below it start with in the index. A name has at most 255 bytes, so it is not the root.
  const above = common.slice(0, common.lastIndexOf('/'))
  return {
    sql: `(parent >= ? and parent < ? and (${PARENT} = ? or (${PARENT} >= ? and ${PARENT} < ?)))`,
    values: [`${above}/`, `${above}0`, ...values],
  }
}

/** The first characters of a text that fit in `most` bytes. */
function start(text: string, most: number): string {
  if (text.length * 3 <= most) return text
  const bytes = Buffer.from(text)
  let end = Math.min(most, bytes.length)
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

import { hash } from 'node:crypto'
import type { LibraryPath } from './index.ts'

/** What a path is looked up by in the database: a path can be longer than an index entry may be. */
export function pathKey(path: LibraryPath): Buffer {
  return hash('sha1', path, 'buffer')
}

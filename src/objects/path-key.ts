import { hash } from 'node:crypto'
import type { LibraryPath } from './index.ts'

/** Database key of a path: its hash, because a path can exceed the maximum size of an index entry. */
export function pathKey(path: LibraryPath): Buffer {
  return hash('sha1', path, 'buffer')
}

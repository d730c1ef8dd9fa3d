import { hash } from 'node:crypto'
import { TwoGenerationCache } from '../scheduling/index.ts'
import type { LibraryPath } from './paths.ts'

const MAX_CACHED = 4000
const MAX_CACHED_LENGTH = 256

/** A request looks up the same path in many tables, and often the next request, too. */
const cached = new TwoGenerationCache<LibraryPath, Buffer>(MAX_CACHED, () => 1)

/** Database key of a path: its hash, because a path can exceed the maximum size of an index entry. The bytes are shared. */
export function pathKey(path: LibraryPath): Buffer {
  if (path.length > MAX_CACHED_LENGTH) return hash('sha1', path, 'buffer')
  const known = cached.get(path)
  if (known !== undefined) return known
  const key = hash('sha1', path, 'buffer')
  cached.set(path, key)
  return key
}

import { type LibraryPath, parsePath, pathKey, ROOT } from '../../base/paths/index.ts'
import type { LibraryInfo, PathBinding } from '../../libraries/registry/index.ts'
import { type ObjectStore, Tree } from '../../libraries/tree/index.ts'
import type { Database, Reader } from '../../platform/database/index.ts'

/** Rows that are bound to a path and do not agree with it, or with the current tree. */
interface BindingFault {
  readonly path: string
  /** What the rows are, such as `stars`. */
  readonly rows: string
  /** The rows cannot be found by their path; or what they belong to is not there any more. */
  readonly fault: 'key' | 'gone'
}

/** Compares the rows of a library that are bound to paths with their paths and with the current tree. */
export async function* findBindingFaults(
  { db, objects }: { readonly db: Database; readonly objects: ObjectStore },
  library: LibraryInfo,
  bindings: readonly PathBinding[],
): AsyncGenerator<BindingFault, void> {
  const tree = new Tree(objects, library.key, library.root)
  for (const binding of bindings) {
    const { rows, endsWithItem } = binding
    for (const { path, path_key } of await listBound(db, binding, library.key)) {
      if (parsePath(path) !== path || !Buffer.from(path_key).equals(pathKey(path as LibraryPath))) {
        yield { path, rows, fault: 'key' }
        // The root is not an entry of any folder, and always there.
      } else if (endsWithItem && path !== ROOT && (await tree.find(path as LibraryPath)) === undefined) {
        yield { path, rows, fault: 'gone' }
      }
    }
  }
}

async function listBound(
  reader: Reader,
  { paths }: PathBinding,
  libraryKey: number,
): Promise<{ path: string; path_key: Uint8Array }[]> {
  return reader.all<{ path: string; path_key: Uint8Array }>(paths, libraryKey)
}

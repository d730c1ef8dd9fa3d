import type { Selected } from '../api/index.ts'
import { join } from '../paths.ts'

/** Whether entries can be copied or moved into a folder: not into the one they are in, nor into themselves. */
export function canContain(to: { libraryId: string; path: string }, selected: Selected): boolean {
  if (selected.libraryId !== to.libraryId) return true
  if (selected.folder === to.path) return false
  return !selected.names.some((name) => `${to.path}/`.startsWith(`${join(selected.folder, name)}/`))
}

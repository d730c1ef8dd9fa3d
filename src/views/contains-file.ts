import type { LibraryInfo } from '../commits/index.ts'
import { type DirId, EMPTY_ID, type FileId } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import type { ViewStores } from './sub-libraries.ts'

/**
 * Whether a library shows a file, asked by its id alone. Of a whole library every object is its holder's to read; a
 * sub-library shows its folder, and the objects of other folders are not in it (I7).
 */
export async function containsFile(
  { objects }: Pick<ViewStores, 'objects'>,
  { info }: { info: LibraryInfo },
  file: FileId,
): Promise<boolean> {
  if (info.sub === undefined) return true
  const pace = new TimeSlicer()
  const open: DirId[] = [info.root]
  const seen = new Set<DirId>(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (pace.isDue) await pace.rest()
    const { dir } = await objects.getDir(info.key, next)
    for (const entry of dir.entries) {
      if (entry.kind === 'file' && entry.id === file) return true
      if (entry.kind !== 'dir' || entry.id === EMPTY_ID || seen.has(entry.id)) continue
      seen.add(entry.id)
      open.push(entry.id)
    }
  }
  return false
}

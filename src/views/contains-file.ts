import type { LibraryInfo } from '../commits/index.ts'
import { type DirId, EMPTY_ID, type FileId } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import type { ViewStores } from './sub-libraries.ts'

/**
 * Whether a library shows the file with an id. All objects of a whole library are readable. A sub-library shows only the
 * objects of its folder (I7).
 */
export async function containsFile(
  { objects }: Pick<ViewStores, 'objects'>,
  { info }: { info: LibraryInfo },
  file: FileId,
): Promise<boolean> {
  if (info.sub === undefined) return true
  if (info.rootDir !== undefined) return info.rootDir.dir.entries.some(({ id }) => id === file)
  const slicer = new TimeSlicer()
  const open: DirId[] = [info.root]
  const seen = new Set<DirId>(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (slicer.isDue) await slicer.rest()
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

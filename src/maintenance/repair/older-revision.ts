import type { FileDirent, FileId } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { blockRows, type Content } from '../../libraries/content/index.ts'
import { addFiles } from '../../libraries/edits/index.ts'
import { oldestShown } from '../../libraries/history/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { Tree } from '../../libraries/tree/index.ts'
import type { RepairParts } from './repair-parts.ts'

const COMMITS_PER_STEP = 250

/**
 * Adds the newest whole older revision of a file next to it, as `name (recovered from DATE)`. The damaged one stays. Resolves to the path of the recovered
 * file; undefined if there is none.
 */
export async function recoverRevision(
  parts: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: FileId,
): Promise<LibraryPath | undefined> {
  const { core, isDryRun, openAsOwner } = parts
  try {
    const found = await newestWhole(parts, library, path, lost)
    if (found === undefined) return undefined
    const name = recoveredName(baseName(path), found.entry.mtime)
    const recovered = joinPath(parentOf(path), name)
    const now = await new Tree(storesOf(core).objects, library.key, library.root).find(recovered)
    // Recovered before.
    if (now?.id === found.entry.id || isDryRun) return recovered
    const editable = await openAsOwner(library)
    if (editable === undefined) return undefined
    const file = { name, content: found.content, mtime: found.entry.mtime }
    const { result } = await addFiles(core, editable, parentOf(path), [file])
    return result[0]?.path ?? recovered
  } catch {
    // A folder above is lost as well, or the file is locked: it stays among what could not be saved.
    return undefined
  }
}

async function newestWhole(
  { db, core, blockCheck }: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: FileId,
): Promise<{ entry: FileDirent; content: Content } | undefined> {
  const { key, headSeq } = library
  const oldest = await oldestShown(
    { db, now: core.now, defaultHistoryDays: core.defaultHistoryDays },
    library,
  )
  const seen = new Set<string>([lost])
  for (let from = headSeq; from >= oldest; from -= COMMITS_PER_STEP) {
    for (const commit of await commitRows.listDown(
      db,
      library,
      from,
      Math.max(oldest, from - COMMITS_PER_STEP + 1),
    )) {
      const entry = await new Tree(storesOf(core).objects, key, commit.rootId)
        .find(path)
        .catch(() => undefined)
      if (entry?.kind !== 'file' || seen.has(entry.id)) continue
      seen.add(entry.id)
      const file = await storesOf(core)
        .objects.findFile(key, entry.id)
        .catch(() => undefined)
      if (file === undefined || file.blockIds.length === 0) continue
      const ids = [...new Set(file.blockIds)]
      if ((await blockCheck.faultsOf(key, ids, { readData: true })).size > 0) continue
      const sizes = await blockRows.findHeld(db, key, ids, { orCondemned: true })
      const blocks = file.blockIds.map((id) => ({ id, size: sizes.get(id) ?? 0 }))
      return { entry, content: { id: entry.id, size: file.size, blocks, small: new Map() } }
    }
  }
  return undefined
}

/** The name of a recovered version: `name (recovered from DATE).ext`. `time` in Unix seconds. */
export function recoveredName(name: string, time: number): string {
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  return `${stem} (recovered from ${date})${extension}`
}

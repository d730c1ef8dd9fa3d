import { type LibraryPath, ROOT } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import { daysAgo, keepDays, oldestShown } from './history.ts'
import type { LibraryInfo } from './library-info.ts'
import { listTrash, type TrashCursor, type TrashRow } from './path-index-store.ts'
import { Tree } from './tree.ts'

const PAGE = 100

export interface TrashPage {
  readonly items: TrashRow[]
  /** Where the next page begins; undefined at the end. */
  readonly next: TrashCursor | undefined
}

/**
 * What was deleted below a folder, latest first, and does not exist again. A deletion that was
 * answered before this was asked is in it.
 */
export async function listTrashPage(
  core: LibraryCore,
  library: LibraryInfo,
  query: { folder?: LibraryPath; showDays?: number; cursor?: TrashCursor | undefined },
): Promise<TrashPage> {
  if (keepDays(core, library) === 0) return { items: [], next: undefined }
  await core.pathIndex.catchUp(library)
  const { folder = ROOT, showDays = 0, cursor } = query
  const rows = await listTrash(core.db, library.key, {
    folder,
    // The oldest commit shown is a state to come back to, not a deletion to undo.
    afterSeq: await oldestShown(core, library),
    sinceTime: showDays > 0 ? daysAgo(core, showDays) : 0,
    cursor,
    limit: PAGE + 1,
  })
  const page = rows.slice(0, PAGE)
  const last = page.at(-1)
  const next =
    rows.length > PAGE && last !== undefined ? { seq: last.seq, position: last.position } : undefined
  return { items: await stillGone(core, library, page), next }
}

async function stillGone(core: LibraryCore, library: LibraryInfo, rows: TrashRow[]): Promise<TrashRow[]> {
  const tree = new Tree(core.objects, library.key, library.root)
  const gone: TrashRow[] = []
  for (const row of rows) {
    const now = await tree.find(row.path)
    if (now === undefined || (now.kind === 'dir') !== row.isDir) gone.push(row)
  }
  return gone
}

import type { Database } from '../../platform/database/index.ts'
import { countDirs, type ObjectStore } from '../tree/index.ts'
import { libraryHeads } from './head-store.ts'

const LIBRARIES_PER_PAGE = 500

/** Maintenance: counts the folders of libraries written by older versions, so that no edit has to. */
export async function countAllDirs({ db, objects }: { db: Database; objects: ObjectStore }): Promise<void> {
  for (let after = 0; ; ) {
    const page = await libraryHeads.listRootsAfter(db, after, LIBRARIES_PER_PAGE)
    const last = page.at(-1)
    if (last === undefined) return
    for (const { key, root, isCounted } of page) if (!isCounted) await countDirs(objects, key, root)
    after = last.key
  }
}

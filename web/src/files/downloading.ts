import { downloadFile, type Entry } from '../api/entries.ts'
import { startArchive } from '../archives/archives.ts'
import { nameOf, parentOf } from '../paths.ts'
import { type Here, pathIn } from './here.ts'

/** One file as it is; anything more as an archive. */
export async function download(here: Here, entries: readonly Entry[]): Promise<void> {
  const [entry] = entries
  if (entry === undefined) return
  if (entries.length === 1 && entry.type === 'file') {
    await downloadFile(here.libraryId, pathIn(here, entry))
    return
  }
  startArchive({ libraryId: here.libraryId, parent: here.path, names: entries.map(({ name }) => name) })
}

/** The folder that is shown, with everything in it. */
export function downloadFolder({ libraryId, path }: Here, all: readonly Entry[]): void {
  if (path === '/') startArchive({ libraryId, parent: '/', names: all.map(({ name }) => name) })
  else startArchive({ libraryId, parent: parentOf(path), names: [nameOf(path)] })
}

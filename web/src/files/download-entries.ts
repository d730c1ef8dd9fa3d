import { downloadFile, type Entry } from '../api/index.ts'
import { startArchive } from '../archives/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'

/** Downloads a single file directly, and anything else as an archive. */
export async function download(here: CurrentFolder, entries: readonly Entry[]): Promise<void> {
  const [entry] = entries
  if (entry === undefined) return
  if (entries.length === 1 && entry.type === 'file') {
    await downloadFile(here.libraryId, entryPath(here, entry))
    return
  }
  startArchive({ libraryId: here.libraryId, parent: here.path, names: entries.map(({ name }) => name) })
}

/** Downloads the current folder as an archive. */
export function downloadFolder({ libraryId, path }: CurrentFolder, all: readonly Entry[]): void {
  if (path === '/') startArchive({ libraryId, parent: '/', names: all.map(({ name }) => name) })
  else startArchive({ libraryId, parent: parentOf(path), names: [nameOf(path)] })
}

import path from 'node:path'
import type { Carrel, Entry } from '../../sdk/src/index.ts'
import { ClientError, EXIT } from './client-error.ts'
import { type Libraries, parentOfRemote, type RemoteText } from './remote-path.ts'

/** A file or folder of a library. */
export interface RemoteEntry extends Entry {
  /** Library id. */
  readonly library: string
}

const hasPattern = (text: string) => /[*?[]/.test(text)

/** The entries that a path or a glob selects, in the order of the listing. Throws not-found if there are none. */
export async function select(
  { carrel, libraries }: { carrel: Carrel; libraries: Libraries },
  text: RemoteText,
): Promise<RemoteEntry[]> {
  const { id: library } = await libraries.get(text.library)
  const found = hasPattern(text.path)
    ? await matching(carrel, library, text.path)
    : [await carrel.find(library, text.path)].filter((entry) => entry !== undefined)
  const wanted = text.isFolder ? found.filter(({ kind }) => kind === 'dir') : found
  if (wanted.length === 0) {
    // A name with the characters of a pattern can be meant literally.
    const literal = hasPattern(text.path) ? await carrel.find(library, text.path) : undefined
    if (literal !== undefined) return [{ ...literal, library }]
    throw new ClientError(`There is no ${text.library}:${text.path}.`, EXIT.notFound)
  }
  return wanted.map((entry) => ({ ...entry, library }))
}

/** The entry at a path. Throws not-found. */
export async function getEntry(
  session: { carrel: Carrel; libraries: Libraries },
  text: RemoteText,
): Promise<RemoteEntry> {
  const { id: library } = await session.libraries.get(text.library)
  const entry = await session.carrel.find(library, text.path)
  if (entry === undefined) {
    throw new ClientError(`There is no ${text.library}:${text.path}.`, EXIT.notFound)
  }
  return { ...entry, library }
}

/** Lists only the folders that the pattern can reach. `**` reaches all below its folder. */
async function matching(carrel: Carrel, library: string, pattern: string): Promise<Entry[]> {
  const segments = pattern.split('/').slice(1)
  const first = segments.findIndex(hasPattern)
  const base = `/${segments.slice(0, first).join('/')}`
  const found: Entry[] = []
  await descend(carrel, library, base === '/' ? '/' : base, segments.slice(first), found)
  return found
}

async function descend(
  carrel: Carrel,
  library: string,
  folder: string,
  [pattern = '', ...rest]: readonly string[],
  found: Entry[],
): Promise<void> {
  for await (const entry of carrel.list(library, folder)) {
    if (pattern === '**') {
      if (rest.length === 0 || matchesName(entry.name, rest[0] ?? '')) {
        if (rest.length < 2) found.push(entry)
        else if (entry.kind === 'dir') await descend(carrel, library, entry.path, rest.slice(1), found)
      }
      if (entry.kind === 'dir') await descend(carrel, library, entry.path, [pattern, ...rest], found)
    } else if (matchesName(entry.name, pattern)) {
      if (rest.length === 0) found.push(entry)
      else if (entry.kind === 'dir') await descend(carrel, library, entry.path, rest, found)
    }
  }
}

/** Whether one name matches a glob. A name that starts with a dot is matched only by a pattern that does. */
export function matchesName(name: string, pattern: string): boolean {
  return path.posix.matchesGlob(name, pattern)
}

/** Groups entries by library and folder, because one call changes entries of one folder. */
export function byFolder(
  entries: readonly RemoteEntry[],
): { library: string; folder: string; names: string[] }[] {
  const groups = new Map<string, { library: string; folder: string; names: string[] }>()
  for (const { library, path: entry, name } of entries) {
    const folder = parentOfRemote(entry)
    const key = `${library} ${folder}`
    const group = groups.get(key) ?? { library, folder, names: [] }
    group.names.push(name)
    groups.set(key, group)
  }
  return [...groups.values()]
}

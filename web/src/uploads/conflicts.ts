import { freeName, toNfc } from './names.ts'

/** Existing entries of the target folders, by their path below the target (`''` for the target itself). */
export type Known = Map<string, Map<string, 'file' | 'dir'>>

/** Planned location of one file. */
export interface Place {
  /** Folder below the target, without leading or trailing slash. */
  readonly folder: string
  readonly name: string
  /** Whether a file of that name exists. */
  readonly isTaken: boolean
}

/** Names given to files of one upload, by their folder. */
export type GivenNames = Map<string, Set<string>>

/** How to resolve name conflicts. */
export type Answer = 'keep-both' | 'replace' | 'skip'

export interface ResolvedPlace {
  readonly folder: string
  readonly name: string
  readonly replace: boolean
}

/** All folders of some paths below the target, including the target, parents first. */
export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set([''])
  for (const path of paths) {
    const names = path.split('/').slice(0, -1)
    for (let depth = 1; depth <= names.length; depth += 1) folders.add(names.slice(0, depth).join('/'))
  }
  return [...folders].sort((a, b) => depthOf(a) - depthOf(b))
}

const depthOf = (folder: string) => (folder === '' ? 0 : folder.split('/').length)

/**
 * Plans the location of each path. Where a file and a folder have the same name, or two files of one upload do, the
 * new one gets another name.
 */
export function placesOf(paths: readonly string[], known: Known, own: GivenNames = new Map()): Place[] {
  const folders = new FolderNames(known)
  return paths.map((path) => {
    const names = path.split('/').map(toNfc)
    const wanted = names.pop() ?? ''
    const folder = folders.resolve(names)
    const there = known.get(folder)
    const ours = own.get(folder) ?? new Set()
    own.set(folder, ours)
    const isNew = !ours.has(wanted) && there?.get(wanted) !== 'dir'
    const name = isNew ? wanted : freeName(wanted, (one) => ours.has(one) || (there?.has(one) ?? false))
    ours.add(name)
    return { folder, name, isTaken: there?.get(name) === 'file' }
  })
}

/** Locations of empty folders, renamed like those with files. */
export function folderPlaces(paths: readonly string[], known: Known): string[] {
  const folders = new FolderNames(known)
  return paths.map((path) => folders.resolve(path.split('/').map(toNfc)))
}

/** Applies the answer to each location; undefined for skipped files. */
export function resolveConflicts(
  places: readonly Place[],
  known: Known,
  answer: Answer,
): (ResolvedPlace | undefined)[] {
  const given = new Map<string, Set<string>>()
  for (const { folder, name } of places) given.set(folder, (given.get(folder) ?? new Set()).add(name))
  return places.map(({ folder, name, isTaken }) => {
    if (!isTaken) return { folder, name, replace: false }
    if (answer === 'skip') return undefined
    if (answer === 'replace') return { folder, name, replace: true }
    const ours = given.get(folder)
    const free = freeName(name, (one) => ours?.has(one) || known.get(folder)?.has(one) || false)
    ours?.add(free)
    return { folder, name: free, replace: false }
  })
}

/** New names of folders whose name is taken by a file. */
class FolderNames {
  readonly #known: Known
  readonly #resolved = new Map<string, string>([['', '']])

  constructor(known: Known) {
    this.#known = known
  }

  resolve(names: readonly string[]): string {
    const asked = names.join('/')
    const before = this.#resolved.get(asked)
    if (before !== undefined) return before
    const parent = this.resolve(names.slice(0, -1))
    const there = this.#known.get(parent)
    const wanted = names.at(-1) ?? ''
    const name = there?.get(wanted) === 'file' ? freeName(wanted, (one) => there.has(one)) : wanted
    const folder = parent === '' ? name : `${parent}/${name}`
    this.#resolved.set(asked, folder)
    return folder
  }
}

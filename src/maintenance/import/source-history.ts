import { type CommitId, InvalidObject, type LibraryId } from '../../base/objects/index.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout } from './seafile-layout.ts'
import { parseSourceCommit, type SourceCommit } from './seafile-objects.ts'

/** The commits of a library, oldest first: each with the commits that only its merge brought in. */
interface SourceHistory {
  readonly version: number
  readonly steps: readonly { readonly id: CommitId; readonly merged: readonly CommitId[] }[]
}

/** A commit of the source. Undefined if it is missing or damaged. */
export async function findSourceCommit(
  layout: SeafileLayout,
  library: LibraryId,
  id: string,
): Promise<SourceCommit | undefined> {
  const bytes = await layout.readCommit(library, id)
  if (bytes === undefined) return undefined
  try {
    const found = parseSourceCommit(bytes)
    return found.commit.libraryId === library && found.commit.id === id ? found : undefined
  } catch (error) {
    if (error instanceof InvalidObject) return undefined
    throw error
  }
}

/**
 * Follows the first parents of a head. `validSince` (Unix seconds) is the time before which the source has given up the history: the first commit
 * that is not later is the oldest. Only ids are kept in memory.
 */
export async function readHistory(
  layout: SeafileLayout,
  library: LibraryId,
  head: CommitId,
  { validSince, problems }: { readonly validSince: number; readonly problems: Problems },
): Promise<SourceHistory | undefined> {
  const chain: { id: CommitId; secondParentId: CommitId | null }[] = []
  const known = new Set<string>()
  let version = 1
  for (let next: CommitId | null = head; next !== null && !known.has(next); ) {
    const found: SourceCommit | undefined = await findSourceCommit(layout, library, next)
    if (found === undefined) {
      if (chain.length === 0) return undefined
      problems.add(
        'history-cut',
        `The commit ${next} is missing or damaged: the history before it is lost.`,
        library,
      )
      break
    }
    if (chain.length === 0) version = found.version
    const { commit } = found
    known.add(commit.id)
    chain.push({ id: commit.id, secondParentId: commit.secondParentId })
    next = commit.ctime <= validSince ? null : commit.parentId
  }
  chain.reverse()
  const steps: { id: CommitId; merged: CommitId[] }[] = []
  for (const { id, secondParentId } of chain) {
    steps.push({ id, merged: await mergedBy(layout, library, secondParentId, known) })
  }
  return { version, steps }
}

/** Commits that a merge brought in, oldest first. They are added to `known`. */
async function mergedBy(
  layout: SeafileLayout,
  library: LibraryId,
  from: CommitId | null,
  known: Set<string>,
): Promise<CommitId[]> {
  const merged: { id: CommitId; ctime: number }[] = []
  const open = from === null ? [] : [from]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (known.has(id)) continue
    const found = await findSourceCommit(layout, library, id)
    if (found === undefined) continue
    known.add(id)
    merged.push({ id, ctime: found.commit.ctime })
    for (const parent of [found.commit.parentId, found.commit.secondParentId])
      if (parent !== null) open.push(parent)
  }
  return merged.sort((a, b) => a.ctime - b.ctime).map(({ id }) => id)
}

/** The newest commit that no other one names as a parent: the head of a library whose database is not known. */
export async function guessHead(layout: SeafileLayout, library: LibraryId): Promise<CommitId | undefined> {
  const parents = new Set<string>()
  const times = new Map<CommitId, number>()
  for await (const id of layout.listCommits(library)) {
    const found = await findSourceCommit(layout, library, id)
    if (found === undefined) continue
    const { commit } = found
    times.set(commit.id, commit.ctime)
    for (const parent of [commit.parentId, commit.secondParentId]) if (parent !== null) parents.add(parent)
  }
  return newestOf([...times].filter(([id]) => !parents.has(id)))
}

/** The heads of the libraries of version 0, which share one folder of commits. */
export async function guessOldHeads(layout: SeafileLayout): Promise<Map<LibraryId, CommitId>> {
  const parents = new Set<string>()
  const found = new Map<LibraryId, [CommitId, number][]>()
  for await (const id of layout.listCommits(undefined)) {
    const bytes = await layout.readCommit('00000000-0000-0000-0000-000000000000' as LibraryId, id)
    try {
      if (bytes === undefined) continue
      const { commit } = parseSourceCommit(bytes)
      const list = found.get(commit.libraryId) ?? []
      list.push([commit.id, commit.ctime])
      found.set(commit.libraryId, list)
      for (const parent of [commit.parentId, commit.secondParentId]) if (parent !== null) parents.add(parent)
    } catch (error) {
      if (!(error instanceof InvalidObject)) throw error
    }
  }
  const heads = new Map<LibraryId, CommitId>()
  for (const [library, commits] of found) {
    const head = newestOf(commits.filter(([id]) => !parents.has(id)))
    if (head !== undefined) heads.set(library, head)
  }
  return heads
}

function newestOf(commits: readonly (readonly [CommitId, number])[]): CommitId | undefined {
  let newest: readonly [CommitId, number] | undefined
  for (const one of commits) if (newest === undefined || one[1] > newest[1]) newest = one
  return newest?.[0]
}

import { Dir, type Dirent, type DirId, EMPTY_ID, type FileDirent } from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { changedEntries } from '../tree/index.ts'
import { type ExportSource, findDir } from './export-source.ts'

/** A path to be set or, without an entry, deleted with everything below it. Empty for the root. */
interface DeltaStep {
  readonly path: string
  readonly entry: FileDirent | undefined
}

/** What becomes of items that git cannot hold. */
interface DeltaOptions {
  /** Why an entry of this name is left out; undefined to include it. */
  readonly leftOut: (name: string) => string | undefined
  readonly onSkipped: (path: string, reason: string) => void
}

/**
 * The files that lead from one tree to another, in time proportional to what differs. Folders appear only by their files. One level of folders is in
 * memory at a time.
 */
export async function* treeDelta(
  source: ExportSource,
  before: DirId,
  after: DirId,
  options: DeltaOptions,
  at = '',
  slicer = new TimeSlicer(),
): AsyncGenerator<DeltaStep, void> {
  if (before === after) return
  let old = await findDir(source, before)
  if (old === undefined) {
    // It was left out of the previous commit, so everything is new.
    old = Dir.empty
    yield { path: at, entry: undefined }
  }
  const now = await findDir(source, after)
  if (now === undefined) {
    options.onSkipped(at || '/', 'the server has lost it')
    yield { path: at, entry: undefined }
    return
  }
  const { changes, old: replaced } = await changedEntries(old, now, slicer)
  const former = new Map(replaced.map((entry) => [entry.name, entry]))
  for (const [name, entry] of changes) {
    const path = at === '' ? name : `${at}/${name}`
    const reason = options.leftOut(name)
    if (reason !== undefined) {
      if (entry !== null) options.onSkipped(`/${path}`, reason)
      continue
    }
    const previous = former.get(name)
    if (previous !== undefined && previous.kind !== entry?.kind) yield { path, entry: undefined }
    if (entry?.kind === 'dir') {
      const from = previous?.kind === 'dir' ? previous.id : EMPTY_ID
      yield* treeDelta(source, from, entry.id, options, path, slicer)
    } else if (entry?.kind === 'file' && !isSameInGit(previous, entry)) yield { path, entry }
  }
}

/** The mode that git stores: it knows only whether a file is executable. */
export function gitMode({ mode }: FileDirent): '100644' | '100755' {
  return (mode & 0o100) === 0 ? '100644' : '100755'
}

function isSameInGit(before: Dirent | undefined, now: FileDirent): boolean {
  return before?.kind === 'file' && before.id === now.id && gitMode(before) === gitMode(now)
}

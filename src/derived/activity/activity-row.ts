import type { CommitId } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import type { NumberedCommit } from '../../libraries/commits/index.ts'
import { commitMessages } from '../../libraries/commits/index.ts'
import type { Change } from '../../libraries/tree/index.ts'

export type ActivityOp = 'create' | 'delete' | 'edit' | 'rename' | 'move' | 'recover' | 'clean-up-trash'
export type ActivityObject = 'repo' | 'dir' | 'file'

/** One entry of the feed. */
export interface Activity {
  readonly op: ActivityOp
  readonly object: ActivityObject
  readonly path: LibraryPath
  /** The previous path, if it was renamed or moved. */
  readonly oldPath: LibraryPath | undefined
  /** The previous name of the library, if that changed. */
  readonly oldName: string | undefined
  readonly author: string
  /** A visitor of a link made the change; `author` is the creator of the link. */
  readonly viaLink?: boolean
  /** Unix seconds. */
  readonly at: number
  readonly commitId: CommitId | undefined
  /** For an emptied trash: the number of days that were kept. */
  readonly days: number | undefined
  /** The number of further changes of its kind in the commit that have no activities of their own. */
  readonly unlisted?: number
}

/** An activity derived from a commit. */
export interface CommitActivity extends Activity {
  readonly seq: number
}

/**
 * A commit with more changes has only this many activities, the first by path, and one of each further kind. The last of a kind counts those that are left
 * out. The details of the commit list all changes.
 */
const MAX_ROWS_PER_COMMIT = 100
// The maximum length of an e-mail address. The author of an imported commit has no limit, the column is indexed, and PostgreSQL rejects index entries of
// more than 2,704 bytes.
const MAX_AUTHOR = 255

/** The activities of a commit: one per change. A folder with its content is one change. */
export function activitiesOf(
  commit: NumberedCommit,
  changes: readonly Change[],
  rename: { readonly oldName: string } | undefined,
): CommitActivity[] {
  const common = {
    seq: commit.seq,
    author: (commit.creatorName ?? '').slice(0, MAX_AUTHOR).toWellFormed(),
    ...(commit.viaLink && { viaLink: true }),
    at: commit.ctime,
    commitId: commit.id,
    oldPath: undefined,
    oldName: undefined,
    days: undefined,
  }
  const found: CommitActivity[] = []
  if (commit.seq === 1) found.push({ ...common, op: 'create', object: 'repo', path: ROOT })
  if (rename !== undefined) {
    found.push({ ...common, op: 'rename', object: 'repo', path: ROOT, oldName: rename.oldName })
  }
  const recovers = commitMessages.isRecovery(commit.description)
  const lastOfKind = new Map<string, { index: number; unlisted: number }>()
  for (const change of changes) {
    const what = opOf(change, recovers)
    if (what === undefined) continue
    const kind = `${what.op} ${change.entry.kind}`
    const last = lastOfKind.get(kind)
    if (last === undefined || found.length < MAX_ROWS_PER_COMMIT) {
      lastOfKind.set(kind, { index: found.length, unlisted: 0 })
      found.push({ ...common, object: change.entry.kind, ...what })
    } else last.unlisted += 1
  }
  for (const { index, unlisted } of lastOfKind.values()) {
    const last = found[index]
    if (unlisted > 0 && last !== undefined) found[index] = { ...last, unlisted }
  }
  return found
}

/** The longest prefix of the activities whose paths have at most this many characters. */
export function fitting<T extends Pick<Activity, 'path' | 'oldPath'>>(
  activities: readonly T[],
  mostCharacters: number,
): readonly T[] {
  let characters = 0
  const end = activities.findIndex(({ path, oldPath }) => {
    characters += path.length + (oldPath?.length ?? 0)
    return characters > mostCharacters
  })
  return end < 0 ? activities : activities.slice(0, end)
}

/** Undefined for a change of time or mode only. */
function opOf(change: Change, recovers: boolean): Pick<Activity, 'op' | 'path' | 'oldPath'> | undefined {
  switch (change.op) {
    case 'added':
      return { op: recovers ? 'recover' : 'create', path: change.path, oldPath: undefined }
    case 'deleted':
      return { op: 'delete', path: change.path, oldPath: undefined }
    case 'modified':
      if (change.entry.id === change.before.id) return undefined
      return { op: recovers ? 'recover' : 'edit', path: change.path, oldPath: undefined }
    case 'renamed': {
      const stays = parentOf(change.path) === parentOf(change.newPath)
      return { op: stays ? 'rename' : 'move', path: change.newPath, oldPath: change.path }
    }
  }
}

import type { Dirent } from '../../../base/objects/index.ts'
import type { NumberedCommit } from '../../../libraries/commits/index.ts'
import type { Change } from '../../../libraries/tree/index.ts'
import { type Person, unknownPerson } from '../../../people/accounts/index.ts'
import { isoTime } from '../common/wire-formats.ts'

/** An entry of `GET /api/v2.1/repos/<id>/history/`. */
export function historyEntry(commit: NumberedCommit, people: ReadonlyMap<string, Person>) {
  const creator = creatorOf(commit, people)
  return {
    commit_id: commit.id,
    time: isoTime(commit.ctime),
    description: shownDescription(commit),
    creator: creator.email,
    email: creator.email,
    name: creator.name,
    contact_email: creator.contactEmail,
    ...viaLinkField(commit),
    client_version: commit.clientVersion ?? null,
    device_name: commit.deviceName ?? null,
    second_parent_id: commit.secondParentId,
    tags: [],
  }
}

/** A commit as `/api2/` lists it. */
export function commitRecord(commit: NumberedCommit) {
  return {
    id: commit.id,
    creator_name: commit.creatorName ?? '',
    creator: commit.creator,
    ...viaLinkField(commit),
    desc: shownDescription(commit),
    ctime: commit.ctime,
    repo_id: commit.libraryId,
    root_id: commit.rootId,
    parent_id: commit.parentId,
    second_parent_id: commit.secondParentId,
    version: 1,
    new_merge: commit.newMerge,
    conflict: commit.conflict,
    rev_file_id: null,
    rev_file_size: 0,
    rev_renamed_old_path: null,
    device_name: commit.deviceName ?? null,
    client_version: commit.clientVersion ?? null,
  }
}

/** A commit and what it changed. */
export function commitDetail(commit: NumberedCommit, changes: readonly Change[], creator: Person) {
  return {
    commit_info: {
      creator_email: creator.email,
      creator_name: creator.name,
      creator_contact_email: creator.contactEmail,
      ...viaLinkField(commit),
      time: isoTime(commit.ctime),
      description: shownDescription(commit),
      device_name: commit.deviceName ?? null,
    },
    commit_diffs: changes.map((change) => ({
      op_type: operationOf(change),
      path: change.path,
      new_path: change.op === 'renamed' ? change.newPath : '',
    })),
  }
}

/** Says that a visitor of a link made the change. The creator is then the creator of the link. */
export function viaLinkField({ viaLink }: NumberedCommit): { via_link?: true } {
  return viaLink ? { via_link: true } : {}
}

function operationOf({ op, entry }: Change): string {
  if (op === 'added') return entry.kind === 'dir' ? 'newdir' : 'new'
  if (op === 'deleted') return entry.kind === 'dir' ? 'deldir' : 'removed'
  return op
}

/** Paths by kind of change, without the kinds that did not occur. */
export function changesByKind(changes: readonly Change[]): Record<string, string[]> {
  const lists: Record<string, string[]> = {}
  for (const change of changes) {
    const paths = change.op === 'renamed' ? [change.path, change.newPath] : [change.path]
    ;(lists[listOf(change)] ??= []).push(...paths)
  }
  return lists
}

function listOf({ op, entry }: Change): string {
  // Renamed files and folders share one list of old and new paths.
  if (op === 'renamed' || op === 'modified') return `${op}_files`
  return `${op}_${entry.kind === 'dir' ? 'dirs' : 'files'}`
}

/** An entry of a folder as of a commit. */
export function commitDirent(entry: Dirent, parentDir: string) {
  const { name, id } = entry
  return entry.kind === 'dir'
    ? { type: 'dir', parent_dir: parentDir, obj_id: id, name }
    : { type: 'file', parent_dir: parentDir, obj_id: id, name, size: entry.size }
}

export function creatorOf(commit: NumberedCommit, people: ReadonlyMap<string, Person>): Person {
  const email = commit.creatorName ?? ''
  return people.get(email) ?? unknownPerson(email)
}

/** Shows "library" where a stored description says "repo". */
export function shownDescription({ description }: NumberedCommit): string {
  return description.replace(/^Reverted repo /, 'Reverted library ')
}

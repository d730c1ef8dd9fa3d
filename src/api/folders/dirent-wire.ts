import type { Person } from '../../identity/index.ts'
import type { FileLock, Permission } from '../../library/index.ts'
import { type Dirent, joinPath, type LibraryPath, toNfc } from '../../objects/index.ts'

/** A lock and who holds it. */
export interface ShownLock {
  readonly lock: FileLock
  readonly owner: Person
  readonly mine: boolean
}

/** What the entries of a listing need besides themselves. */
export interface Around {
  readonly permission: Permission
  /** The fields of each modifier, by account id. */
  readonly modifiers: ReadonlyMap<string, string>
  readonly locks: ReadonlyMap<string, ShownLock>
  readonly starred: ReadonlySet<string>
}

// Entries are written as text, not as values to be encoded: a folder of 10,000 is listed in a few milliseconds.

/** The fields of a file's modifier, as part of an entry. */
export function modifierText({ email, name, contactEmail }: Person): string {
  return `,"modifier_email":${quoted(email)},"modifier_name":${quoted(name)},"modifier_contact_email":${quoted(contactEmail)}`
}

/** An entry in an `/api2/` listing. */
export function olderEntry(entry: Dirent, parent: LibraryPath, around: Around): string {
  const start = common(entry, around)
  if (entry.kind === 'dir') return `${start}}`
  const path = boundPath(entry, parent, around)
  return `${start}${fileText(entry, around)},"starred":${around.starred.has(path)}${olderLock(around.locks.get(path))}}`
}

/** An entry in a `/api/v2.1/` listing; `shownParent` is the folder as JSON text. */
export function newerEntry(entry: Dirent, parent: LibraryPath, shownParent: string, around: Around): string {
  const start = `${common(entry, around)},"parent_dir":${shownParent}`
  const path = boundPath(entry, parent, around)
  const starred = `,"starred":${around.starred.has(path)}`
  if (entry.kind === 'dir') return `${start}${starred}}`
  return `${start}${fileText(entry, around)}${starred}${newerLock(around.locks.get(path))}}`
}

/** An entry in a listing of everything below a folder, the same in both versions. */
export function recursiveEntry(
  entry: Dirent,
  parent: LibraryPath,
  shownParent: string,
  around: Around,
): string {
  const start = `${common(entry, around)},"parent_dir":${shownParent}`
  if (entry.kind === 'dir') return `${start}}`
  return `${start}${fileText(entry, around)}${olderLock(around.locks.get(boundPath(entry, parent, around)))}}`
}

export function quoted(text: string): string {
  return JSON.stringify(text)
}

function common(entry: Dirent, around: Around): string {
  return `{"type":"${entry.kind}","id":"${entry.id}","name":${quoted(entry.name)},"mtime":${entry.mtime},"permission":"${around.permission}"`
}

function fileText(entry: Dirent, around: Around): string {
  return `,"size":${entry.size}${around.modifiers.get(entry.modifier) ?? ''}`
}

/** What stars and locks know an entry by; nothing is looked up where there are none. */
function boundPath(entry: Dirent, parent: LibraryPath, { locks, starred }: Around): string {
  return locks.size === 0 && starred.size === 0 ? '' : toNfc(joinPath(parent, entry.name))
}

const olderFree = ',"is_locked":false,"lock_owner":"","lock_time":0,"locked_by_me":false'

function olderLock(shown: ShownLock | undefined): string {
  if (shown === undefined) return olderFree
  const { lock, owner, mine } = shown
  return `,"is_locked":true,"lock_owner":${quoted(owner.email)},"lock_owner_name":${quoted(owner.name)},"lock_time":${lock.lockedAt},"locked_by_me":${mine}`
}

const newerFree =
  ',"is_locked":false,"lock_time":0,"is_freezed":false,"lock_owner":"","lock_owner_name":"","lock_owner_contact_email":"","locked_by_me":false'

function newerLock(shown: ShownLock | undefined): string {
  if (shown === undefined) return newerFree
  const { lock, owner, mine } = shown
  const frozen = lock.expiresAt === null
  return `,"is_locked":true,"lock_time":${lock.lockedAt},"is_freezed":${frozen},"lock_owner":${quoted(owner.email)},"lock_owner_name":${quoted(owner.name)},"lock_owner_contact_email":${quoted(owner.contactEmail)},"locked_by_me":${mine}`
}

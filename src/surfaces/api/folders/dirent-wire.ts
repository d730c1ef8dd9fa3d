import type { Dirent } from '../../../base/objects/index.ts'
import { joinPath, type LibraryPath, toNfc } from '../../../base/paths/index.ts'
import type { FileTag } from '../../../derived/annotations/index.ts'
import type { FileLock, Permission } from '../../../libraries/library/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import { fileTagToWire } from '../annotations/tag-wire.ts'

/** A lock and who holds it. */
export interface ShownLock {
  readonly lock: FileLock
  readonly owner: Person
  readonly mine: boolean
}

/** Data of a listing that is not in the dirents. */
export interface ListingContext {
  readonly permission: Permission
  /** The fields of each modifier, by account id. */
  readonly modifiers: ReadonlyMap<string, string>
  readonly locks: ReadonlyMap<string, ShownLock>
  readonly starred: ReadonlySet<string>
  /** Paths of files that visitors of links uploaded. */
  readonly visitors: ReadonlySet<string>
  /** The tags of files, as part of an entry. */
  readonly tags: ReadonlyMap<string, string>
}

// Entries are rendered as JSON text directly: a folder of 10,000 entries takes a few milliseconds.

/** The tags of a file, as part of an entry. */
export function tagsText(tags: readonly FileTag[]): string {
  return `,"file_tags":${JSON.stringify(tags.map(fileTagToWire))}`
}

/** The fields of a file's modifier, as part of an entry. */
export function modifierText({ email, name, contactEmail }: Person): string {
  return `,"modifier_email":${quoted(email)},"modifier_name":${quoted(name)},"modifier_contact_email":${quoted(contactEmail)}`
}

/** An entry in an `/api2/` listing. */
export function entryV2(entry: Dirent, parent: LibraryPath, context: ListingContext): string {
  const start = common(entry, context)
  if (entry.kind === 'dir') return `${start}}`
  const path = boundPath(entry, parent, context)
  return `${start}${fileText(entry, context)},"starred":${context.starred.has(path)}${lockFieldsV2(context.locks.get(path))}}`
}

/** An entry in a `/api/v2.1/` listing; `shownParent` is the folder as JSON text. */
export function entryV21(
  entry: Dirent,
  parent: LibraryPath,
  shownParent: string,
  context: ListingContext,
): string {
  const start = `${common(entry, context)},"parent_dir":${shownParent}`
  const path = boundPath(entry, parent, context)
  const starred = `,"starred":${context.starred.has(path)}`
  if (entry.kind === 'dir') return `${start}${starred}}`
  const tags = context.tags.get(path) ?? ''
  const viaLink = context.visitors.has(path) ? ',"modifier_via_link":true' : ''
  return `${start}${fileText(entry, context)}${viaLink}${starred}${lockFieldsV21(context.locks.get(path))}${tags}}`
}

/** An entry in a listing of everything below a folder, the same in both versions. */
export function recursiveEntry(
  entry: Dirent,
  parent: LibraryPath,
  shownParent: string,
  context: ListingContext,
): string {
  const start = `${common(entry, context)},"parent_dir":${shownParent}`
  if (entry.kind === 'dir') return `${start}}`
  return `${start}${fileText(entry, context)}${lockFieldsV2(context.locks.get(boundPath(entry, parent, context)))}}`
}

export function quoted(text: string): string {
  return JSON.stringify(text)
}

function common(entry: Dirent, context: ListingContext): string {
  return `{"type":"${entry.kind}","id":"${entry.id}","name":${quoted(entry.name)},"mtime":${entry.mtime},"permission":"${context.permission}"`
}

function fileText(entry: Dirent, context: ListingContext): string {
  return `,"size":${entry.size}${context.modifiers.get(entry.modifier) ?? ''}`
}

/** The path that stars, locks, tags and visitors' uploads are bound to. Empty if the library has none, which saves the work. */
function boundPath(entry: Dirent, parent: LibraryPath, context: ListingContext): string {
  const { locks, starred, tags, visitors } = context
  const isEmpty = locks.size + starred.size + tags.size + visitors.size === 0
  return isEmpty ? '' : toNfc(joinPath(parent, entry.name))
}

const unlockedV2 = ',"is_locked":false,"lock_owner":"","lock_time":0,"locked_by_me":false'

function lockFieldsV2(shown: ShownLock | undefined): string {
  if (shown === undefined) return unlockedV2
  const { lock, owner, mine } = shown
  return `,"is_locked":true,"lock_owner":${quoted(owner.email)},"lock_owner_name":${quoted(owner.name)},"lock_time":${lock.lockedAt},"locked_by_me":${mine}`
}

const unlockedV21 =
  ',"is_locked":false,"lock_time":0,"is_freezed":false,"lock_owner":"","lock_owner_name":"","lock_owner_contact_email":"","locked_by_me":false'

function lockFieldsV21(shown: ShownLock | undefined): string {
  if (shown === undefined) return unlockedV21
  const { lock, owner, mine } = shown
  const frozen = lock.expiresAt === null
  return `,"is_locked":true,"lock_time":${lock.lockedAt},"is_freezed":${frozen},"lock_owner":${quoted(owner.email)},"lock_owner_name":${quoted(owner.name)},"lock_owner_contact_email":${quoted(owner.contactEmail)},"locked_by_me":${mine}`
}

// The exact commit descriptions. Clients show them, and older tools find deletions by them.

interface Named {
  readonly kind: 'file' | 'dir'
  readonly name: string
}

const describeCreatedLibrary = 'Created library'
const describeChangedPassword = 'Changed library password'
const describeRenamedLibrary = 'Changed library name or description'

/** A created empty file, or copied entries: one, or the first of several. */
function describeAdded(entries: readonly Named[]): string {
  return several(entries, 'Added') ?? one(entries, 'Added', 'Added directory')
}

/** Files of one or more uploads: `Added "a".`, `Added "a" and 2 more files.` */
function describeUploaded(names: readonly string[]): string {
  const [first = ''] = names
  return names.length > 1 ? `Added "${first}" and ${names.length - 1} more files.` : `Added "${first}".`
}

function describeModified(name: string): string {
  return `Modified "${name}"`
}

/** An edit based on an older state, stored as a conflict copy. */
function describeConflict(name: string): string {
  return `Added or modified "${name}".\n`
}

/** Nested folders created together, named by the whole requested path. */
function describeAddedDirs(path: string): string {
  return `Added directory "${path}"`
}

function describeMoved(entries: readonly Named[]): string {
  return several(entries, 'Moved') ?? one(entries, 'Moved', 'Moved directory')
}

function describeDeleted(entries: readonly Named[]): string {
  return several(entries, 'Deleted') ?? one(entries, 'Deleted', 'Removed directory')
}

/** With the old name, or the first of several. */
function describeRenamed(...entries: readonly Named[]): string {
  return several(entries, 'Renamed') ?? one(entries, 'Renamed', 'Renamed directory')
}

/** Restored entries, each from a commit of the time `from` in Unix seconds. */
function describeRestored(entries: readonly (Named & { readonly from: number })[]): string {
  const [first] = entries
  const many = several(entries, 'Recovered')
  if (first === undefined || many !== undefined) return many ?? ''
  if (first.kind === 'dir') return `Recovered deleted directory "${first.name}"`
  return `Reverted file "${first.name}" to status at ${timeText(first.from)}`
}

/** Whether this is the description of a restore. */
function isRecovery(description: string): boolean {
  return /^(?:Reverted|Recovered) /.test(description)
}

function describeRevertedLibrary(from: number): string {
  return `Reverted repo to status at ${timeText(from)}.`
}

/** `2025-07-31 22:13:20`, in UTC. */
function timeText(unixSeconds: number): string {
  const seconds = Math.min(Math.max(unixSeconds, 0), 253_402_300_799) // The year 9999.
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

const describeMerged = 'Auto merge by system'

/** A merge with conflict copies. The entries it added are named in the given order. */
function describeConflicts(entries: readonly Named[]): string {
  const names = (kind: Named['kind']) =>
    entries.filter((entry) => entry.kind === kind).map((entry) => entry.name)
  const [files, dirs] = [names('file'), names('dir')]
  return (
    line(files, 'Added or modified', 'Added or modified', 'files') +
    line(dirs, 'Added directory', 'Added', 'directories')
  )
}

function line(
  [first, ...more]: readonly string[],
  oneVerb: string,
  manyVerb: string,
  things: string,
): string {
  if (first === undefined) return ''
  if (more.length === 0) return `${oneVerb} "${first}".\n`
  return `${manyVerb} "${first}" and ${more.length} more ${things}.\n`
}

function several(entries: readonly Named[], verb: string): string | undefined {
  const [first] = entries
  if (first === undefined || entries.length < 2) return undefined
  return `${verb} "${first.name}" and ${entries.length - 1} more files`
}

function one(entries: readonly Named[], fileVerb: string, dirVerb: string): string {
  const [entry] = entries
  return entry?.kind === 'dir' ? `${dirVerb} "${entry.name}"` : `${fileVerb} "${entry?.name ?? ''}"`
}

/** The descriptions of commits. */
export const commitMessages = {
  createdLibrary: describeCreatedLibrary,
  changedPassword: describeChangedPassword,
  renamedLibrary: describeRenamedLibrary,
  added: describeAdded,
  addedDirs: describeAddedDirs,
  uploaded: describeUploaded,
  modified: describeModified,
  conflict: describeConflict,
  conflicts: describeConflicts,
  moved: describeMoved,
  deleted: describeDeleted,
  renamed: describeRenamed,
  restored: describeRestored,
  revertedLibrary: describeRevertedLibrary,
  merged: describeMerged,
  isRecovery,
}

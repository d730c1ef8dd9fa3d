import { type CommitId, type DirId, EMPTY_ID, idFromBytes } from '../../base/objects/index.ts'
import { commitRows, type NumberedCommit } from '../../libraries/commits/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { Value } from '../../platform/database/index.ts'
import { lostCommit } from './backup-rows.ts'
import type { OpenRepair } from './repair-parts.ts'

const LOST_DESCRIPTION = 'The description of this change was lost'

/**
 * Restores a lost commit of the history by its number: from a backup, or, for the head, from the row of the library, which has its id and its root. Any
 * other commit needs a backup, because nothing else has its root. Newer commits are restored first: the id of a commit is known from the one after it. Resolves
 * to the source.
 */
export async function restoreCommit(
  parts: OpenRepair,
  library: LibraryInfo,
  seq: number,
): Promise<string | undefined> {
  const around = await commitRows.listBySeq(parts.db, library, [seq - 1, seq, seq + 1])
  if (around.has(seq)) return undefined
  const [before, after] = [around.get(seq - 1), around.get(seq + 1)]
  const ids = seq === library.headSeq ? [library.head] : [after?.parentId, after?.secondParentId]
  const found = fromBackup(parts, library, seq, ids) ?? ofHead(library, seq, before)
  if (found === undefined) return undefined
  const { commit, source } = found
  if (!parts.isDryRun) await parts.db.write((tx) => commitRows.insert(tx, library.key, [commit]))
  return source
}

interface FoundCommit {
  readonly commit: NumberedCommit
  readonly source: string
}

function fromBackup(
  { backupRows }: OpenRepair,
  library: LibraryInfo,
  seq: number,
  ids: readonly (CommitId | null | undefined)[],
): FoundCommit | undefined {
  const isUnknown = ids.every((id) => id == null)
  for (const { row, source } of backupRows.of(lostCommit(library.key, seq))) {
    const commit = commitOf(row, library, seq)
    if (isUnknown || ids.includes(commit.id)) return { commit, source }
  }
  return undefined
}

function commitOf(row: Record<string, Value>, library: LibraryInfo, seq: number): NumberedCommit {
  const bytes = (name: string) => row[name] as Uint8Array
  const idOrNull = (name: string) => (row[name] == null ? null : idFromBytes<CommitId>(bytes(name)))
  const textOrUndefined = (name: string) => (row[name] == null ? undefined : String(row[name]))
  return {
    id: idFromBytes<CommitId>(bytes('id')),
    seq,
    libraryId: library.id,
    rootId: idFromBytes<DirId>(bytes('root')),
    parentId: idOrNull('parent'),
    secondParentId: idOrNull('second_parent'),
    creator: Buffer.from(bytes('creator')).toString('hex'),
    creatorName: textOrUndefined('creator_name'),
    description: String(row['description']),
    ctime: Number(row['ctime']),
    deviceName: textOrUndefined('device_name'),
    clientVersion: textOrUndefined('client_version'),
    conflict: Number(row['conflict']) === 1,
    newMerge: Number(row['new_merge']) === 1,
    ...(Number(row['via_link'] ?? 0) === 1 && { viaLink: true }),
  }
}

/** The head, as far as the row of the library has it. Its author and its time are there, its description is not. */
function ofHead(
  library: LibraryInfo,
  seq: number,
  before: NumberedCommit | undefined,
): FoundCommit | undefined {
  if (seq !== library.headSeq || (before === undefined && seq > 1)) return undefined
  const commit = {
    id: library.head,
    seq,
    libraryId: library.id,
    rootId: library.root,
    parentId: before?.id ?? null,
    secondParentId: null,
    creator: EMPTY_ID,
    creatorName: library.modifier,
    ...(library.modifierViaLink && { viaLink: true }),
    description: LOST_DESCRIPTION,
    ctime: library.updatedAt,
    deviceName: undefined,
    clientVersion: undefined,
    conflict: false,
    newMerge: false,
  }
  return { commit, source: 'the row of the library, without its description' }
}

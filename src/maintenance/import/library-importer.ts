import {
  type CommitId,
  type CommitLibrary,
  type DirId,
  EMPTY_ID,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import { commitRows, type ImportedCommit } from '../../libraries/commits/index.ts'
import { insertRestorePoint } from '../../libraries/push/index.ts'
import {
  deletedLibraries,
  libraryRenames,
  libraryRows,
  restoredLibraries,
} from '../../libraries/registry/index.ts'
import type { ObjectStore } from '../../libraries/tree/index.ts'
import type { Database, Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { BlockCopier } from './block-copier.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout } from './seafile-layout.ts'
import { findSourceCommit, readHistory } from './source-history.ts'
import type { ObjectThreads } from './source-objects.ts'
import { type ImportedDir, TreeImporter } from './tree-importer.ts'

/** Later steps, and the head, build on what is written. */
const RELIED_ON = { durable: 'replicated', isLong: true } as const

const COMMITS_PER_WRITE = 200

/** A library to be imported. */
interface SourceLibrary {
  readonly id: LibraryId
  readonly head: CommitId
  readonly ownerKey: number
  /** Unix seconds before which the source gave the history up; -1 for never. */
  readonly validSince: number
  /** Null for the default of the server. */
  readonly historyDays: number | null
  readonly isReadOnly: boolean
  /** Unix seconds; null unless it is in the trash of the source. */
  readonly deletedAt: number | null
  /** Heads of its virtual libraries, whose trees clients may have. */
  readonly views: readonly { readonly id: LibraryId; readonly head: CommitId }[]
}

/** An imported library. */
export interface ImportedLibrary {
  readonly key: number
  readonly id: LibraryId
  readonly name: string
  readonly head: CommitId
  readonly headSeq: number
  readonly root: DirId
  readonly commits: number
  readonly files: number
  readonly bytes: number
  readonly lostBlocks: number
  readonly isEncrypted: boolean
  /** The wrapped key of an encrypted library. Empty in version 1, which has none. */
  readonly wrappedKey: string
  /** Its current tree is that of the source, so sync clients may go on. */
  readonly isExact: boolean
}

interface LibraryImporterParts {
  readonly db: Database
  readonly objects: ObjectStore
  readonly layout: SeafileLayout
  readonly threads: ObjectThreads
  readonly copier: BlockCopier
  readonly problems: Problems
  /** Unix seconds. */
  readonly now: number
  /** Called when the library is complete. What it returns writes the rows that belong to it, in the transaction that shows it. */
  readonly onComplete: (library: ImportedLibrary) => Promise<(tx: Transaction) => Promise<void>>
}

/**
 * Imports one library with its history. It is hidden until it is complete, and shown by one transaction together with everything that belongs to
 * it. Interrupted before, it leaves a hidden library, which the next run gives up; blocks stay and are not copied again. Undefined if nothing of it
 * can be read.
 */
export async function importLibrary(
  source: SourceLibrary,
  parts: LibraryImporterParts,
): Promise<ImportedLibrary | undefined> {
  const { db, layout, objects, threads, copier, problems, now } = parts
  const { id } = source
  const history = await readHistory(layout, id, source.head, { validSince: source.validSince, problems })
  const newest = await findSourceCommit(layout, id, source.head)
  if (history === undefined || newest === undefined) {
    problems.add('library-skipped', `Its head ${source.head} is missing or damaged.`, id)
    return undefined
  }
  await db.write((tx) => restoredLibraries.abandon(tx, { id, head: idToBytes(source.head) }))
  const oldest = await findSourceCommit(layout, id, history.steps[0]?.id ?? source.head)
  const row = {
    ...rowOf(source, newest.library),
    updated_at: newest.commit.ctime,
    modifier: newest.commit.creatorName ?? '',
    created_at: oldest?.commit.ctime ?? newest.commit.ctime,
  }
  const key = await db.write((tx) => restoredLibraries.insert(tx, row, now))
  if (key === undefined) throw new Error(`there is already a library ${id}`)
  const isEncrypted = newest.library.encryption !== undefined
  const store = { id, version: history.version }
  await using trees = new TreeImporter({
    db,
    objects,
    libraryKey: key,
    libraryId: id,
    layout,
    store,
    threads,
    copier,
    problems,
    isEncrypted,
    now,
  })
  const { head, seq, renames, isExact } = await importHistory(history, { source, key, trees, parts })
  if (head === undefined) {
    problems.add('library-skipped', 'No folder of any of its commits can be read.', id)
    await db.write((tx) => restoredLibraries.abandon(tx, { id, head: idToBytes(source.head) }))
    return undefined
  }
  if (!isExact && history.version === 1) {
    problems.add(
      'head-damaged',
      'Its current content could not be imported as it was, so clients have to sync it again into their folders.',
      id,
    )
  }
  await importViews(source, layout, trees)
  await trees.flush()
  const imported: ImportedLibrary = {
    key,
    id,
    name: newest.library.name,
    head: head.id,
    headSeq: seq,
    root: head.tree.id,
    commits: seq,
    files: head.tree.fileCount,
    bytes: head.tree.size,
    lostBlocks: await trees.recordLostBlocks(),
    isEncrypted,
    wrappedKey: newest.library.encryption?.key ?? '',
    isExact,
  }
  await publish(imported, renames, { source, parts })
  return imported
}

type History = NonNullable<Awaited<ReturnType<typeof readHistory>>>
type Rename = { readonly seq: number; readonly from: string; readonly to: string }

/** Writes the commits of a library, oldest first, with their trees. There is no head if no tree can be read. */
async function importHistory(
  history: History,
  of: { source: SourceLibrary; key: number; trees: TreeImporter; parts: LibraryImporterParts },
) {
  const { source, key, trees, parts } = of
  const importCommit = (id: CommitId, base: DirId) => importCommitOf(source.id, id, base, { trees, parts })
  let before: DirId = EMPTY_ID
  let head: { id: CommitId; tree: ImportedDir } | undefined
  let seq = 0
  let name: string | undefined
  let isExact = history.version === 1
  let waiting: ImportedCommit[] = []
  const renames: Rename[] = []
  const write = async () => {
    const commits = waiting
    waiting = []
    await trees.flush()
    if (commits.length > 0)
      await parts.db.write((tx) => commitRows.insertImported(tx, key, commits), RELIED_ON)
  }
  for (const step of history.steps) {
    const main = await importCommit(step.id, before)
    if (main === undefined) continue
    seq += 1
    for (const merged of step.merged) {
      const one = await importCommit(merged, before)
      if (one !== undefined) waiting.push({ commit: one.commit, seq, isMerged: true })
    }
    // The parent may be a commit that was left out.
    waiting.push({ commit: { ...main.commit, parentId: head?.id ?? null }, seq, isMerged: false })
    if (waiting.length >= COMMITS_PER_WRITE) await write()
    head = { id: main.commit.id, tree: main.tree }
    before = main.tree.id
    if (name !== undefined && name !== main.name) renames.push({ seq, from: name, to: main.name })
    name = main.name
    if (history.version === 1 && step.id === source.head) isExact = main.tree.id === main.sourceRoot
  }
  await write()
  return { head, seq, renames, isExact: isExact && head?.id === source.head }
}

async function importCommitOf(
  libraryId: LibraryId,
  commitId: CommitId,
  base: DirId,
  { trees, parts: { layout, problems } }: { trees: TreeImporter; parts: LibraryImporterParts },
) {
  const found = await findSourceCommit(layout, libraryId, commitId)
  if (found === undefined) return undefined
  const { commit, library } = found
  const context = { ctime: commit.ctime, modifier: commit.creatorName ?? '' }
  const tree = await trees.importTree(commit.rootId, base, context)
  if (tree === undefined) {
    problems.add('commit-skipped', `The root folder of the commit ${commitId} is lost.`, libraryId)
    return undefined
  }
  return { commit: { ...commit, rootId: tree.id }, tree, name: library.name, sourceRoot: commit.rootId }
}

/** The trees of virtual libraries, which clients may have. */
async function importViews(source: SourceLibrary, layout: SeafileLayout, trees: TreeImporter): Promise<void> {
  for (const view of source.views) {
    const commit = (await findSourceCommit(layout, view.id, view.head))?.commit
    if (commit !== undefined)
      await trees.importTree(commit.rootId, EMPTY_ID, {
        ctime: commit.ctime,
        modifier: commit.creatorName ?? '',
      })
  }
}

/** Shows a complete library, together with everything that belongs to it. */
async function publish(
  imported: ImportedLibrary,
  renames: readonly Rename[],
  { source, parts: { db, now, onComplete } }: { source: SourceLibrary; parts: LibraryImporterParts },
): Promise<void> {
  const { key, id } = imported
  const writeDependents = await onComplete(imported)
  const isPublished = await db.write(async (tx) => {
    for (const { seq: at, from, to } of renames)
      await libraryRenames.insert(tx, { key, headSeq: at - 1, name: from }, to)
    const published = await restoredLibraries.publish(tx, key, {
      name: imported.name,
      head: idToBytes(imported.head),
      headSeq: imported.headSeq,
      root: idToBytes(imported.root),
      size: imported.bytes,
      fileCount: imported.files,
    })
    if (!published) return false
    await insertRestorePoint(tx, key, imported.head, now)
    await writeDependents(tx)
    if (source.deletedAt !== null) await deletedLibraries.mark(tx, key, source.deletedAt)
    return true
  })
  if (!isPublished) throw new Error(`the library ${id} was purged while it was imported`)
}

/** Whether the library exists, also as a deleted one. Interrupted imports do not count. */
export async function isImported(reader: Reader, id: LibraryId): Promise<boolean> {
  const found = (await libraryRows.find(reader, id)) ?? (await deletedLibraries.find(reader, id))
  return found !== undefined && found.headSeq > 0
}

function rowOf(
  { id, head, ownerKey, historyDays, isReadOnly }: SourceLibrary,
  library: CommitLibrary,
): Record<string, Value> {
  const { encryption } = library
  return {
    id,
    owner_key: ownerKey,
    name: `${library.name} (import unfinished)`,
    description: library.description,
    head: idToBytes(head),
    status: isReadOnly ? 1 : 0,
    enc_version: encryption?.version ?? 0,
    magic: encryption?.magic ?? '',
    random_key: encryption?.key ?? '',
    salt: encryption?.salt ?? '',
    pwd_hash: encryption?.pwdHash ?? '',
    pwd_hash_algo: encryption?.pwdHashAlgo ?? '',
    pwd_hash_params: encryption?.pwdHashParams ?? '',
    history_days: historyDays,
  }
}

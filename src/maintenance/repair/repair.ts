import type { BlockId, CommitId, DirId, FileId, LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { positionRows } from '../../libraries/consumers/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRows, librarySizes } from '../../libraries/registry/index.ts'
import { storedObjects, Tree } from '../../libraries/tree/index.ts'
import { deleteLibraryUsage } from '../../libraries/usage/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Finding, FindingKind } from '../check/index.ts'
import { BackupRows, lostCommit, lostObject } from './backup-rows.ts'
import { findBlockCopy, grantBlock, storeBlock } from './lost-blocks.ts'
import { restoreCommit } from './lost-commits.ts'
import { restoreDir, restoreFile } from './lost-objects.ts'
import { recoverFolder } from './older-folder.ts'
import { recoverRevision } from './older-revision.ts'
import type { OpenRepair, RepairParts, RepairStep } from './repair-parts.ts'

/**
 * Repairs what a check found, as far as there is a copy or a source. Nothing is deleted and no file gets other content: what replaces a damaged copy hashes to
 * the same id, the damaged bytes are kept in the quarantine folder, and an older revision is added under a name of its own. With `isDryRun` only reports what it
 * would do.
 */
export async function repair(parts: RepairParts, findings: readonly Finding[]): Promise<RepairStep[]> {
  const damaged: { library: LibraryInfo; found: readonly Finding[] }[] = []
  for (const [id, found] of Map.groupBy(findings, ({ library }) => library)) {
    const key = await libraryRows.findKey(parts.db, id as LibraryId)
    const library = key === undefined ? undefined : await libraryRows.findWithDeleted(parts.db, key)
    if (library !== undefined) damaged.push({ library, found })
  }
  const wanted = new Set(
    damaged.flatMap(({ library, found }) =>
      found.flatMap((finding) => lostRowOf(library.key, finding) ?? []),
    ),
  )
  const open: OpenRepair = { ...parts, backupRows: await BackupRows.read(parts.sources, wanted) }
  const steps: RepairStep[] = []
  for (const { library, found } of damaged) steps.push(...(await repairLibrary(open, library, found)))
  return steps
}

/** The row that a finding is about, if rows of backups can help. */
function lostRowOf(libraryKey: number, finding: Finding): string | undefined {
  const seq = lostSeqOf(finding)
  if (seq !== undefined) return lostCommit(libraryKey, seq)
  return isLostObject(finding) && finding.object !== null ? lostObject(libraryKey, finding.object) : undefined
}

function isLostObject({ kind }: Finding): boolean {
  return kind === 'object-missing' || kind === 'object-damaged'
}

/** The number of a lost commit, which stands for its unknown id. */
function lostSeqOf({ kind, object }: Finding): number | undefined {
  return kind === 'commit-missing' && object !== null ? Number(object.slice(1)) : undefined
}

async function repairLibrary(
  parts: OpenRepair,
  library: LibraryInfo,
  findings: readonly Finding[],
): Promise<RepairStep[]> {
  const steps: RepairStep[] = []
  const add = (finding: Finding, action: RepairStep['action'], detail: string) => {
    const { libraryName, path, object, block } = finding
    steps.push({ action, library: library.id, libraryName, path, object, block, detail })
  }
  await repairCommits(parts, library, findings, add)
  const done = new Map<string, string | undefined>()
  const lost: Finding[] = []
  for (const finding of findings) {
    const wanted = `${finding.kind.split('-')[0]} ${finding.block ?? finding.object ?? ''}`
    if (finding.kind.startsWith('block-')) {
      if (!done.has(wanted)) done.set(wanted, await repairBlock(parts, library, finding))
    } else if (isLostObject(finding)) {
      if (!done.has(wanted)) done.set(wanted, await repairObject(parts, library, finding))
    } else continue
    const source = done.get(wanted)
    if (source === undefined) lost.push(finding)
    else add(finding, finding.block === null ? 'object-restored' : 'block-restored', source)
  }
  for (const [upload, found] of byObject(findings, 'upload-lost')) {
    if (!parts.isDryRun) await parts.dropUpload(Number(upload))
    for (const finding of found) add(finding, 'upload-dropped', 'its client starts it over')
  }
  for (const [archive, found] of byObject(findings, 'archive-lost')) {
    if (!parts.isDryRun) await parts.dropArchive(Number(archive))
    for (const finding of found) add(finding, 'archive-dropped', 'it is packed again when it is requested')
  }
  for (const finding of uniquePaths(lost)) {
    const path = finding.path as LibraryPath
    const name = await recoverRevision(parts, library, path, finding.object as FileId)
    if (name !== undefined) add(finding, 'revision-recovered', `an older revision is now ${name}`)
    if (name !== undefined || !isLostObject(finding)) continue
    const folder = await recoverFolder(parts, library, path, finding.object as DirId)
    if (folder !== undefined)
      add(finding, 'folder-recovered', `an older version of the folder is now ${folder}`)
  }
  await repairDerived(parts, library, findings, add)
  return steps
}

/** Findings of a kind, by what they are about. */
function byObject(findings: readonly Finding[], kind: FindingKind): Map<string | null, Finding[]> {
  return Map.groupBy(
    findings.filter((finding) => finding.kind === kind),
    ({ object }) => object,
  )
}

/** Newest first: the id of a lost commit is known from the one after it. */
async function repairCommits(
  parts: OpenRepair,
  library: LibraryInfo,
  findings: readonly Finding[],
  add: (finding: Finding, action: RepairStep['action'], detail: string) => void,
): Promise<void> {
  const lost = findings.flatMap((finding) => {
    const seq = lostSeqOf(finding)
    return seq === undefined ? [] : [{ finding, seq }]
  })
  for (const { finding, seq } of lost.toSorted((a, b) => b.seq - a.seq)) {
    const source = await restoreCommit(parts, library, seq)
    if (source !== undefined) add(finding, 'commit-restored', source)
  }
}

/** Current files and folders whose content is still lost. */
function uniquePaths(lost: readonly Finding[]): Finding[] {
  const byPath = new Map<string, Finding>()
  for (const finding of lost) if (finding.current && finding.path !== null) byPath.set(finding.path, finding)
  return [...byPath.values()]
}

/** Where the bytes came from; undefined if there is no copy. */
async function repairBlock(
  parts: RepairParts,
  library: LibraryInfo,
  { kind, block }: Finding,
): Promise<string | undefined> {
  const id = block as BlockId
  const copy = await findBlockCopy(parts, id)
  if (copy === undefined) return undefined
  if (parts.isDryRun) return copy.source
  if (kind !== 'block-unheld' || !copy.isStored) await storeBlock(parts, id, copy)
  if (kind === 'block-unheld') await grantBlock(parts, library.key, id, copy)
  return copy.source
}

async function repairObject(
  parts: OpenRepair,
  library: LibraryInfo,
  finding: Finding,
): Promise<string | undefined> {
  return (
    (await restoreFile(
      parts,
      library.key,
      finding.object as FileId,
      await sizeAt(parts, library, finding),
    )) ??
    (await restoreDir(
      parts,
      library,
      finding.object as DirId,
      finding.current ? (finding.path as LibraryPath) : undefined,
    ))
  )
}

/** The size that the dirent of a file states. */
async function sizeAt(
  { db, core }: RepairParts,
  library: LibraryInfo,
  { path, object, newestCommit }: Finding,
): Promise<number | undefined> {
  if (path === null || newestCommit === null) return undefined
  try {
    const commit = await commitRows.find(db, library, newestCommit as CommitId)
    if (commit === undefined) return undefined
    const entry = await new Tree(storesOf(core).objects, library.key, commit.rootId).find(path as LibraryPath)
    return entry?.kind === 'file' && entry.id === object ? entry.size : undefined
  } catch {
    // A folder above is lost as well.
    return undefined
  }
}

async function repairDerived(
  { db, core, isDryRun, rebuildSearch, rebuildPhotos, repairAnnotations }: RepairParts,
  library: LibraryInfo,
  findings: readonly Finding[],
  add: (finding: Finding, action: RepairStep['action'], detail: string) => void,
): Promise<void> {
  const { key } = library
  const write = async (work: Parameters<typeof db.write>[0]) => {
    if (!isDryRun) await db.write(work)
  }
  for (const finding of findings) {
    const { kind, actual, object } = finding
    if (actual === null) continue
    if (kind === 'folder-totals') {
      await write(async (tx) => {
        await libraryHeads.raiseObjectsEpoch(tx, key)
        await storedObjects.setTotals(tx, key, object as DirId, actual)
      })
    } else await write((tx) => librarySizes.repair(tx, key, library.root, actual))
    add(finding, 'sums-corrected', finding.detail)
  }
  const first = (...kinds: readonly Finding['kind'][]) => findings.find(({ kind }) => kinds.includes(kind))
  const ahead = first('consumer-ahead')
  if (ahead !== undefined) {
    await write(async (tx) => {
      for (const { name, seq } of await positionRows.list(tx, key)) {
        if (seq > library.headSeq) await positionRows.set(tx, key, name, library.headSeq)
      }
    })
    add(ahead, 'index-rebuilt', 'the positions of consumers')
  }
  const paths = first('path-index', 'trash') ?? (ahead?.object === 'paths' ? ahead : undefined)
  if (paths !== undefined) {
    if (!isDryRun) await storesOf(core).pathIndex.rebuild(library)
    add({ ...paths, path: null }, 'index-rebuilt', 'the path index and the trash')
  }
  const search = first('search-index')
  if (search !== undefined) {
    if (!isDryRun) await rebuildSearch(library)
    add({ ...search, path: null }, 'index-rebuilt', 'the search index')
  }
  const photos = first('photo-index')
  if (photos !== undefined) {
    if (!isDryRun) await rebuildPhotos(library)
    add({ ...photos, path: null }, 'index-rebuilt', 'the index of photos')
  }
  const tags = first('annotations')
  if (tags !== undefined) {
    await write((tx) => repairAnnotations(tx, key))
    add({ ...tags, object: null }, 'index-rebuilt', 'what comments and tags are found by')
  }
  for (const finding of findings) {
    if (finding.kind !== 'path-binding') continue
    await write((tx) => correctBinding(core, tx, library, finding))
    add(finding, 'binding-corrected', finding.detail)
  }
  const usage = first('usage')
  if (usage !== undefined) {
    await write((tx) => deleteLibraryUsage(tx, key))
    add(usage, 'index-rebuilt', 'the counted bytes, with the next count')
  }
}

/**
 * Rows that were not found by their path are found again. Those of an item that is gone end, as they would have with the commit that deleted it. The item may
 * have come back since the check, so the current tree decides.
 */
async function correctBinding(
  core: RepairParts['core'],
  tx: Transaction,
  { key }: LibraryInfo,
  { path, object }: Finding,
): Promise<void> {
  const [rows, fault] = (object ?? '').split(':')
  const binding = core.pathBindings.find((one) => one.rows === rows)
  const at = path as LibraryPath
  if (fault === 'key') {
    await binding?.rekey(tx, key, at)
    return
  }
  const library = await libraryRows.findWithDeleted(tx, key)
  if (library === undefined || at === ROOT) return
  const item = await new Tree(storesOf(core).objects, key, library.root).find(at)
  if (item === undefined) await binding?.drop?.(tx, key, at)
}

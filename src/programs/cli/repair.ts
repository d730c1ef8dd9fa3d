import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import type { BlockId, LibraryId } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { repairAnnotations } from '../../derived/annotations/index.ts'
import { deleteArchive } from '../../libraries/archives/index.ts'
import { BlockCheck } from '../../libraries/content/index.ts'
import { createLibrary, type EditableLibrary } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import {
  listSnapshotIds,
  openRepository,
  readManifest,
  Snapshot,
  TargetLock,
} from '../../maintenance/backup/index.ts'
import type { Finding } from '../../maintenance/check/index.ts'
import { type RepairSource, type RepairStep, repair } from '../../maintenance/repair/index.ts'
import { Quarantine } from '../../platform/storage/disk/index.ts'
import { BlockStoreError } from '../../platform/storage/index.ts'
import { Access } from '../../sharing/access/index.ts'
import { partialUploads } from '../../sharing/quotas/index.ts'
import { createAccounts, findS3Store } from '../assembly/index.ts'
import { operator } from './accounts.ts'
import {
  FINDINGS,
  lineOf,
  type OpenStore,
  openStore,
  optionsFrom,
  orNotChecked,
  type RunOptions,
  runCheck,
} from './check.ts'
import { print, sizeText } from './output.ts'

/** What is restored may refer to something lost, as deep as folders are nested. */
const MAX_ROUNDS = 20
/** More are not listed. */
const MAX_LOST_FILES = 10_000

interface RepairFlags {
  readonly from?: string
  readonly library?: string
  readonly dryRun?: true
  readonly json?: true
}

/** Checks, repairs what has a copy, and checks again. Resolves to 0 if nothing is left, and to 1 otherwise. */
export function repairCommand(config: Config, flags: RepairFlags): Promise<number> {
  return orNotChecked(() => checkAndRepair(config, flags))
}

async function checkAndRepair(config: Config, flags: RepairFlags): Promise<number> {
  await using store = await openStore(config)
  const { library } = flags
  const options = await optionsFrom(store.db, { readData: true, ...(library !== undefined && { library }) })
  const before = await runCheck(store, options)
  await using source = flags.from === undefined ? undefined : await openSource(config, flags.from)
  const isDryRun = flags.dryRun === true
  const versions = new Versions(store)
  const copies = { snapshots: source?.snapshots ?? [], versions }
  const once = (findings: readonly Finding[]) => runRepair(config, store, findings, copies, isDryRun)
  const { steps, left } = isDryRun
    ? { steps: await once(before.findings), left: before.findings }
    : await repairInRounds(store, options, before.findings, once)
  const lost = isDryRun ? withoutRepaired(left, steps) : left
  const lostFiles = await namesOfLost(store, lost)
  const warnings = versions.failure === undefined ? [] : [versions.failure]
  const document = { ok: lost.length === 0, dryRun: isDryRun, repaired: steps, lost, lostFiles, warnings }
  print(flags.json === true, document, [...linesOf(steps, lost, lostFiles, isDryRun), ...warnings])
  return lost.length === 0 ? 0 : FINDINGS
}

/**
 * Alternates repair and check until a round changes nothing, because a restored folder or commit can reveal losses below it, and a restored row those of
 * its bytes.
 */
async function repairInRounds(
  store: OpenStore,
  options: RunOptions,
  found: readonly Finding[],
  once: (findings: readonly Finding[]) => Promise<RepairStep[]>,
): Promise<{ steps: RepairStep[]; left: readonly Finding[] }> {
  const steps = new Map<string, RepairStep>()
  let left = found
  for (let round = 0; round < MAX_ROUNDS && left.length > 0; round++) {
    const done = await once(left)
    if (done.length === 0) break
    for (const step of done) steps.set(JSON.stringify(step), step)
    const before = JSON.stringify(left)
    left = (await runCheck(store, options)).findings
    if (JSON.stringify(left) === before) break
  }
  return { steps: [...steps.values()], left }
}

/** A file in a lost folder of the current tree, as the search index knows it. */
interface LostFile {
  readonly library: string
  readonly path: string
  readonly size: number
}

/** The files in lost folders. Their names are in the search index only. */
async function namesOfLost({ db, search }: OpenStore, lost: readonly Finding[]): Promise<LostFile[]> {
  const files: LostFile[] = []
  for (const { kind, library: id, path: at, current } of lost) {
    if (!kind.startsWith('object-') || !current || at === null) continue
    const key = await libraryRows.findKey(db, id as LibraryId)
    const library = key === undefined ? undefined : await libraryRows.findWithDeleted(db, key)
    if (library === undefined) continue
    const open = [at as LibraryPath]
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      for (const entry of (await search.reindexing.indexedEntries(library, folder)) ?? []) {
        if (entry.isDir) open.push(entry.path)
        else if (files.length < MAX_LOST_FILES)
          files.push({ library: id, path: entry.path, size: entry.size })
      }
    }
  }
  return files
}

/** Versions of the objects of blocks in S3. Where they cannot be listed, for lack of a right or of the feature, a repair goes on without them. */
class Versions {
  readonly #store: ReturnType<typeof findS3Store>
  /** Why they are not used, as a sentence. */
  failure: string | undefined

  constructor({ blocks }: OpenStore) {
    this.#store = findS3Store(blocks)
  }

  async find(id: BlockId): Promise<{ bytes: Buffer; storedAt: Date } | undefined> {
    if (this.failure !== undefined) return undefined
    try {
      return await this.#store?.findVersion(id)
    } catch (error) {
      if (!(error instanceof BlockStoreError)) throw error
      this.failure = `Earlier object versions were not looked for: ${error.message} They need s3:ListBucketVersions and s3:GetObjectVersion.`
      return undefined
    }
  }
}

function runRepair(
  config: Config,
  { db, core, blocks, search, photos, now }: OpenStore,
  findings: readonly Finding[],
  { snapshots, versions }: { readonly snapshots: readonly RepairSource[]; readonly versions: Versions },
  isDryRun: boolean,
): Promise<RepairStep[]> {
  // A damaged object in S3 stays there until garbage collection deletes it.
  const quarantine = new Quarantine(path.join(config.dataDirectory, 'quarantine'), config.blocks.directory)
  const accounts = createAccounts({ db, audit: core.audit, now })
  const access = new Access({ core, db })
  const openAsOwner = async (library: LibraryInfo): Promise<EditableLibrary | undefined> => {
    const owner = await accounts.findByKey(library.ownerKey)
    if (owner === undefined || library.deletedAt !== null) return undefined
    return (await access.open(owner, library.id)).editable(ROOT)
  }
  return repair(
    {
      db,
      core,
      blocks,
      blockCheck: new BlockCheck(db, blocks, now),
      sources: snapshots,
      findVersion: (id) => versions.find(id),
      quarantine: (name, bytes) => quarantine.keep(name, bytes),
      quarantineFile: (id) => quarantine.keepFile(id),
      openAsOwner,
      ownerHasLibrary: async ({ ownerKey }, name) =>
        (await libraryRows.listNamesOf(db, ownerKey)).some((one) => one.name === name),
      createForOwner: async (library, name) => {
        const owner = await accounts.findByKey(library.ownerKey)
        if (owner === undefined || library.deletedAt !== null) return undefined
        const { id } = await createLibrary(
          core,
          owner,
          { name, description: '', encryption: undefined },
          operator,
        )
        return (await access.open(owner, id)).editable(ROOT)
      },
      indexedEntries: (library, folder) => search.reindexing.indexedEntries(library, folder),
      rebuildSearch: (library) => search.reindexing.rebuildLibrary(library),
      rebuildPhotos: (library) => photos.rebuildLibrary(library),
      repairAnnotations,
      dropUpload: (key) => db.write((tx) => partialUploads.drop(tx, key)),
      dropArchive: async (key) => void (await db.write((tx) => deleteArchive(tx, key))),
      isDryRun,
    },
    findings,
  )
}

/** The snapshots of a backup, newest first. */
async function openSource(
  config: Config,
  target: string,
): Promise<AsyncDisposable & { readonly snapshots: readonly RepairSource[] }> {
  const repository = await openRepository(target, config.backup)
  const lock = await TargetLock.acquire(repository.target, 'read', 'carrel repair')
  const snapshots: RepairSource[] = []
  for (const id of (await listSnapshotIds(repository)).toReversed()) {
    const snapshot = new Snapshot(repository, await readManifest(repository, id))
    snapshots.push({
      name: `the snapshot ${id} of ${target}`,
      hasBlock: (block) => snapshot.hasBlock(block),
      readBlock: (block) => snapshot.readBlock(block),
      records: (table) => snapshot.records(table),
    })
  }
  return { snapshots, [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose]() }
}

function withoutRepaired(findings: readonly Finding[], steps: readonly RepairStep[]): Finding[] {
  const keyOf = ({ library, path, object, block }: Finding | RepairStep) =>
    JSON.stringify([library, path, object, block])
  const restored = new Set(
    steps
      .filter(({ action }) => !/^(?:revision-recovered|folder-recovered|index-rebuilt)$/.test(action))
      .map(keyOf),
  )
  const rebuilt = new Set(
    steps.filter(({ action }) => action === 'index-rebuilt').map(({ library }) => library),
  )
  const isDerived = ({ kind }: Finding) => !/^(?:block|object|commit|head|upload)-/.test(kind)
  return findings.filter(
    (finding) => !restored.has(keyOf(finding)) && !(isDerived(finding) && rebuilt.has(finding.library)),
  )
}

function linesOf(
  steps: readonly RepairStep[],
  lost: readonly Finding[],
  lostFiles: readonly LostFile[],
  isDryRun: boolean,
): string[] {
  const done = steps.map(
    ({ action, library, libraryName, path: at, detail }) =>
      `${action.padEnd(18)}  ${library} (${libraryName})${at === null ? '' : ` ${at}`}: ${detail}`,
  )
  return [
    ...done,
    ...(lost.length === 0 ? [] : ['Could not be saved:', ...lost.map((finding) => `  ${lineOf(finding)}`)]),
    ...(lostFiles.length === 0 ? [] : ['Files that were in the lost folders, by the search index:']),
    ...lostFiles.map((file) => `  ${file.library} ${file.path} (${sizeText(file.size)})`),
    `${isDryRun ? 'Would repair' : 'Repaired'} ${steps.length}, could not repair ${lost.length}.`,
  ]
}

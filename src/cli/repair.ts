import path from 'node:path'
import { Access } from '../access/index.ts'
import { listSnapshotIds, openRepository, readManifest, Snapshot, TargetLock } from '../backup/index.ts'
import type { Finding } from '../check/index.ts'
import type { LibraryInfo } from '../commits/index.ts'
import type { Config } from '../config/index.ts'
import { BlockCheck } from '../content/index.ts'
import type { EditableLibrary } from '../library/index.ts'
import { ROOT } from '../objects/index.ts'
import { type RepairSource, type RepairStep, repair } from '../repair/index.ts'
import { createAccounts } from '../server/index.ts'
import { Quarantine } from '../storage/disk/index.ts'
import { FINDINGS, lineOf, type OpenStore, openStore, optionsFrom, runCheck } from './check.ts'
import { print } from './output.ts'

interface RepairFlags {
  readonly from?: string
  readonly library?: string
  readonly dryRun?: true
  readonly json?: true
}

/** Checks, repairs what has a copy, and checks again. Resolves to 0 if nothing is left, and to 1 otherwise. */
export async function repairCommand(config: Config, flags: RepairFlags): Promise<number> {
  await using store = await openStore(config)
  const { library } = flags
  const options = await optionsFrom(store.db, { readData: true, ...(library !== undefined && { library }) })
  const before = await runCheck(store, options)
  await using source = flags.from === undefined ? undefined : await openSource(config, flags.from)
  const isDryRun = flags.dryRun === true
  const steps = await runRepair(config, store, before.findings, source?.snapshots ?? [], isDryRun)
  const isDone = steps.length > 0 && !isDryRun
  const left = isDone ? (await runCheck(store, options)).findings : before.findings
  const lost = isDryRun ? withoutRepaired(left, steps) : left
  const document = { ok: lost.length === 0, dryRun: isDryRun, repaired: steps, lost }
  print(flags.json === true, document, linesOf(steps, lost, isDryRun))
  return lost.length === 0 ? 0 : FINDINGS
}

function runRepair(
  config: Config,
  { db, core, blocks, search, now }: OpenStore,
  findings: readonly Finding[],
  sources: readonly RepairSource[],
  isDryRun: boolean,
): Promise<RepairStep[]> {
  const quarantine = new Quarantine(path.join(config.dataDirectory, 'quarantine'), config.blocks.directory)
  const accounts = createAccounts({ db, now })
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
      sources,
      quarantine: (name, bytes) => quarantine.keep(name, bytes),
      quarantineFile: (id) => quarantine.keepFile(id),
      openAsOwner,
      rebuildSearch: (library) => search.reindexing.rebuildLibrary(library),
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
    steps.filter(({ action }) => action !== 'revision-recovered' && action !== 'index-rebuilt').map(keyOf),
  )
  const rebuilt = new Set(
    steps.filter(({ action }) => action === 'index-rebuilt').map(({ library }) => library),
  )
  const isDerived = ({ kind }: Finding) => !/^(?:block|object|commit|head)-/.test(kind)
  return findings.filter(
    (finding) => !restored.has(keyOf(finding)) && !(isDerived(finding) && rebuilt.has(finding.library)),
  )
}

function linesOf(steps: readonly RepairStep[], lost: readonly Finding[], isDryRun: boolean): string[] {
  const done = steps.map(
    ({ action, library, libraryName, path: at, detail }) =>
      `${action.padEnd(18)}  ${library} (${libraryName})${at === null ? '' : ` ${at}`}: ${detail}`,
  )
  const sums = steps.some(({ action }) => action === 'sums-corrected')
  return [
    ...done,
    ...(lost.length === 0 ? [] : ['Could not be saved:', ...lost.map((finding) => `  ${lineOf(finding)}`)]),
    ...(sums && !isDryRun
      ? ['Sums of folders were corrected: restart a running server, which may have cached them.']
      : []),
    `${isDryRun ? 'Would repair' : 'Repaired'} ${steps.length}, could not repair ${lost.length}.`,
  ]
}

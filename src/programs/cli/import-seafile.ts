import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import {
  type ImportReport,
  importSeafile,
  isImported,
  type OnAdded,
  readMysqlDump,
  readMysqlServer,
  readSqliteTables,
  SourceRows,
} from '../../maintenance/import/index.ts'
import { type Account, peopleImport } from '../../people/accounts/index.ts'
import { Audit } from '../../people/audit/index.ts'
import { openDatabase } from '../../platform/database/index.ts'
import { loadSecret } from '../../platform/secret/index.ts'
import { LinkSecrets } from '../../sharing/access/index.ts'
import { checkSecret, holdLease, openBlocks } from '../assembly/index.ts'
import { type OpenAccounts, openAccounts, operator } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { columns, print, sizeText } from './output.ts'

export interface SeafileImportOptions {
  /** Of the source. */
  readonly data: string
  readonly sql?: string
  readonly mysql?: string
  readonly sqlite?: string
  readonly owner?: string
  readonly library?: readonly string[]
  readonly copy?: true
  readonly dryRun?: true
  readonly json?: true
}

/**
 * About 90,000 entries of folders. An import reads a folder again when a later commit changes it, so that the folders of recent commits are enough. A
 * larger cache fills up over hundreds of thousands of files, and memory with it.
 */
const DIR_CACHE_BYTES = 32 * 2 ** 20

/** Some libraries could not be imported. The others were. */
const NOT_ALL_IMPORTED = 1
/** Everything came over that the source has, but it has lost something. */
const IMPORTED_WITH_LOSSES = 3
const LOSSES = [
  'folder-lost',
  'file-lost',
  'block-missing',
  'block-damaged',
  'commit-skipped',
  'history-cut',
] as const

/** Resolves to the exit code. */
export async function importSeafileCommand(config: Config, options: SeafileImportOptions): Promise<number> {
  lowerPriority()
  await using opened = await openAccounts(config)
  const owner = options.owner === undefined ? undefined : await opened.accounts.find(options.owner)
  if (options.owner !== undefined && owner === undefined) {
    throw new CommandError(`There is no account ${options.owner}: add it with carrel user add.`)
  }
  const rows = await readRows(options)
  if (rows === undefined && owner === undefined) throw needsOwner()
  const report = await (options.dryRun === true ? rehearse : run)(config, opened, {
    ...common(options, rows),
    owner,
  })
  print(options.json === true, report, linesOf(report))
  if (report.problemCounts['library-skipped'] !== undefined) return NOT_ALL_IMPORTED
  return LOSSES.some((kind) => report.problemCounts[kind] !== undefined) ? IMPORTED_WITH_LOSSES : 0
}

async function readRows({ sql, mysql, sqlite }: SeafileImportOptions): Promise<SourceRows | undefined> {
  if (sql === undefined && mysql === undefined && sqlite === undefined) return undefined
  const rows = new SourceRows()
  if (sql !== undefined) await readMysqlDump(sql, rows)
  if (mysql !== undefined) await readMysqlServer(mysql, rows)
  if (sqlite !== undefined) await readSqliteTables(sqlite, rows)
  return rows
}

/** What an import and its rehearsal have in common. */
type CommonParts = ReturnType<typeof common> & { readonly owner: Account | undefined }

async function run(config: Config, { db }: OpenAccounts, options: CommonParts): Promise<ImportReport> {
  await using held = new AsyncDisposableStack()
  const now = () => Math.floor(Date.now() / 1000)
  const secret = await loadSecret(config.secret.file, config.secret.given)
  await checkSecret(db, secret)
  held.use(await holdLease(db, 'import'))
  return await importSeafile({
    ...options,
    db,
    blocks: held.use(await openBlocks(config, { db, shared: true })),
    secrets: new LinkSecrets(secret, () => 0),
    isPresent: () => Promise.resolve(false),
    onAdded: recorded(new Audit(db, now, config.auditDays)),
  })
}

const ACTIONS = { account: 'account-made', group: 'group-made', library: 'library-imported' } as const

/** Records what an import adds in the audit log. */
function recorded(audit: Audit): OnAdded {
  return (tx, { kind, id, detail }) =>
    audit.record(tx, operator, {
      action: ACTIONS[kind],
      objectKind: kind,
      objectId: id,
      detail: { ...detail, source: 'seafile' },
    })
}

/** Imports into a temporary database with the accounts and groups of the server, without blocks. */
async function rehearse(
  _config: Config,
  { db: existing }: OpenAccounts,
  { owner, ...options }: CommonParts,
): Promise<ImportReport> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rehearsal-'))
  try {
    await using db = await openDatabase(
      { kind: 'sqlite', file: path.join(folder, 'carrel.db') },
      {
        onFatal(error) {
          throw error
        },
      },
    )
    const keys = await db.write((tx) => peopleImport.copyPeople(existing, tx))
    const key = owner && keys.get(owner.key)
    return await importSeafile({
      ...options,
      owner: owner && key !== undefined ? { ...owner, key } : undefined,
      db,
      blocks: undefined,
      secrets: new LinkSecrets([Buffer.alloc(32)], () => 0),
      onAdded: () => Promise.resolve(),
      isPresent: (id) => isImported(existing, id),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function common({ data: folder, copy, library, json }: SeafileImportOptions, rows: SourceRows | undefined) {
  return {
    folder,
    rows,
    copy: copy === true,
    dirCacheBytes: DIR_CACHE_BYTES,
    only: library === undefined ? undefined : new Set(library),
    now: Math.floor(Date.now() / 1000),
    onLibrary(done: number, of: number, name: string) {
      if (json !== true && process.stderr.isTTY) process.stderr.write(`${done} of ${of}: ${name}\n`)
    },
  }
}

function needsOwner(): CommandError {
  return new CommandError(
    'Without its databases the source does not say who owns a library: name an account with --owner, or the databases with --sql, --mysql or --sqlite.',
    { exitCode: 2 },
  )
}

function linesOf(report: ImportReport): string[] {
  const { libraries, blocks, dryRun } = report
  const rows = libraries.map(({ id, state, owner, commits, files, bytes, name }) => [
    id,
    state,
    owner,
    String(commits),
    String(files),
    sizeText(bytes),
    name,
  ])
  const count = libraries.filter(({ state }) => state === 'imported').length
  return [
    ...columns([['LIBRARY', 'STATE', 'OWNER', 'COMMITS', 'FILES', 'SIZE', 'NAME'], ...rows]),
    ...report.problems.map(
      ({ kind, library, message }) => `${kind}${library === undefined ? '' : ` ${library}`}: ${message}`,
    ),
    `${dryRun ? 'Would import' : 'Imported'} ${count} of ${libraries.length} libraries, ${report.accounts} accounts, ${report.groups} groups, ${report.views} shared folders, ${report.shares} shares, ${report.links} links, ${report.stars} stars, ${report.apiTokens} API tokens and ${report.syncTokens} sync tokens.`,
    dryRun
      ? `Found ${blocks.small + blocks.copied} blocks with ${sizeText(blocks.bytes)}; their bytes were not read.`
      : `Blocks: ${blocks.reflinked} as reflinks, ${blocks.hardLinked} as hard links, ${blocks.copied} copied, ${blocks.small} small ones, ${blocks.present} already there; ${sizeText(blocks.bytes)} verified.`,
  ]
}

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import { parseCommitId, parseLibraryId } from '../../base/objects/index.ts'
import { commitRows, type NumberedCommit } from '../../libraries/commits/index.ts'
import { type DataKey, libraryPasswords } from '../../libraries/content/index.ts'
import {
  checkRepository,
  createRepository,
  ExportReport,
  exportHistory,
  exportTree,
  notInGit,
} from '../../libraries/export/index.ts'
import { oldestShown } from '../../libraries/history/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { Audit } from '../../people/audit/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { holdLease, openBlocks, openCore } from '../assembly/index.ts'
import { openExistingDatabase, operator } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { print, sizeText } from './output.ts'

export interface ExportOptions {
  /** A time or a commit id. */
  readonly at?: string
  readonly history?: true
  /** Holds the password of an encrypted library: others on the machine can see arguments. */
  readonly passwordFile?: string
  readonly json?: true
}

/** Some items could not be written. The others were. */
const EXPORTED_WITH_LOSSES = 3

/** Writes a library as plain files, beside a running server or without one. Resolves to the exit code. */
export async function exportCommand(
  config: Config,
  id: string,
  target: string,
  { at, history, passwordFile, json }: ExportOptions,
): Promise<number> {
  lowerPriority()
  const folder = path.resolve(target)
  await using opened = new AsyncDisposableStack()
  const db = opened.use(await openExistingDatabase(config))
  const parsed = parseLibraryId(id)
  const library = parsed === undefined ? undefined : await libraryRows.find(db, parsed)
  if (library === undefined) {
    throw new CommandError(`There is no library ${id}: give the id that its address in the web app has.`)
  }
  const now = () => Math.floor(Date.now() / 1000)
  const from = await oldestShown({ db, now, defaultHistoryDays: config.historyDays }, library)
  const commit = at === undefined ? undefined : await commitAt(db, library, at, from)
  if (history === true && commit !== undefined && !(await isOnMainLine(db, library, commit))) {
    throw new CommandError(`A merge brought ${at} in: export it without --history, or name the merge.`)
  }
  const key = await keyOf(library, passwordFile)
  if (history === true) await checkRepository(folder)
  opened.use(await holdLease(db, 'export'))
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  const { name } = library
  await new Audit(db, now, config.auditDays).append(operator, {
    action: 'library-exported',
    objectKind: 'library',
    objectId: library.id,
    detail: { name, ...(at !== undefined && { at }), history: history === true },
  })
  const logger = createLogger('error', { pretty: false })
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const report = new ExportReport()
  const source = { ...storesOf(core), libraryKey: library.key, key }
  const leftOut = history === true ? notInGit : () => undefined
  await exportTree(commit?.rootId ?? library.root, { source, folder, report, leftOut })
  if (history === true) {
    const to = commit?.seq ?? library.headSeq
    await createRepository(folder, (gitDir) =>
      exportHistory({ db, source, library, from, to, gitDir, report }),
    )
  }
  print(json === true, report, linesOf(report, target, history === true))
  return report.skipped.length > 0 ? EXPORTED_WITH_LOSSES : 0
}

function linesOf(report: ExportReport, target: string, hasHistory: boolean): string[] {
  const { files, bytes, unchanged, commits, skipped, moreSkipped } = report
  return [
    ...skipped.map(({ path: item, reason }) => `${item} was not written: ${reason}.`),
    ...(moreSkipped > 0 ? [`${moreSkipped} more were not written.`] : []),
    `Wrote ${files} files with ${sizeText(bytes)} to ${target}; ${unchanged} were already there.`,
    ...(hasHistory ? [`The git repository in it has ${commits} commits.`] : []),
  ]
}

/** The commit that is named, or the newest one that is not later than a time. */
async function commitAt(
  db: Database,
  library: LibraryInfo,
  at: string,
  oldest: number,
): Promise<NumberedCommit> {
  const id = parseCommitId(at)
  const commit = id === undefined ? await newestAt(db, library, at) : await commitRows.find(db, library, id)
  if (commit !== undefined && commit.seq >= oldest) return commit
  throw new CommandError(`The library has no state of ${at}, or its history does not reach back so far.`)
}

/** Whether the commit was a head. One that a merge brought in has the number of the merge. */
async function isOnMainLine(
  db: Database,
  library: LibraryInfo,
  { id, seq }: NumberedCommit,
): Promise<boolean> {
  return (await commitRows.listBySeq(db, library, [seq])).get(seq)?.id === id
}

async function newestAt(db: Database, library: LibraryInfo, at: string): Promise<NumberedCommit | undefined> {
  const time = Math.floor(Date.parse(at) / 1000)
  if (Number.isNaN(time)) {
    throw new CommandError(`${at} is neither a time such as 2026-11-01T12:00:00Z nor a commit id.`, {
      exitCode: 2,
    })
  }
  const seq = await commitRows.seqAtTime(db, library.key, time)
  return (await commitRows.listBySeq(db, library, [seq])).get(seq)
}

/** The key of an encrypted library. */
async function keyOf(
  { id, encryption }: LibraryInfo,
  passwordFile: string | undefined,
): Promise<DataKey | undefined> {
  if (encryption === undefined) return undefined
  if (passwordFile === undefined) {
    throw new CommandError('The library is encrypted: name a file with its password by --password-file.')
  }
  const [password = ''] = (await readFile(passwordFile, 'utf8')).split(/\r?\n/)
  const isRight = await libraryPasswords.check(id, encryption, password)
  const key = isRight ? await libraryPasswords.dataKeyFrom(encryption, password) : undefined
  if (key === undefined) throw new CommandError('The password of the library is wrong.')
  return key
}

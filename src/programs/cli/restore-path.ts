import type { Config } from '../../base/config/index.ts'
import { DomainError, type Fault } from '../../base/errors.ts'
import { createLogger } from '../../base/logging.ts'
import { parseLibraryId } from '../../base/objects/index.ts'
import {
  isWithin,
  joinPath,
  type LibraryPath,
  parentOf,
  parsePath,
  ROOT,
  segmentsOf,
} from '../../base/paths/index.ts'
import { restoreAnnotations } from '../../derived/annotations/index.ts'
import { placeRestored } from '../../libraries/edits/index.ts'
import type { EditableLibrary, LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import {
  copyFromSnapshot,
  findManifest,
  listSnapshotLibraries,
  openRepository,
  Snapshot,
  SnapshotTree,
  TargetLock,
} from '../../maintenance/backup/index.ts'
import { Access } from '../../sharing/access/index.ts'
import { holdLease, openBlocks, openCore } from '../assembly/index.ts'
import { type OpenAccounts, openAccounts } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { columns, print, sizeText } from './output.ts'

interface PathFlags {
  readonly json: boolean
  readonly snapshot: string
  readonly library: string
  readonly path: string
}

interface RestorePathFlags extends PathFlags {
  /** The library it goes to, unless it is the one it comes from. */
  readonly toLibrary?: string
  /** The folder it goes to, unless it is the one it comes from. */
  readonly toFolder?: string
  /** Replaces an item of its name. */
  readonly replace?: true
}

/** Some files are not restored, because the server had lost them before the backup. */
const RESTORED_WITH_LOSSES = 3

/**
 * Restores one file or folder of a snapshot into a library of an existing server, which may be running, with one commit. Resolves to the
 * exit code.
 */
export async function restorePath(config: Config, target: string, flags: RestorePathFlags): Promise<number> {
  const path = pathOf('--path', flags.path)
  if (path === ROOT) {
    throw new CommandError('To restore a whole library, leave out --path.', { exitCode: 2 })
  }
  const folder = flags.toFolder === undefined ? parentOf(path) : pathOf('--to-folder', flags.toFolder)
  lowerPriority()
  await using opened = new AsyncDisposableStack()
  const { snapshot, library } = await openLibraryIn(config, target, flags, opened)
  const accounts = opened.use(await openAccounts(config))
  const { db, quotas } = accounts
  opened.use(await holdLease(db, 'restore'))
  const now = () => Math.floor(Date.now() / 1000)
  const blocks = opened.use(await openBlocks(config, { db, shared: true }))
  const logger = createLogger('error', { pretty: false })
  const core = opened.use(openCore({ db, blocks, config, now, logger }))
  const editable = await openTargetLibrary(core, accounts, library, flags.toLibrary)
  const source = opened.use(await SnapshotTree.open(snapshot, library.row))
  const entry = await source.find(path)
  if (entry === undefined) {
    throw new CommandError(
      `The library ${library.name} has no ${path} in the snapshot ${snapshot.manifest.id}: carrel backup files shows what is in a folder.`,
    )
  }
  const { key: libraryKey } = editable.info
  const copied = await copyFromSnapshot(snapshot, source, entry, { db, blocks, libraryKey, now })
  if (copied.lost.includes(ROOT)) {
    throw new CommandError(
      `${path} cannot be restored from the snapshot ${snapshot.manifest.id}, because the server had lost it before: name an older one with --snapshot. Nothing was changed.`,
    )
  }
  const placed = await explained(() =>
    placeRestored(
      core,
      editable,
      {
        entry,
        folder,
        bytes: copied.bytes,
        from: Math.floor(Date.parse(snapshot.manifest.createdAt) / 1000),
        replace: flags.replace === true,
        leftOut: copied.lost,
      },
      (info) => quotas.roomLeft(info),
    ),
  )
  const leftOut = copied.lost.map((lost) => segmentsOf(lost).reduce(joinPath, path))
  await restoreAnnotations({
    db,
    rows: (table) => snapshot.records(table),
    fromKey: Number(library.row['key']),
    toKey: libraryKey,
    placeOf: (at) =>
      isWithin(at, path) && !leftOut.some((lost) => isWithin(at, lost))
        ? (`${placed.path}${at.slice(path.length)}` as LibraryPath)
        : undefined,
    isWhole: false,
    isSame: editable.info.id === library.id,
    accountKeyOf: async (email) => (await accounts.accounts.find(email))?.key,
  })
  const { files, bytes, blocks: read } = copied
  const document = {
    snapshot: snapshot.manifest.id,
    library: editable.info.id,
    ...placed,
    files,
    bytes,
    read,
    leftOut,
  }
  const what = `${placed.path} of ${editable.info.name}`
  const size = `${files === 1 ? '1 file' : `${files} files`} with ${sizeText(bytes)}`
  print(flags.json, document, [
    ...leftOut.map((lost) => `${lost} is not restored: the server had lost it before the backup.`),
    placed.outcome === 'unchanged'
      ? `${what} is already as it was in the snapshot. Damaged blocks of it, if there were any, were replaced.`
      : `Restored ${what}: ${size}.`,
  ])
  return leftOut.length > 0 ? RESTORED_WITH_LOSSES : 0
}

/** Lists the files and folders in a folder of a snapshot. */
export async function listFilesIn(config: Config, target: string, flags: PathFlags): Promise<void> {
  const path = pathOf('--path', flags.path)
  await using opened = new AsyncDisposableStack()
  const { snapshot, library } = await openLibraryIn(config, target, flags, opened)
  const source = opened.use(await SnapshotTree.open(snapshot, library.row))
  const entry = path === ROOT ? undefined : await source.find(path)
  if (path !== ROOT && entry === undefined) {
    throw new CommandError(
      `The library ${library.name} has no ${path} in the snapshot ${snapshot.manifest.id}: list the folder above it.`,
    )
  }
  const entries = entry?.kind === 'file' ? [entry] : await source.list(path)
  const files = entries.map(({ kind, name, mtime, ...rest }) => ({
    kind,
    name,
    modified: new Date(mtime * 1000).toISOString(),
    size: 'size' in rest ? rest.size : 0,
  }))
  const rows = files.map(({ kind, name, modified, size }) => [
    modified,
    kind === 'file' ? sizeText(size) : '-',
    kind === 'dir' ? `${name}/` : name,
  ])
  print(
    flags.json,
    { snapshot: snapshot.manifest.id, library: library.id, path, files },
    columns([['MODIFIED', 'SIZE', 'NAME'], ...rows]),
  )
}

async function openLibraryIn(
  config: Config,
  target: string,
  { snapshot: wanted, library: id }: PathFlags,
  opened: AsyncDisposableStack,
) {
  const repository = await openRepository(target, config.backup)
  opened.use(await TargetLock.acquire(repository.target, 'read', 'carrel restore'))
  const snapshot = new Snapshot(repository, await findManifest(repository, wanted))
  const library = (await listSnapshotLibraries(snapshot)).find((one) => one.id === id)
  if (library !== undefined) return { snapshot, library }
  throw new CommandError(
    `The snapshot ${snapshot.manifest.id} has no library ${id}: carrel backup libraries shows those there are.`,
  )
}

type SnapshotLibrary = Awaited<ReturnType<typeof listSnapshotLibraries>>[number]

/** The library that the item goes to, as its owner sees it. */
async function openTargetLibrary(
  core: LibraryCore,
  { db, accounts }: OpenAccounts,
  source: SnapshotLibrary,
  toLibrary: string | undefined,
): Promise<EditableLibrary> {
  const wanted = toLibrary ?? source.id
  const id = parseLibraryId(wanted)
  const info = id && (await libraryRows.find(db, id))
  if (info === undefined) {
    throw new CommandError(
      toLibrary === undefined
        ? `The server has no library ${wanted} any more: restore it as a whole without --path, or name another with --to-library.`
        : `The server has no library ${wanted}: give --to-library the id of one it has.`,
    )
  }
  if (info.id !== source.id && (source.isEncrypted || info.encryption !== undefined)) {
    const encrypted = source.isEncrypted ? source.name : info.name
    throw new CommandError(
      `The library ${encrypted} is encrypted, and its files can be restored only into the library they come from.`,
    )
  }
  const owner = await accounts.findByKey(info.ownerKey)
  if (owner === undefined) throw new CommandError(`The library ${info.name} has no owner.`)
  return explained(async () => (await new Access({ core, db }).open(owner, info.id)).editable(ROOT))
}

/** Puts faults of the library into the words of this command. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const sentence = error instanceof DomainError ? sentenceOf(error.fault) : undefined
    if (sentence === undefined) throw error
    throw new CommandError(`${sentence} Nothing was changed.`, { cause: error })
  }
}

function sentenceOf(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'quota-exceeded':
      return `The owner of the library has a quota of ${sizeText(fault.limit)}, which this would exceed: raise it, or name another library with --to-library.`
    case 'locked':
      return `${fault.path} is locked by a user: leave out --replace, or wait until it is unlocked.`
    case 'path-not-found':
      return `${fault.path} is a file, so nothing can be restored below it: name a folder with --to-folder.`
    case 'name-invalid':
      return `${fault.name} is no valid name of a folder: name another with --to-folder.`
    case 'permission-denied':
      return 'The library is read-only: make it writable, or name another with --to-library.'
    case 'too-many-entries':
      return `The ${fault.of} would have more than ${fault.limit} files and folders: restore a smaller folder, or raise the limit.`
    default:
      return undefined
  }
}

function pathOf(flag: string, text: string): LibraryPath {
  const path = parsePath(text)
  if (path !== undefined) return path
  throw new CommandError(`${text} is no path in a library: give ${flag} one such as /folder/file.`, {
    exitCode: 2,
  })
}

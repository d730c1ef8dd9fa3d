import { lstat, stat } from 'node:fs/promises'
import path from 'node:path'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { TreeDownload } from './download-tree.ts'
import type { Failures } from './pool.ts'
import { Progress } from './progress.ts'
import { joinRemote, nameOfRemote, parentOfRemote, parseRemote, type RemoteText } from './remote-path.ts'
import { byFolder, type RemoteEntry, select } from './select.ts'
import { type CallContext, type CommonOptions, runClient, type Session } from './session.ts'
import { print, sizeText } from './terminal.ts'
import { type TransferOptions, type Transferred, TreeUpload } from './upload-tree.ts'

export interface CopyOptions extends CommonOptions {
  readonly recursive?: true
  readonly update?: true
  readonly noClobber?: true
  readonly parallel?: string
  readonly quiet?: true
}

/** `carrel cp SOURCE... TARGET`: local to remote, remote to local, or remote to remote. */
export function copy(sources: readonly string[], target: string, options: CopyOptions): Promise<number> {
  return runClient(options, async (session) => {
    const to = parseRemote(target)
    const from = sources.map(parseRemote)
    const remoteFrom = from.filter((one) => one !== undefined)
    if (remoteFrom.length !== 0 && remoteFrom.length !== sources.length) {
      throw usageError('Name sources of one kind: all local, or all as LIBRARY:/path.')
    }
    if (to === undefined && remoteFrom.length === 0) {
      throw usageError('Name a library as source or target: LIBRARY:/path.')
    }
    if (to === undefined) return download(session, remoteFrom, target, options)
    if (remoteFrom.length === 0) return upload(session, sources, to, options)
    return copyRemote(session, remoteFrom, to, options)
  })
}

function transferOptions(options: CopyOptions, progress: Progress): TransferOptions {
  const parallel = Number(options.parallel ?? 4)
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > 64) {
    throw usageError('Give --parallel as a number from 1 to 64.')
  }
  return { parallel, update: options.update === true, noClobber: options.noClobber === true, progress }
}

async function upload(
  session: Session,
  sources: readonly string[],
  to: RemoteText,
  options: CopyOptions,
): Promise<number> {
  const { id: library } = await session.libraries.get(to.library)
  const found = await session.carrel.find(library, to.path)
  const isInto = found === undefined ? to.isFolder || sources.length > 1 : found.kind === 'dir'
  const planned: { local: string; remote: string }[] = []
  for (const source of sources) {
    const stats = await lstat(source)
    if (stats.isDirectory() && !options.recursive) throw usageError(`${source} is a folder: add --recursive.`)
    if (found?.kind === 'file' && (stats.isDirectory() || sources.length > 1)) {
      throw new ClientError(`${to.library}:${to.path} is a file.`, EXIT.conflict)
    }
    // `folder/.` is the content of the folder.
    const name = /(?:^|[/\\])\.{1,2}[/\\]?$/.test(source) ? '' : path.basename(source)
    const remote = isInto && name !== '' ? joinRemote(to.path, name) : to.path
    planned.push({ local: source, remote })
  }
  using progress = new Progress({ quiet: options.quiet === true || options.json === true })
  const work = new TreeUpload(session, library, transferOptions(options, progress))
  await work.run(planned)
  return report(work, options)
}

async function download(
  session: Session,
  sources: readonly RemoteText[],
  target: string,
  options: CopyOptions,
): Promise<number> {
  const entries: (RemoteEntry & { isContent: boolean })[] = []
  for (const source of sources) {
    // The root of a library has no name that a local folder could get.
    const isContent = source.isContent || source.path === '/'
    entries.push(...(await select(session, source)).map((entry) => ({ ...entry, isContent })))
  }
  const folder = entries.find(({ kind }) => kind === 'dir')
  if (folder !== undefined && !options.recursive)
    throw usageError(`${folder.path} is a folder: add --recursive.`)
  const found = await stat(target).catch(() => undefined)
  const isInto = found?.isDirectory() ?? (/[/\\]$/.test(target) || entries.length > 1)
  if (found !== undefined && !found.isDirectory() && (entries.length > 1 || folder !== undefined)) {
    throw new ClientError(`${target} is a file.`, EXIT.conflict)
  }
  using progress = new Progress({ quiet: options.quiet === true || options.json === true })
  const transfer = transferOptions(options, progress)
  const results: { transferred: Transferred; failures: Failures }[] = []
  for (const library of new Set(entries.map((entry) => entry.library))) {
    const own = entries.filter((entry) => entry.library === library)
    // A single entry under a new name: that name is in the parent of the target.
    const [only] = own
    const isRenamed = !isInto && only !== undefined
    const isContent = isRenamed && only.kind === 'dir'
    const root = isInto || isContent ? target : path.dirname(target)
    const work = new TreeDownload(session, library, root, transfer)
    await work.run(
      own.map((entry) => ({
        entry,
        name: isContent || entry.isContent ? '' : isRenamed ? path.basename(target) : entry.name,
      })),
    )
    results.push(work)
  }
  return report(merged(results), options)
}

function merged(results: readonly { transferred: Transferred; failures: Failures }[]) {
  const [first, ...others] = results
  if (first === undefined) throw new Error('nothing was selected')
  for (const { transferred, failures } of others) {
    first.transferred.files += transferred.files
    first.transferred.bytes += transferred.bytes
    first.transferred.skipped += transferred.skipped
    first.failures.list.push(...failures.list)
  }
  return first
}

function report(
  { transferred, failures }: { transferred: Transferred; failures: Failures },
  options: CopyOptions,
): number {
  const { files, bytes, skipped } = transferred
  const rest = skipped === 0 ? '' : `, ${skipped} skipped`
  const lines = options.quiet ? [] : [`Copied ${files} files (${sizeText(bytes)})${rest}.`]
  print(options.json === true, { ...transferred, failed: failures.list }, lines)
  return failures.exitCode
}

/** A destination of copies and moves within the server, checked so that nothing is replaced. */
export async function placeRemote(
  session: CallContext,
  entries: readonly RemoteEntry[],
  to: RemoteText,
): Promise<{ library: string; folder: string; name: string | undefined }> {
  const { carrel, libraries } = session
  const { id: library } = await libraries.get(to.library)
  const found = await carrel.find(library, to.path)
  const isInto = found?.kind === 'dir' || to.isFolder || entries.length > 1
  if (found?.kind === 'file') throw taken(to.library, to.path)
  if (!isInto) {
    const folder = parentOfRemote(to.path)
    if ((await carrel.find(library, folder))?.kind !== 'dir') {
      throw new ClientError(`There is no folder ${to.library}:${folder}.`, EXIT.notFound)
    }
    return { library, folder, name: nameOfRemote(to.path) }
  }
  if (found === undefined) await carrel.createFolders(library, [to.path])
  for (const { name } of entries) {
    const place = joinRemote(to.path, name)
    if (found !== undefined && (await carrel.find(library, place)) !== undefined) {
      throw taken(to.library, place)
    }
  }
  return { library, folder: to.path, name: undefined }
}

const taken = (library: string, place: string) =>
  new ClientError(`${library}:${place} exists, and nothing is replaced on the server.`, EXIT.conflict)

async function copyRemote(
  session: Session,
  sources: readonly RemoteText[],
  to: RemoteText,
  options: CopyOptions,
): Promise<number> {
  const entries: RemoteEntry[] = []
  for (const source of sources) entries.push(...(await select(session, source)))
  const folder = entries.find(({ kind }) => kind === 'dir')
  if (folder !== undefined && !options.recursive)
    throw usageError(`${folder.path} is a folder: add --recursive.`)
  await copyEntries(session, entries, to)
  print(
    options.json === true,
    { copied: entries.length },
    options.quiet ? [] : [`Copied ${entries.length} items.`],
  )
  return EXIT.ok
}

/** Copies entries into a folder of the server, or one entry to a path. Throws a conflict if a name is taken. */
export async function copyEntries(
  session: CallContext,
  entries: readonly RemoteEntry[],
  to: RemoteText,
): Promise<void> {
  if (entries.some((entry) => entry.path === '/')) {
    throw usageError('Name folders within the library, not all of it.')
  }
  const place = await placeRemote(session, entries, to)
  const [only] = entries
  if (place.name === undefined || place.name === only?.name) {
    const { carrel, signal } = session
    for (const group of byFolder(entries)) await carrel.copy(group, place, { signal })
  } else if (only !== undefined) await copyAs(session, only, place, place.name)
}

/** Copies under another name: as it is, then renamed. */
async function copyAs(
  { carrel, signal }: CallContext,
  entry: RemoteEntry,
  place: { library: string; folder: string },
  name: string,
): Promise<void> {
  if (entry.kind === 'file') {
    const copied = await carrel.copyFile(entry.library, entry.path, place)
    await carrel.rename(place.library, { path: joinRemote(place.folder, copied), kind: 'file' }, name)
    return
  }
  const between = joinRemote(place.folder, entry.name)
  if ((await carrel.find(place.library, between)) !== undefined) {
    throw new ClientError(
      `${between} is in the way of the copy: copy ${entry.name} into another folder first.`,
      EXIT.conflict,
    )
  }
  await carrel.copy(byFolder([entry])[0] ?? fail(), place, { signal })
  await carrel.rename(place.library, { path: between, kind: 'dir' }, name)
}

function fail(): never {
  throw new Error('an entry has a folder')
}

import { ClientError, EXIT, usageError } from './client-error.ts'
import { placeRemote } from './copy.ts'
import { joinRemote, parentOfRemote, type RemoteText, requireRemote } from './remote-path.ts'
import { byFolder, type RemoteEntry, select } from './select.ts'
import { type CallContext, type CommonOptions, runClient } from './session.ts'
import { print } from './terminal.ts'

/** `carrel mv SOURCE... TARGET` within the server. */
export function move(sources: readonly string[], target: string, options: CommonOptions): Promise<number> {
  return runClient(options, async (session) => {
    const to = requireRemote(target)
    const entries: RemoteEntry[] = []
    for (const source of sources) entries.push(...(await select(session, requireRemote(source))))
    await moveEntries(session, entries, to)
    print(options.json === true, { moved: entries.length }, [`Moved ${entries.length} items.`])
    return EXIT.ok
  })
}

/** Moves entries into a folder, or one entry to a path. Throws a conflict if a name is taken. */
export async function moveEntries(
  session: CallContext,
  entries: readonly RemoteEntry[],
  to: RemoteText,
): Promise<void> {
  refuseRoot(entries)
  const place = await placeRemote(session, entries, to)
  const [only] = entries
  if (place.name === undefined || place.name === only?.name) {
    for (const group of byFolder(entries)) await session.carrel.move(group, place, { signal: session.signal })
  } else if (only !== undefined) await moveAs(session, only, place, place.name)
}

/** Moves and renames, in the order in which neither name is taken. */
async function moveAs(
  { carrel, signal }: CallContext,
  entry: RemoteEntry,
  place: { library: string; folder: string },
  name: string,
): Promise<void> {
  const folder = parentOfRemote(entry.path)
  const isSameFolder = entry.library === place.library && folder === place.folder
  if (isSameFolder) return carrel.rename(entry.library, entry, name)
  const selection = { library: entry.library, folder }
  const between = joinRemote(place.folder, entry.name)
  if ((await carrel.find(place.library, between)) === undefined) {
    await carrel.move({ ...selection, names: [entry.name] }, place, { signal })
    return carrel.rename(place.library, { path: between, kind: entry.kind }, name)
  }
  if ((await carrel.find(entry.library, joinRemote(folder, name))) !== undefined) {
    throw new ClientError(`Both names are taken on the way: rename ${entry.path} first.`, EXIT.conflict)
  }
  await carrel.rename(entry.library, entry, name)
  await carrel.move({ ...selection, names: [name] }, place, { signal })
}

/** Deletes entries. They stay in the trash of the library, from where `carrel restore` brings them back. */
export function remove(
  targets: readonly string[],
  options: CommonOptions & { readonly recursive?: true; readonly dryRun?: true },
): Promise<number> {
  return runClient(options, async (session) => {
    const entries: RemoteEntry[] = []
    for (const target of targets) entries.push(...(await select(session, requireRemote(target))))
    refuseRoot(entries)
    const folder = entries.find(({ kind }) => kind === 'dir')
    if (folder !== undefined && !options.recursive) {
      throw usageError(`${folder.path} is a folder: add --recursive.`)
    }
    if (!options.dryRun) {
      for (const group of byFolder(entries)) await session.carrel.remove(group, { signal: session.signal })
    }
    const verb = options.dryRun ? 'Would delete' : 'Deleted'
    print(
      options.json === true,
      { deleted: entries.map(({ library, path }) => ({ library, path })), dryRun: options.dryRun === true },
      entries.map(({ path }) => `${verb} ${path}.`),
    )
    return EXIT.ok
  })
}

/** The root of a library has no name. */
export function refuseRoot(entries: readonly RemoteEntry[]): void {
  if (entries.some(({ path }) => path === '/')) {
    throw usageError('Name files or folders within the library, not all of it.')
  }
}

/** Creates folders with their parents. */
export function makeFolders(targets: readonly string[], options: CommonOptions): Promise<number> {
  return runClient(options, async ({ carrel, libraries, signal }) => {
    for (const target of targets) {
      const remote = requireRemote(target)
      const { id } = await libraries.get(remote.library)
      if (remote.path !== '/') await carrel.createFolders(id, [remote.path], { signal })
    }
    print(options.json === true, { created: targets }, [])
    return EXIT.ok
  })
}

import type { Carrel } from '../../sdk/src/index.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { changedPaths, fileDiff } from './compare.ts'
import { stateOf } from './list.ts'
import { requireRemote } from './remote-path.ts'
import { getEntry } from './select.ts'
import { type CommonOptions, runClient } from './session.ts'
import { columns, print, timeText } from './terminal.ts'

export interface LogOptions extends CommonOptions {
  readonly limit: string
  /** Show what each commit changed. */
  readonly changes?: true
}

/** Lists the commits of a library, or the revisions of a file. */
export function log(target: string, options: LogOptions): Promise<number> {
  return runClient(options, async (session) => {
    const limit = Number(options.limit)
    if (!(limit >= 1)) throw usageError('Give a --limit of 1 or more.')
    const { carrel, signal } = session
    const entry = await getEntry(session, requireRemote(target))
    const { library } = entry
    if (entry.kind === 'file') {
      const revisions = await take(limit, carrel.revisions(library, entry.path, { signal }))
      const rows = revisions.map(({ commit, time, author, size, path }) => [
        commit,
        timeText(time),
        author,
        String(size),
        path,
      ])
      print(options.json === true, revisions, columns(rows))
      return EXIT.ok
    }
    if (entry.path !== '/') throw usageError('Name a file, or a library as LIBRARY:.')
    const commits = await take(limit, carrel.history(library, { signal }))
    const shown = []
    for (const commit of commits) {
      const changes = options.changes ? await carrel.changes(library, commit.id, { signal }) : undefined
      shown.push({ ...commit, ...(changes && { changes }) })
    }
    const lines = shown.flatMap(({ id, time, author, description, changes = [] }) => [
      `${id}  ${timeText(time)}  ${author}  ${description.split('\n')[0]}`,
      ...changes.map(({ operation, path, newPath }) =>
        newPath === '' ? `    ${operation}  ${path}` : `    ${operation}  ${path} -> ${newPath}`,
      ),
    ])
    print(options.json === true, shown, lines)
    return EXIT.ok
  })
}

/** The first items. */
async function take<T>(limit: number, items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length >= limit) break
  }
  return taken
}

export interface DiffOptions extends CommonOptions {
  readonly from: string
  readonly to?: string
}

/** Larger files are not compared line by line. */
const MAX_DIFF_BYTES = 5_000_000

/** Compares two states: lines of a text file, or the paths of a folder that differ. */
export function diff(target: string, options: DiffOptions): Promise<number> {
  return runClient(options, async ({ carrel, libraries, signal }) => {
    const remote = requireRemote(target)
    const { id: library } = await libraries.get(remote.library)
    const [before, after] = [
      { ...stateOf(options.from), signal },
      { ...stateOf(options.to), signal },
    ]
    const [old, now] = [
      await carrel.find(library, remote.path, before),
      await carrel.find(library, remote.path, after),
    ]
    if (old === undefined && now === undefined) {
      throw new ClientError(`There was no ${target} in either state.`, EXIT.notFound)
    }
    if (old?.kind === 'dir' || now?.kind === 'dir') {
      const changes = await take(
        Number.POSITIVE_INFINITY,
        changedPaths(carrel, library, remote.path, before, after),
      )
      print(
        options.json === true,
        changes,
        changes.map(({ change, path }) => `${change} ${path}`),
      )
      return EXIT.ok
    }
    const states = { old, before, now, after }
    const lines = await fileDiff(carrel, library, remote.path, states, { bytes: MAX_DIFF_BYTES })
    print(options.json === true, lines, lines)
    return EXIT.ok
  })
}

/** Restores a file, a folder or a library: to an earlier state, or from the trash. */
export function restore(target: string, options: CommonOptions & { readonly at?: string }): Promise<number> {
  return runClient(options, async ({ carrel, libraries, signal }) => {
    const remote = requireRemote(target)
    const { id: library } = await libraries.get(remote.library)
    if (options.at === undefined && remote.path === '/') {
      throw usageError('Say with --at to which state the library is reverted.')
    }
    const commit = await restorePath(carrel, library, remote.path, options.at, signal)
    const sentence =
      options.at === undefined ? `Restored ${target}.` : `Restored ${target} as of ${options.at}.`
    print(options.json === true, { restored: remote.path, commit }, [sentence])
    return EXIT.ok
  })
}

/** Restores a path as of `at`, or from the trash. Resolves to the commit that it was restored from. */
export async function restorePath(
  carrel: Carrel,
  library: string,
  path: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (at === undefined) {
    for await (const deleted of carrel.trash(library, { signal })) {
      if (deleted.path !== path) continue
      await carrel.restore(library, deleted)
      return deleted.commit
    }
    throw new ClientError(`${path} is not in the trash.`, EXIT.notFound)
  }
  const commit = await commitAt(carrel, library, at, signal)
  const entry = await carrel.find(library, path, { commit, signal })
  if (entry === undefined) throw new ClientError(`There was no ${path} then.`, EXIT.notFound)
  await carrel.revert(library, entry, commit)
  return commit
}

/** The commit that a time selects: the last one before it. */
async function commitAt(carrel: Carrel, library: string, at: string, signal: AbortSignal): Promise<string> {
  const { commit } = stateOf(at)
  if (commit !== undefined) return commit
  const time = Date.parse(at)
  if (Number.isNaN(time))
    throw usageError('Give a state as a commit id or a time such as 2026-11-01T12:00:00Z.')
  for await (const found of carrel.history(library, { signal })) {
    if (found.time.getTime() <= time) return found.id
  }
  throw new ClientError(`The history does not reach back to ${at}.`, EXIT.notFound)
}

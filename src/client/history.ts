import { text } from 'node:stream/consumers'
import type { Carrel, Entry, State } from '../../sdk/src/index.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { unifiedDiff } from './line-diff.ts'
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
      const changes = await changedPaths(carrel, library, remote.path, before, after)
      print(
        options.json === true,
        changes,
        changes.map(({ change, path }) => `${change} ${path}`),
      )
      return EXIT.ok
    }
    const lines = await fileDiff(carrel, library, remote.path, { old, before, now, after })
    print(options.json === true, lines, lines)
    return EXIT.ok
  })
}

/** Larger files are not compared line by line. */
const MAX_DIFF_BYTES = 5_000_000

/** The unified diff of a file in two states. Throws ClientError if it is not text, or too large. */
async function fileDiff(
  carrel: Carrel,
  library: string,
  path: string,
  states: { old: Entry | undefined; before: State; now: Entry | undefined; after: State },
): Promise<string[]> {
  const { old, before, now, after } = states
  if (old?.id === now?.id) return []
  if (Math.max(old?.size ?? 0, now?.size ?? 0) > MAX_DIFF_BYTES) {
    throw new ClientError(`${path} is larger than ${MAX_DIFF_BYTES} bytes.`)
  }
  const contentOf = async (entry: Entry | undefined, state: State) =>
    entry === undefined ? '' : text((await carrel.download(library, path, state)).body)
  const [first, second] = [await contentOf(old, before), await contentOf(now, after)]
  if (first.includes('\0') || second.includes('\0')) throw new ClientError(`${path} is not a text file.`)
  return [`--- ${path}`, `+++ ${path}`, ...unifiedDiff(first, second)]
}

interface PathChange {
  readonly change: 'added' | 'deleted' | 'modified'
  readonly path: string
  readonly kind: 'file' | 'dir'
}

/** Paths that differ between two states. Folders with the same id are not read, so the cost follows the changes. */
async function changedPaths(
  carrel: Carrel,
  library: string,
  folder: string,
  before: State,
  after: State,
): Promise<PathChange[]> {
  const [old, now] = [
    await entriesIn(carrel, library, folder, before),
    await entriesIn(carrel, library, folder, after),
  ]
  const changes: PathChange[] = []
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(name), now.get(name)]
    if (was?.id === is?.id && was?.kind === is?.kind) continue
    if (was?.kind === 'dir' && is?.kind === 'dir') {
      changes.push(...(await changedPaths(carrel, library, was.path, before, after)))
      continue
    }
    if (was?.kind === 'file' && is?.kind === 'file') {
      changes.push({ change: 'modified', path: is.path, kind: 'file' })
      continue
    }
    if (was !== undefined) changes.push({ change: 'deleted', path: was.path, kind: was.kind })
    if (is !== undefined) changes.push({ change: 'added', path: is.path, kind: is.kind })
  }
  return changes
}

async function entriesIn(
  carrel: Carrel,
  library: string,
  folder: string,
  state: State,
): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>()
  const there = await carrel.find(library, folder, state)
  if (there?.kind !== 'dir') return found
  for await (const entry of carrel.list(library, folder, state)) found.set(entry.name, entry)
  return found
}

/** Restores a file, a folder or a library: to an earlier state, or from the trash. */
export function restore(target: string, options: CommonOptions & { readonly at?: string }): Promise<number> {
  return runClient(options, async ({ carrel, libraries, signal }) => {
    const remote = requireRemote(target)
    const { id: library } = await libraries.get(remote.library)
    if (options.at === undefined) {
      if (remote.path === '/') throw usageError('Say with --at to which state the library is reverted.')
      for await (const deleted of carrel.trash(library, { signal })) {
        if (deleted.path !== remote.path) continue
        await carrel.restore(library, deleted)
        print(options.json === true, { restored: remote.path, commit: deleted.commit }, [
          `Restored ${target}.`,
        ])
        return EXIT.ok
      }
      throw new ClientError(`${target} is not in the trash.`, EXIT.notFound)
    }
    const commit = await commitAt(carrel, library, options.at, signal)
    const entry = await carrel.find(library, remote.path, { commit, signal })
    if (entry === undefined) throw new ClientError(`There was no ${target} then.`, EXIT.notFound)
    await carrel.revert(library, entry, commit)
    print(options.json === true, { restored: remote.path, commit }, [
      `Restored ${target} as of ${options.at}.`,
    ])
    return EXIT.ok
  })
}

/** The commit that a time selects: the last one before it. */
async function commitAt(carrel: Carrel, library: string, at: string, signal: AbortSignal): Promise<string> {
  const { commit } = stateOf(at)
  if (commit !== undefined) return commit
  const time = Date.parse(at)
  if (Number.isNaN(time)) throw usageError('Give --at as a commit id or a time such as 2026-11-01T12:00:00Z.')
  for await (const found of carrel.history(library, { signal })) {
    if (found.time.getTime() <= time) return found.id
  }
  throw new ClientError(`The history does not reach back to ${at}.`, EXIT.notFound)
}

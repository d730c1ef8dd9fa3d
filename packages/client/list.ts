import type { Entry } from '../../sdk/src/index.ts'
import { EXIT, usageError } from './client-error.ts'
import { parseRemote, requireRemote } from './remote-path.ts'
import { getEntry, matchesName, type RemoteEntry, select } from './select.ts'
import { type CommonOptions, runClient, type Session } from './session.ts'
import { columns, note, print, sizeText, timeText } from './terminal.ts'

export interface ListOptions extends CommonOptions {
  readonly long?: true
  /** An earlier state: a time or a commit id. */
  readonly at?: string
}

/** A commit id is 40 hexadecimal digits. Anything else is a time. */
export function stateOf(at: string | undefined): { commit?: string; at?: string } {
  if (at === undefined) return {}
  return /^[0-9a-f]{40}$/.test(at) ? { commit: at } : { at }
}

/** Lists libraries, or a folder. */
export function list(target: string | undefined, options: ListOptions): Promise<number> {
  return runClient(options, async (session) => {
    if (target === undefined) return listLibraries(session, options)
    const remote = parseRemote(target)
    if (remote === undefined) throw usageError(`Write "${target}:" for the library "${target}".`)
    const selected: RemoteEntry[] =
      options.at === undefined
        ? await select(session, remote)
        : [{ ...(await folderAt(session, target, options.at)) }]
    const entries: Entry[] = []
    for (const entry of selected) {
      if (entry.kind === 'file' || (selected.length > 1 && !remote.isFolder)) entries.push(entry)
      else {
        const state = { ...stateOf(options.at), signal: session.signal }
        for await (const child of session.carrel.list(entry.library, entry.path, state)) entries.push(child)
      }
    }
    const rows = entries.map((entry) => [
      entry.kind === 'dir' ? '-' : sizeText(entry.size),
      timeText(entry.modifiedAt),
      shownName(entry),
    ])
    print(options.json === true, entries, options.long ? columns(rows) : entries.map(shownName))
    return EXIT.ok
  })
}

async function folderAt(session: Session, target: string, at: string): Promise<RemoteEntry> {
  const remote = requireRemote(target)
  const { id: library } = await session.libraries.get(remote.library)
  const entry = await session.carrel.find(library, remote.path, stateOf(at))
  if (entry === undefined) throw usageError(`${target} did not exist then.`)
  return { ...entry, library }
}

const shownName = ({ name, kind }: Entry) => (kind === 'dir' ? `${name}/` : name)

async function listLibraries({ carrel }: Session, options: ListOptions): Promise<number> {
  const libraries = await carrel.libraries()
  const rows = libraries.map(({ size, modifiedAt, permission, owner, name, encrypted }) => [
    sizeText(size),
    timeText(modifiedAt),
    permission,
    owner,
    `${name}:${encrypted ? ' (encrypted)' : ''}`,
  ])
  print(
    options.json === true,
    libraries,
    options.long ? columns(rows) : libraries.map(({ name }) => `${name}:`),
  )
  return EXIT.ok
}

/** Draws everything below a folder. */
export function tree(target: string, options: CommonOptions & { readonly depth?: string }): Promise<number> {
  return runClient(options, async (session) => {
    const remote = requireRemote(target)
    const { library, path } = await getEntry(session, remote)
    const most = options.depth === undefined ? Number.POSITIVE_INFINITY : Number(options.depth)
    if (!(most >= 1)) throw usageError('Give a --depth of 1 or more.')
    print(options.json === true, await nodesOf(session, library, path, most, options), [])
    return EXIT.ok
  })
}

interface Node {
  readonly name: string
  readonly kind: 'file' | 'dir'
  readonly size: number
  readonly children?: readonly Node[]
}

/** Prints the lines while it walks, unless JSON is wanted: a large tree should not wait for its end. */
async function nodesOf(
  { carrel, signal }: Session,
  library: string,
  root: string,
  most: number,
  { json }: CommonOptions,
): Promise<Node[]> {
  const walk = async (folder: string, prefix: string, depth: number): Promise<Node[]> => {
    const entries: Entry[] = []
    for await (const entry of carrel.list(library, folder, { signal })) entries.push(entry)
    const nodes: Node[] = []
    for (const [index, entry] of entries.entries()) {
      const isLast = index === entries.length - 1
      if (!json) print(false, undefined, [`${prefix}${isLast ? '└── ' : '├── '}${shownName(entry)}`])
      const { name, kind, size } = entry
      const children =
        kind === 'dir' && depth < most
          ? await walk(entry.path, `${prefix}${isLast ? '    ' : '│   '}`, depth + 1)
          : undefined
      if (json) nodes.push({ name, kind, size, ...(children && { children }) })
    }
    return nodes
  }
  return walk(root, '', 1)
}

export interface FindOptions extends CommonOptions {
  readonly name?: string
  readonly type?: 'f' | 'd'
  /** Bytes. */
  readonly larger?: string
  /** ISO 8601. */
  readonly newer?: string
}

/** Prints the entries below a folder that match. JSON is one document per line, because there may be many. */
export function find(target: string, options: FindOptions): Promise<number> {
  return runClient(options, async (session) => {
    const remote = requireRemote(target)
    const { library, path } = await getEntry(session, remote)
    const larger = options.larger === undefined ? -1 : Number(options.larger)
    const newer = options.newer === undefined ? Number.NEGATIVE_INFINITY : Date.parse(options.newer)
    if (Number.isNaN(larger) || Number.isNaN(newer)) {
      throw usageError('Give --larger in bytes and --newer as a date such as 2026-11-01.')
    }
    const kind = options.type && (options.type === 'd' ? 'dir' : 'file')
    for await (const entry of session.carrel.walk(library, path, { signal: session.signal })) {
      if (kind !== undefined && entry.kind !== kind) continue
      if (options.name !== undefined && !matchesName(entry.name, options.name)) continue
      if (entry.size <= larger || entry.modifiedAt.getTime() <= newer) continue
      if (options.json) process.stdout.write(`${JSON.stringify(entry)}\n`)
      else print(false, undefined, [`${remote.library}:${entry.path}`])
    }
    return EXIT.ok
  })
}

export interface SearchOptions extends CommonOptions {
  readonly in?: string
  readonly names?: true
  readonly limit?: string
}

/** Searches names and texts on the server. */
export function search(text: string, options: SearchOptions): Promise<number> {
  return runClient(options, async ({ carrel, libraries, signal }) => {
    const limit = Number(options.limit ?? 100)
    if (!(limit >= 1)) throw usageError('Give a --limit of 1 or more.')
    const place = options.in === undefined ? undefined : requireRemote(options.in)
    const results = []
    for await (const found of carrel.search(text, {
      signal,
      ...(place && { library: (await libraries.get(place.library)).id }),
      ...(place && place.path !== '/' && { folder: place.path }),
      ...(options.names && { namesOnly: true }),
    })) {
      results.push(found)
      if (results.length >= limit) break
    }
    print(
      options.json === true,
      results,
      results.flatMap(({ libraryName, path, excerpt }) => [
        `${libraryName}:${path}`,
        ...(excerpt === '' ? [] : [`    ${plainExcerpt(excerpt)}`]),
      ]),
    )
    if (results.length === 0 && !options.json) note('Nothing found.')
    return EXIT.ok
  })
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

/** An excerpt without its HTML, on one line. */
export function plainExcerpt(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { at } from '../../test/support/core.ts'
import { ADMIN } from '../../test/support/server.ts'
import type { BenchServer } from '../bench-server.ts'
import type { HttpTarget, Measured } from '../http-target.ts'
import { numbered } from '../library-builder.ts'
import { DavServer, davKinds } from '../limits/dav-server.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { digits } from '../load/request-template.ts'
import { LongBodies } from '../load/stream-body.ts'
import type { StreamResult } from '../load/stream-plan.ts'
import { median } from '../median.ts'
import { type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { contentSha1, expectContent, randomContent } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const KIB_4 = 4096
const MIB = 2 ** 20
const ROUNDS = 3
const LISTING_CLIENTS = 8
/** Levels of the deep tree. Every folder but the last ones has two folders. */
const LEVELS = 10
const FILES_PER_FOLDER = 4
const PUT_CLIENTS = [1, 16]
/** Of the best of the other servers. */
const SHARE = 0.8
const LIBRARY = 'Dav'

const ASKED =
  '<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>'

/**
 * WebDAV next to other servers, which ask for no password. They flush nothing by themselves: for small files the kernel flushes what they
 * write, and a large file is flushed after its response.
 */
export const webdav: Scenario = {
  name: 'webdav',
  async run(context) {
    await using workspace = await context.workspace()
    const sizes = { few: 100, many: context.size(10_000, 500), levels: context.size(LEVELS, 3) }
    const library = await prepare(workspace, sizes)
    await using others = new AsyncDisposableStack()
    const servers = await startOthers(context, others, sizes)
    const carrel = new CarrelDav(await workspace.serve(), library)
    const all = [carrel, ...servers]
    const rows: Row[] = []
    for (const clients of PUT_CLIENTS) rows.push(...(await smallPuts(context, workspace, all, clients)))
    rows.push(...(await large(context, all)))
    rows.push(...(await listing(context, all, 'few', sizes.few, LISTING_CLIENTS)))
    rows.push(...(await listing(context, all, 'many', sizes.many, 1)))
    rows.push(...(await treeWalk(context, all, sizes.levels)))
    return rows
  },
}

interface Sizes {
  readonly few: number
  readonly many: number
  readonly levels: number
}

/** One of the compared servers. */
interface Compared extends Pick<HttpTarget, 'load' | 'upload' | 'download'> {
  /** Undefined for our own. */
  readonly name: string | undefined
  readonly url: string
  /** Of the folder with all items. */
  readonly prefix: string
  readonly headers: Readonly<Record<string, string>>
  readonly listsFolders: boolean
  /** Runs `work` while everything in a folder is flushed before it is acknowledged. Says whether that is so. */
  flushing<T>(folder: string, work: () => Promise<T>): Promise<{ result: T; flushed: boolean }>
  /** Flushes a stored file, if it is not. */
  flush(file: string): Promise<void>
  /** Deletes a stored file, if that is necessary to store the next one under equal conditions. */
  discard(file: string): Promise<void>
}

/** Our server, with a name and a password in every request. */
class CarrelDav implements Compared {
  readonly name = undefined
  readonly prefix = `/dav/${LIBRARY}/`
  readonly listsFolders = true
  readonly headers = {
    Authorization: `Basic ${Buffer.from(`${ADMIN.email}:${ADMIN.password}`).toString('base64')}`,
  }
  readonly server: BenchServer
  readonly library: string

  constructor(server: BenchServer, library: string) {
    this.server = server
    this.library = library
  }

  get url(): string {
    return this.server.client.url
  }

  load({ request, ...load }: Parameters<Compared['load']>[0]): ReturnType<Compared['load']> {
    const requests = 'path' in request ? [request] : request
    const anonymous = requests.map((one) => ({ ...one, anonymous: true }) as const)
    return this.server.load({ ...load, request: anonymous })
  }

  upload(...args: Parameters<Compared['upload']>): ReturnType<Compared['upload']> {
    return this.server.upload(...args)
  }

  download(...args: Parameters<Compared['download']>): ReturnType<Compared['download']> {
    return this.server.download(...args)
  }

  /** Always. */
  async flushing<T>(_folder: string, work: () => Promise<T>): Promise<{ result: T; flushed: boolean }> {
    return { result: await work(), flushed: true }
  }

  async flush(): Promise<void> {}

  async discard(): Promise<void> {}
}

class OtherDav implements Compared {
  readonly prefix = '/'
  readonly headers = {}
  readonly #server: DavServer

  constructor(server: DavServer) {
    this.#server = server
  }

  get name(): string {
    return this.#server.kind.name
  }

  get url(): string {
    return this.#server.url
  }

  get listsFolders(): boolean {
    return this.#server.kind.listsFolders()
  }

  load(...args: Parameters<Compared['load']>): ReturnType<Compared['load']> {
    return this.#server.load(...args)
  }

  upload(...args: Parameters<Compared['upload']>): ReturnType<Compared['upload']> {
    return this.#server.upload(...args)
  }

  download(...args: Parameters<Compared['download']>): ReturnType<Compared['download']> {
    return this.#server.download(...args)
  }

  flushing<T>(folder: string, work: () => Promise<T>): Promise<{ result: T; flushed: boolean }> {
    return this.#server.flushing(folder, work)
  }

  flush(file: string): Promise<void> {
    return this.#server.flush(file)
  }

  discard(file: string): Promise<void> {
    return this.#server.remove(file)
  }
}

async function prepare(workspace: Workspace, sizes: Sizes): Promise<string> {
  return workspace.prepare(async (builder) => {
    const library = await builder.newLibrary(LIBRARY)
    await builder.addFiles(library, at('/few'), sizes.few, 'file')
    await builder.addFiles(library, at('/many'), sizes.many, 'file')
    const mtime = Math.floor(Date.now() / 1000)
    const files = treeFolders(sizes.levels).flatMap((folder) =>
      fileNames(FILES_PER_FOLDER).map((name) => ({ folder: at(`/${folder}`), name, mtime })),
    )
    await builder.addNamed(library, files)
    for (const folder of PUT_CLIENTS.map(putFolder)) await builder.addFiles(library, at(`/${folder}`), 0, '')
    await builder.catchUp(library)
    return library.info.id
  })
}

async function startOthers(context: Context, owned: AsyncDisposableStack, sizes: Sizes): Promise<Compared[]> {
  const started: Compared[] = []
  for (const kind of davKinds) {
    const server = await DavServer.start(kind, (files) => fillFolder(files, sizes))
    if (server === undefined) {
      context.omit(kind.name, `${kind.command} is not on the PATH (Debian: ${kind.debianPackage})`)
      continue
    }
    started.push(new OtherDav(owned.use(server)))
    if (!kind.listsFolders()) context.omit(`PROPFIND of ${kind.name}`, `it needs ${kind.debianPackage}`)
  }
  return started
}

/** The same items as in the library. */
async function fillFolder(files: string, { few, many, levels }: Sizes): Promise<void> {
  const folders: [string, number][] = [
    ['few', few],
    ['many', many],
    ...treeFolders(levels).map((folder): [string, number] => [folder, FILES_PER_FOLDER]),
  ]
  for (const [folder, count] of folders) {
    await mkdir(path.join(files, folder), { recursive: true })
    for (const name of fileNames(count)) await writeFile(path.join(files, folder, name), name)
  }
  for (const folder of PUT_CLIENTS.map(putFolder)) {
    await mkdir(path.join(files, folder))
    // Apache serves with another account.
    await chmod(path.join(files, folder), 0o777)
  }
}

const putFolder = (clients: number) => `put-${clients}`
const fileNames = (count: number) => Array.from({ length: count }, (_, n) => numbered('file', n))

/** Every folder of the deep tree. The names are those that `levelPath` has for the number of a request. */
function treeFolders(levels: number): string[] {
  return Array.from({ length: levels }, (_, level) =>
    Array.from({ length: 2 ** (level + 1) }, (_unused, n) => levelPath(level, (size) => digits(n % size))),
  ).flat()
}

/** The path of a folder of a level: each segment is a number modulo the folders of its level. */
function levelPath(level: number, segment: (size: number) => string): string {
  const segments = Array.from({ length: level + 1 }, (_, above) => segment(2 ** (above + 1)))
  return ['tree', ...segments].join('/')
}

async function smallPuts(
  context: Context,
  workspace: Workspace,
  all: readonly Compared[],
  clients: number,
): Promise<Row[]> {
  const what = `PUT of 4 KiB, ${clients} client${clients === 1 ? '' : 's'}`
  const content = randomContent(KIB_4)
  const folder = putFolder(clients)
  const name = `${folder}/file-{n}`
  const measured = context.size(clients === 1 ? 2000 : 8000, 32)
  const rows: { one: Compared; row: Row }[] = []
  let areFlushed = true
  for (const one of all) {
    const put = () =>
      one.load({
        connections: clients,
        // Long, because the functions of a commit are optimized only after hundreds of calls.
        warmUp: { count: measured / 2 },
        measured: { count: measured },
        request: {
          method: 'PUT',
          path: `${one.prefix}${name}`,
          headers: one.headers,
          body: content,
        },
        status: 201,
      })
    const { result: load, flushesPerSecond } = await withFlushRate(workspace.folder, context.limitMs, () =>
      one.flushing(folder, put),
    )
    const { result, flushed } = load
    areFlushed &&= flushed
    const limit = { value: flushesPerSecond, of: 'syncs one by one' }
    const row = one.name === undefined ? rateRow(what, result, { limit }) : rateRow(what, result)
    rows.push({ one, row: { ...row, unit: 'files/s' } })
    if (one.listsFolders) await expectListed(one, folder, result.sent)
    if (one instanceof CarrelDav) {
      const file = `/${name.replace('{n}', digits(result.sent - 1))}`
      await expectContent(one.server, one.library, file, contentSha1(content, result.sent - 1))
    }
  }
  if (!areFlushed) {
    const reason =
      'the file system does not flush renames in synchronous folders. Set TMPDIR to one that does'
    context.omit('flushed PUTs of other servers', reason)
  }
  return compared(rows, { share: 1, limits: 'own', stores: areFlushed ? 'flushed' : 'unflushed' })
}

/** 1 GiB, stored and read, one stream, alternating between the servers. */
async function large(context: Context, all: readonly Compared[]): Promise<Row[]> {
  const bytes = context.size(1024, 20) * MIB
  const rateOf = ({ seconds }: StreamResult) => bytes / seconds / 1e6
  const puts = new Map<Compared, Measured<StreamResult>[]>()
  const gets = new Map<Compared, Measured<StreamResult>[]>()
  const rounds = context.size(ROUNDS, 1)
  for (let round = 0; round < rounds; round += 1) {
    for (const one of all) {
      const name = `large-${round}`
      const request = {
        method: 'PUT',
        path: one.prefix + name,
        headers: one.headers,
        body: round,
        bytes,
      } as const
      const stored = await one.upload([request], 201)
      const began = performance.now()
      await one.flush(name)
      append(puts, one, { ...stored, seconds: stored.seconds + (performance.now() - began) / 1000 })
      const read = await one.download([one.prefix + name], one.headers)
      if (read.responseBytes[0] !== bytes)
        throw new Error(`a GET of ${bytes} bytes had ${read.responseBytes[0]}`)
      append(gets, one, read)
      await one.discard(name)
      if (one instanceof CarrelDav && round === 0) {
        await expectContent(one.server, one.library, `/${name}`, new LongBodies().sha1(round, bytes))
      }
    }
  }
  const rowsOf = (what: string, results: ReadonlyMap<Compared, Measured<StreamResult>[]>) =>
    [...results].map(([one, of]) => {
      const best = median(of, rateOf)
      return { one, row: { what, value: rateOf(best), unit: 'MB/s', usage: best.usage } satisfies Row }
    })
  return [
    ...compared(rowsOf(`PUT of ${sizeText(bytes)}`, puts), { share: SHARE, stores: 'flushed' }),
    ...compared(rowsOf(`GET of ${sizeText(bytes)}`, gets), { share: SHARE }),
  ]
}

async function listing(
  context: Context,
  all: readonly Compared[],
  folder: string,
  count: number,
  clients: number,
): Promise<Row[]> {
  const what = `PROPFIND of ${count} entries, ${clients} client${clients === 1 ? '' : 's'}`
  const rows: { one: Compared; row: Row }[] = []
  for (const one of all.filter(({ listsFolders }) => listsFolders)) {
    await expectListed(one, folder, count)
    const { measured, warmUp } = context
    const request = propfind(one, folder)
    const load = await one.load({ connections: clients, measured, warmUp, request, status: 207 })
    rows.push({ one, row: rateRow(what, load) })
  }
  return compared(rows, { share: SHARE })
}

/** One client on each level of a deep tree, which lists one folder of it after another. */
async function treeWalk(context: Context, all: readonly Compared[], levels: number): Promise<Row[]> {
  const what = `PROPFIND of a tree of ${levels} levels, ${levels} clients`
  const rows: { one: Compared; row: Row }[] = []
  for (const one of all.filter(({ listsFolders }) => listsFolders)) {
    await expectListed(
      one,
      levelPath(0, () => digits(0)),
      FILES_PER_FOLDER + 2,
    )
    await expectListed(
      one,
      levelPath(levels - 1, () => digits(0)),
      FILES_PER_FOLDER,
    )
    const requests = Array.from({ length: levels }, (_, level) =>
      propfind(
        one,
        levelPath(level, (size) => `{n%${size}}`),
      ),
    )
    const { measured, warmUp } = context
    const load = await one.load({ connections: levels, measured, warmUp, request: requests, status: 207 })
    rows.push({ one, row: rateRow(what, load) })
  }
  return compared(rows, { share: SHARE })
}

function propfind({ prefix, headers }: Compared, folder: string) {
  return {
    method: 'PROPFIND',
    path: `${prefix}${folder}/`,
    headers: { ...headers, Depth: '1', 'Content-Type': 'application/xml' },
    body: ASKED,
  } as const
}

/** Throws unless a folder is listed completely. */
async function expectListed(one: Compared, folder: string, count: number): Promise<void> {
  const { method, path: url, headers, body } = propfind(one, folder)
  const response = await fetch(one.url + url, { method, headers, body })
  const listed = (await response.text()).match(/<(?:\w+:)?response[\s>]/g)?.length ?? 0
  // The folder itself is listed, too.
  if (response.status === 207 && listed === count + 1) return
  throw new Error(`${one.name ?? 'Carrel'} listed ${listed} items of ${folder} with ${response.status}`)
}

/**
 * Our row first, with a share of the best of the others as its target, then theirs.
 * @param options.limits whose value is the raw limit: the best of the others, unless the row has its own
 * @param options.stores whether what the others stored was flushed; without that, nothing is comparable, and there is no target
 */
function compared(
  rows: readonly { readonly one: Compared; readonly row: Row }[],
  {
    share,
    limits,
    stores,
  }: { readonly share: number; readonly limits?: 'own'; readonly stores?: 'flushed' | 'unflushed' },
): Row[] {
  const others = rows.filter(({ one }) => one.name !== undefined)
  const best = others.toSorted((a, b) => b.row.value - a.row.value)[0]
  return rows.map(({ one, row }): Row => {
    if (one.name !== undefined) {
      return {
        ...row,
        what: `${one.name}: ${row.what}${stores === undefined ? '' : `, ${stores}`}`,
        bare: true,
      }
    }
    const what = `WebDAV: ${row.what}`
    if (best === undefined || stores === 'unflushed') return { ...row, what }
    const limit = { value: best.row.value, of: best.one.name ?? '' }
    const target = { atLeast: share * best.row.value }
    const named = others.map((other) => ({ value: other.row.value, of: other.one.name ?? '' }))
    return { ...row, what, target, others: named, ...(limits !== 'own' && { limit }) }
  })
}

function append<K, V>(to: Map<K, V[]>, key: K, value: V): void {
  to.set(key, [...(to.get(key) ?? []), value])
}

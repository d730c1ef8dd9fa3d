import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { addFiles } from '../../src/libraries/edits/upload.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { at } from '../../test/support/core.ts'
import { uploadFile } from '../../test/support/transfer.ts'
import type { BenchServer } from '../bench-server.ts'
import type { LibraryBuilder } from '../library-builder.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { Corpus } from '../search-corpus.ts'
import { randomContent, uploadPath, uploadRequest } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const SEED = 7
const FILES_PER_FOLDER = 100
const WORDS_PER_TEXT = 300
const TEXTS_PER_COMMIT = 500
const TARGET_MS = 50
const UPLOADERS = 8
const PROBES = 8
const MAX_BEHIND_MS = 5000

/** Indexing rate, index size and query latency for the names and texts of a large server. */
export const search: Scenario = {
  name: 'search',
  async run(context) {
    await using workspace = await context.workspace('search')
    const amount = {
      names: context.size(1_000_000, 2000),
      libraries: context.size(1000, 10),
      texts: context.size(100_000, 200),
      textLibraries: context.size(100, 2),
    }
    const made = await workspace.once('made', () =>
      workspace.prepare((builder) => fill(builder, new Corpus(SEED), amount)),
    )
    const rows = [...(await workspace.once('indexed', () => index(workspace, made)))]
    const server = await workspace.serve()
    rows.push(...(await ask(context, server, new Corpus(SEED), made)))
    rows.push(await underUploads(context, server, made.libraries[0] ?? ''))
    return rows
  },
}

interface Made {
  readonly libraries: readonly LibraryId[]
  readonly names: number
  readonly texts: number
  readonly textBytes: number
}

async function fill(
  builder: LibraryBuilder,
  corpus: Corpus,
  amount: { names: number; libraries: number; texts: number; textLibraries: number },
): Promise<Made> {
  const libraries: LibraryId[] = []
  let [names, texts, textBytes] = [0, 0, 0]
  for (let n = 0; n < amount.libraries; n++) {
    const library = await builder.newLibrary(`Library ${n}`)
    const count = Math.floor(amount.names / amount.libraries)
    const files = Array.from({ length: count }, (_, k) => ({
      folder: at(`/folder ${Math.floor(k / FILES_PER_FOLDER)}`),
      name: corpus.name(k),
      mtime: 1_600_000_000 + corpus.number(160_000_000),
    }))
    await builder.addNamed(library, files)
    names += count
    libraries.push(library.info.id)
  }
  for (let n = 0; n < amount.textLibraries; n++) {
    const library = await builder.openLibrary(libraries[n % libraries.length] as LibraryId)
    for (let left = Math.floor(amount.texts / amount.textLibraries); left > 0; left -= TEXTS_PER_COMMIT) {
      const files = []
      for (let k = 0; k < Math.min(left, TEXTS_PER_COMMIT); k++) {
        const text = corpus.text(WORDS_PER_TEXT)
        const content = await builder.services.core.incoming.receive(chunk(text))
        files.push({ name: corpus.name(texts, 'txt'), content })
        texts++
        textBytes += text.length
      }
      await addFiles(builder.services.core, library, at('/'), files, { into: at(`/texts ${left}`) })
    }
  }
  for (const id of libraries) {
    await storesOf(builder.services.core).pathIndex.catchUp((await builder.openLibrary(id)).info)
  }
  return { libraries, names, texts, textBytes }
}

async function* chunk(text: string) {
  yield Buffer.from(text)
}

/** Indexes everything through the core. */
async function index(workspace: Workspace, made: Made): Promise<Row[]> {
  const before = await workspace.storedBytes()
  const took = await workspace.prepare(async (builder) => {
    const { search } = builder.services
    const began = performance.now()
    for (const id of made.libraries) await search.index.catchUp((await builder.openLibrary(id)).info)
    const named = performance.now()
    await search.texts.settled()
    const read = performance.now()
    await search.merging.look()
    return { namesMs: named - began, textsMs: read - named, mergeMs: performance.now() - read }
  })
  const bytes = (await workspace.storedBytes()) - before
  const [names, texts] = [made.names, made.texts].map((count) => count.toLocaleString('en-US'))
  const entries = made.names + made.texts
  return [
    { what: `search: index ${names} names`, value: entries / (took.namesMs / 1000), unit: 'per s' },
    { what: `search: index ${texts} texts`, value: made.texts / (took.textsMs / 1000), unit: 'per s' },
    { what: `search: make one index of its parts`, value: took.mergeMs, unit: 'ms' },
    { what: `search: size of the index of them`, value: bytes / 1e6, unit: 'MB' },
    { what: `search: size of the texts`, value: made.textBytes / 1e6, unit: 'MB' },
  ]
}

async function ask(
  context: Context,
  server: BenchServer,
  corpus: Corpus,
  { libraries }: Made,
): Promise<Row[]> {
  const one = () => corpus.soughtWord()
  const kinds: Record<string, () => Record<string, string | number>> = {
    'one word': () => ({ q: one() }),
    'two words': () => ({ q: `${one()} ${one()}` }),
    'two common words': () => ({ q: `${corpus.word()} ${corpus.word()}` }),
    'start of a word': () => ({ q: one().slice(0, 4) }),
    'three letters': () => ({ q: one().slice(0, 3) }),
    'part of a name': () => ({ q: one().slice(1, 5) }),
    'exact name': () => ({ q: corpus.name(corpus.number(1000)) }),
    'a phrase': () => ({ q: `"${one()} ${one()}"` }),
    'by type': () => ({ q: one(), search_ftypes: 'custom', ftype: 'Video' }),
    'by time and size': () => ({ q: one(), time_from: 1_700_000_000, size_from: 100_000 }),
    'in one library': () => ({ q: one(), search_repo: corpus.pick(libraries) }),
    'one letter, in one library': () => ({ q: one().slice(0, 1), search_repo: corpus.pick(libraries) }),
    'one letter, everywhere': () => ({ q: one().slice(0, 1) }),
  }
  const rows: Row[] = []
  for (const [kind, query] of Object.entries(kinds)) {
    const times: number[] = []
    let found = 0
    const { usage } = await server.meter(async () => {
      for (let n = -context.size(10, 2); n < context.size(200, 5); n++) {
        const began = performance.now()
        const { status, body, text } = await server.client.get('/api2/search/', query())
        if (status !== 200) throw new Error(`a search was answered with ${status}: ${text}`)
        if (n >= 0) times.push(performance.now() - began)
        found += body.total
      }
      return {}
    })
    times.sort((a, b) => a - b)
    const at = (share: number) =>
      times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
    const each = Math.round(found / times.length).toLocaleString('en-US')
    rows.push({
      what: `search for ${kind}, ${each} found, p99`,
      value: at(0.99),
      unit: 'ms',
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      usage,
      target: { atMost: TARGET_MS },
    })
  }
  return rows
}

/** The time until an uploaded file is found while other clients upload. */
async function underUploads(context: Context, server: BenchServer, library: string): Promise<Row> {
  const request = uploadRequest({
    path: await uploadPath(server, library),
    folder: 'busy-{n%50}',
    contents: [randomContent(4096)],
  })
  const count = context.size(20_000, 50)
  const state = { isDone: false }
  const load = server
    .load({ connections: UPLOADERS, warmUp: { count: 0 }, measured: { count }, request })
    .finally(() => (state.isDone = true))
  // Awaited below. If a probe fails first, the server is stopped under load, and that error is irrelevant.
  load.catch(() => {})
  const behind: number[] = []
  while (!state.isDone && behind.length < PROBES) {
    const id = randomUUID()
    await uploadFile(server.client, library, `/${id.slice(0, 8)}.txt`, `text of ${id}`)
    const began = performance.now()
    const query = { q: `"text of ${id}"`, search_repo: library }
    while ((await server.client.get('/api2/search/', query)).body.total === 0) {
      if (performance.now() - began > 60_000)
        throw new Error('a text was not found a minute after its upload')
      await delay(20)
    }
    behind.push(performance.now() - began)
  }
  const { perSecond } = await load
  return {
    what: `search: a text is found after its upload, beside ${Math.round(perSecond).toLocaleString('en-US')} uploads/s, slowest`,
    value: Math.max(...behind),
    unit: 'ms',
    target: { atMost: MAX_BEHIND_MS },
  }
}

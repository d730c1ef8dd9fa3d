import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { BlockId } from '../../src/base/objects/ids.ts'
import { insertDamagedBlock } from '../../src/libraries/content/damaged-block-store.ts'
import { CheckInterrupted, check } from '../../src/maintenance/check/check.ts'
import type { CheckSources } from '../../src/maintenance/check/library-check.ts'
import { checkServer, openBlocksOf, sourcesOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { createSample, DAMAGES } from './damage.ts'

const neverAborted = new AbortController().signal

let server: TestServer
let client: Client
before(async () => {
  server = await startServer()
  client = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('a check', () => {
  it('finds nothing wrong with a library that is being changed', async () => {
    const { library } = await createSample(server, client)
    const writing = Array.from({ length: 3 }, async (_, writer) => {
      for (let round = 0; round < 15; round++) {
        await uploadFile(client, library, `/busy/${writer}-${round % 4}.txt`, randomBytes(100), {
          replace: true,
        })
        if (round % 5 === 4) {
          await client.delete(`/api2/repos/${library}/file/`, { query: { p: `/busy/${writer}-0.txt` } })
        }
      }
    })
    const found: string[] = []
    const written = Promise.all(writing).then(() => 'written')
    do found.push(...(await checkServer(server, { library })).findings.map((one) => JSON.stringify(one)))
    while ((await Promise.race([written, Promise.resolve()])) === undefined)
    assert.deepEqual(found, [])
  })

  it('does not take commits made since it began for ones that do not exist', async () => {
    const { library, key } = await createSample(server, client)
    await using blocks = await openBlocksOf(server)
    const sources = sourcesOf(server, blocks)
    const ahead = 'select 1 from follower f join library l on l.key = f.library_key where l.key = ?'
    let commits = 0
    // Each run of the library meets consumers that are ahead of the head that it began with.
    const all: CheckSources['db']['all'] = async (sql, ...parameters) => {
      if (sql.includes('from follower where library_key = ?')) {
        await uploadFile(client, library, `/since/${commits++}.txt`, randomBytes(10))
        await eventually(async () =>
          assert.deepEqual(await sources.db.all(`${ahead} and f.seq < l.head_seq`, key), []),
        )
      }
      return sources.db.all(sql, ...parameters)
    }
    const db = new Proxy(sources.db, {
      get(target, name) {
        const value: unknown = name === 'all' ? all : Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const options = { readData: false, sample: 100, libraryKey: key, environment: '', signal: neverAborted }
    assert.deepEqual((await check({ ...sources, db }, options)).findings, [])
    assert.ok(commits > 0)
  })

  it('reads versions of a folder that are stored as differences, and finds a lost base', async () => {
    const { library, key, run } = await createSample(server, client)
    const { db } = server.running.services
    const sync = await SyncClient.link(client, library)
    const folder: Record<string, string> = {}
    for (let number = 0; number < 60; number++) folder[`file ${number}.txt`] = `text ${number}`
    for (let version = 0; version < 4; version++) {
      folder[`file ${version}.txt`] = `version ${version}`
      await sync.push({ many: { ...folder } })
    }
    const deltas = 'select id, base from fs_object where library_key = ? and base is not null'
    const rows = await db.all<{ base: Uint8Array }>(deltas, key)
    assert.ok(rows.length >= 3)
    for (const readData of [true, false]) {
      assert.deepEqual((await checkServer(server, { library, readData })).findings, [])
    }
    const bases = new Set(rows.map(({ base }) => Buffer.from(base).toString('hex')))
    const [whole] = await db.all<{ id: Uint8Array }>(
      `select id from fs_object where library_key = ? and base is null and id in (${rows.map(() => '?').join(', ')})`,
      key,
      ...rows.map(({ base }) => base),
    )
    assert.ok(whole !== undefined && bases.size > 0)
    const one = 'from fs_object where library_key = ? and id = ?'
    const [row = {}] = await db.all(`select * ${one}`, key, whole.id)
    await run(`delete ${one}`, key, whole.id)
    const { findings } = await checkServer(server, { library })
    assert.deepEqual(
      new Set(findings.map(({ kind, path }) => `${kind} ${path}`)),
      new Set(['object-missing /many']),
    )
    assert.equal(
      findings.reduce((sum, { versions }) => sum + versions, 0),
      4,
    )
    // Put back, because usage is counted for all libraries.
    await db.write((tx) => tx.insert('fs_object', Object.keys(row), [Object.values(row)]))
  })

  it('names every version and path with a lost block', async () => {
    const sample = await createSample(server, client)
    const { library, large } = sample
    await uploadFile(client, library, '/copy.bin', large)
    await client.delete(`/api2/repos/${library}/file/`, { query: { p: '/docs/deep/large.bin' } })
    await rm((await sample.blockOf(large, '/copy.bin')).file)
    const { findings } = await checkServer(server, { library })
    const seen = findings.map(({ path, versions, current }) => ({ path, versions, current }))
    assert.deepEqual(
      seen.toSorted((a, b) => (a.path ?? '').localeCompare(b.path ?? '')),
      [
        { path: '/copy.bin', versions: 2, current: true },
        { path: '/docs/deep/large.bin', versions: 6, current: false },
      ],
    )
  })

  it('continues an interrupted pass, and looks again at what changed since', async () => {
    const first = await createSample(server, client)
    const second = await createSample(server, client)
    const { db } = server.running.services
    await using blocks = await openBlocksOf(server)
    const sources = sourcesOf(server, blocks)
    const walked: string[] = []
    const stopping = new AbortController()
    const options = { readData: true, sample: 100, environment: '' }
    const searchFaults: typeof sources.searchFaults = async function* (library) {
      walked.push(library.id)
      if (library.id === first.library && !stopping.signal.aborted) stopping.abort(new Error('stopped'))
      yield* []
    }
    const isChecked = async () =>
      (await db.all('select 1 as one from checked_library where library_key = ?', first.key)).length
    await first.run('update library set size = size + 1 where key = ?', first.key)
    // Blocks that other tests have lost were found before this pass, and not in the second in which it begins.
    await first.run('update damaged_block set found_at = found_at - 10')
    await assert.rejects(
      check({ ...sources, searchFaults }, { ...options, signal: stopping.signal }),
      /stopped/,
    )
    assert.equal(await isChecked(), 0)
    walked.length = 0
    const { signal } = new AbortController()
    const report = await check({ ...sources, searchFaults }, { ...options, signal })
    assert.equal(report.resumed, true)
    assert.ok(walked.includes(second.library))
    assert.ok(
      report.findings.some(({ kind, library }) => kind === 'library-size' && library === first.library),
    )
    const anew = await check(sources, { ...options, signal })
    assert.equal(anew.resumed, false)
    await first.run('update library set size = size - 1 where key = ?', first.key)
  })

  it('continues within a library with the folders it has not checked', async () => {
    const sample = await createSample(server, client)
    const { db } = server.running.services
    for (let number = 0; number < 12; number++) {
      await uploadFile(client, sample.library, `/many/${number}/file.bin`, randomBytes(70_000))
    }
    await using blocks = await openBlocksOf(server)
    const run = async (signal: AbortSignal, onFault = () => {}) => {
      const sources = sourcesOf(server, blocks)
      const faultsOf = sources.blocks.faultsOf.bind(sources.blocks)
      sources.blocks.faultsOf = async (...args) => {
        onFault()
        return faultsOf(...args)
      }
      const scope = { readData: true, sample: 100, libraryKey: sample.key, environment: '' }
      const options = { ...scope, signal, saveEveryMs: 0 }
      const done = await check(sources, options).catch((error: Error) => error)
      return { done, read: sources.blocks.blocks }
    }
    const stopping = new AbortController()
    let calls = 0
    const first = await run(stopping.signal, () => {
      if (++calls === 10) stopping.abort(new Error('stopped'))
    })
    assert.ok(first.done instanceof Error)
    assert.match(first.done.message, /stopped/)
    const rows = 'select dirs from check_progress where library_key = ?'
    const kept = await db.all<{ dirs: Uint8Array }>(rows, sample.key)
    assert.ok(kept.length > 0)
    const second = await run(new AbortController().signal)
    assert.ok(!(second.done instanceof Error))
    assert.equal(second.done.resumed, true)
    assert.deepEqual(second.done.findings, [])
    assert.deepEqual(await db.all(rows, sample.key), [])
    const anew = await run(new AbortController().signal)
    assert.ok(second.read < anew.read, `${second.read} of ${anew.read} blocks`)
  })

  it('says which libraries it checked before it was continued, and checks one that was still being restored then', async () => {
    const before = await createSample(server, client)
    const first = await createSample(server, client)
    const second = await createSample(server, client)
    const { db } = server.running.services
    await using blocks = await openBlocksOf(server)
    const sources = sourcesOf(server, blocks)
    const options = { readData: false, sample: 100, environment: 'restoring' }
    const [row] = await db.all<{ head_seq: number }>('select head_seq from library where key = ?', first.key)
    await first.run('update library set head_seq = 0, deleted_at = 1 where key = ?', first.key)
    const stopping = new AbortController()
    const searchFaults: typeof sources.searchFaults = async function* (library) {
      if (library.id === second.library) stopping.abort(new Error('stopped'))
      yield* []
    }
    const began = sources.now()
    const stopped = check({ ...sources, searchFaults }, { ...options, signal: stopping.signal })
    await assert.rejects(stopped, /stopped/)
    const ended = sources.now()
    await first.run(
      `update library set head_seq = ${row?.head_seq}, deleted_at = null where key = ?`,
      first.key,
    )
    const report = await check(sources, { ...options, signal: neverAborted })
    assert.equal(report.resumed, true)
    const ids = [before, first, second].map(({ library }) => library)
    const earlier = report.earlier.filter(({ library }) => ids.includes(library))
    assert.deepEqual(
      earlier.map(({ library }) => library),
      [before.library],
    )
    for (const since of [report.since, earlier[0]?.since ?? 0]) assert.ok(since >= began && since <= ended)
  })

  it('does not continue a pass that may speak of another state', async () => {
    const sample = await createSample(server, client)
    const { db } = server.running.services
    await using blocks = await openBlocksOf(server)
    const { file, id } = await sample.blockOf(sample.large)
    const bytes = await readFile(file)
    let laterSeconds = 0
    const run = (environment: string, searchFaults?: CheckSources['searchFaults'], signal = neverAborted) => {
      const sources = sourcesOf(server, blocks)
      const now = () => sources.now() + laterSeconds
      const scope = { readData: true, sample: 100, libraryKey: sample.key, environment }
      return check(
        { ...sources, now, ...(searchFaults && { searchFaults }) },
        { ...scope, signal, saveEveryMs: 0 },
      )
    }
    /** All folders are checked, and the pass is stopped before it is complete. */
    const interrupt = async () => {
      const stopping = new AbortController()
      const searchFaults: CheckSources['searchFaults'] = async function* () {
        stopping.abort(new Error('stopped'))
        yield* []
      }
      const stopped = await run('one boot', searchFaults, stopping.signal).catch((error) => error)
      assert.ok(stopped instanceof CheckInterrupted, String(stopped))
      assert.equal(stopped.report.libraries, 0)
    }
    const foundAt = () => server.running.services.now() + laterSeconds
    const damaged = { id: id.toString('hex') as BlockId, problem: 'missing' } as const
    const cases: [string, () => Promise<void> | void, environment: string][] = [
      ['after a day', () => void (laterSeconds += 24 * 3600 + 1), 'one boot'],
      ['in another environment', () => {}, 'the next boot'],
      [
        'after a block was found damaged',
        async () => void (await insertDamagedBlock(db, { ...damaged, foundAt: foundAt() })),
        'one boot',
      ],
    ]
    for (const [name, event, environment] of cases) {
      await interrupt()
      await rm(file)
      await event()
      const report = await run(environment)
      assert.deepEqual([name, report.resumed, report.findings[0]?.kind], [name, false, 'block-missing'])
      await writeFile(file, bytes)
      assert.deepEqual((await run(environment)).findings, [])
    }
    await interrupt()
    const report = await run('one boot')
    assert.deepEqual([report.resumed, report.findings], [true, []])
  })

  it('compares the index of photos with the tree', async () => {
    const { library, key, run } = await createSample(server, client)
    for (const name of ['lost.jpg', 'dated.jpg', 'other.png']) {
      await uploadFile(client, library, `/photos/${name}`, randomBytes(100))
    }
    await server.running.services.photos.settled()
    assert.deepEqual((await checkServer(server, { library })).findings, [])
    await run("delete from photo where library_key = ? and name = 'lost.jpg'", key)
    await run("update photo set day = day + 1 where library_key = ? and name = 'dated.jpg'", key)
    await run("update photo set size = 7 where library_key = ? and name = 'other.png'", key)
    const { findings } = await checkServer(server, { library })
    assert.deepEqual(findings.map(({ kind, path, detail }) => `${kind} ${path}: ${detail}`).toSorted(), [
      'photo-index /photos/dated.jpg: the index has it at another date',
      'photo-index /photos/lost.jpg: it is not in the index of photos',
      'photo-index /photos/other.png: the index has another size or time',
    ])
  })

  for (const { name, damage, found, isCheap } of DAMAGES) {
    it(`finds ${name}, and nothing else`, async () => {
      const sample = await createSample(server, client)
      const { library } = sample
      assert.deepEqual((await checkServer(server, { library })).findings, [])
      await damage(sample)
      const shown = async (readData: boolean) => {
        const { findings } = await checkServer(server, { library, readData })
        for (const finding of findings)
          assert.deepEqual([finding.library, finding.libraryName], [library, 'Plans'])
        return findings.map(({ kind, path }) => [kind, path])
      }
      assert.deepEqual(await shown(true), found)
      assert.deepEqual(await shown(false), isCheap ? found : [])
    })
  }
})

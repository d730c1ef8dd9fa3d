import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { it } from 'node:test'
import type { BlockId } from '../../src/base/objects/ids.ts'
import { positionRows } from '../../src/libraries/consumers/consumer-store.ts'
import { insertHeldBlocks } from '../../src/libraries/content/block-rows-store.ts'
import { revertLibrary } from '../../src/libraries/edits/revert.ts'
import { findIndexFaults } from '../../src/libraries/history/index-check.ts'
import { findFirstSeen } from '../../src/libraries/history/path-index-store.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { deleteLibrary } from '../../src/libraries/library/libraries.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { emptyTrash, libraryTrash } from '../../src/libraries/library/library-trash.ts'
import { GarbageCollector } from '../../src/maintenance/gc/collector.ts'
import { deleteLease, insertLease, type LeaseRow, renewLease } from '../../src/maintenance/gc/lease-store.ts'
import type { Transaction } from '../../src/platform/database/database.ts'
import { at } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { collectAll, countAll, type GcStage, GRACE, load, openGcStage, remove, save } from './stage.ts'

const SMALL = 3000

const putLease = async (tx: Transaction, lease: LeaseRow) => {
  if (!(await renewLease(tx, lease))) await insertLease(tx, lease)
}
const LARGE = 200_000

async function setHistory(on: GcStage, library: EditableLibrary, days: number): Promise<void> {
  await setKeepDays(on.stage.core, (await on.stage.reopen(library)).owned(), days, undefined)
}

onBothDatabases('garbage collection', (fresh) => {
  it('frees everything of a purged library', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const actor = await on.stage.actor()
    const library = await on.stage.newLibrary(actor)
    for (const size of [SMALL, LARGE]) await save(on, library, `${size}.bin`, randomBytes(size))
    await deleteLibrary(on.stage.core, (await on.stage.reopen(library)).owned(), undefined)
    await libraryTrash.purge(on.stage.core, actor, library.info.id, undefined)
    await collectAll(on, 4)
    assert.deepEqual(await countAll(on), {
      commits: 0,
      objects: 0,
      references: 0,
      small: 0,
      files: 0,
      condemned: 0,
    })
    assert.ok((await on.gc.readState()).freedBytes >= SMALL + LARGE)
  })

  it('frees what the history gave up, and keeps the rest', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const library = await on.stage.newLibrary(await on.stage.actor())
    const kept = { small: randomBytes(SMALL), large: randomBytes(LARGE) }
    for (const [name, bytes] of Object.entries(kept)) await save(on, library, name, bytes)
    for (let n = 0; n < 40; n++) await save(on, library, `old ${n}`, randomBytes(n % 4 === 0 ? LARGE : SMALL))
    for (let n = 0; n < 40; n++) await remove(library, at(`/old ${n}`))
    const full = await countAll(on)
    await collectAll(on)
    assert.deepEqual(await countAll(on), full, 'an unlimited history keeps everything')
    await setHistory(on, library, 0)
    await collectAll(on)
    assert.deepEqual(await countAll(on), {
      commits: 1,
      objects: 3,
      references: 2,
      small: 1,
      files: 1,
      condemned: 0,
    })
    for (const [name, bytes] of Object.entries(kept))
      assert.deepEqual(await load(on, library, at(`/${name}`)), bytes)
  })

  it('tells how many bytes wait, of small blocks and of files', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const actor = await on.stage.actor()
    const kept = await on.stage.newLibrary(actor, 'Kept')
    await save(on, kept, 'deleted', randomBytes(SMALL))
    await remove(kept, at('/deleted'))
    await setHistory(on, kept, 0)
    const purged = await on.stage.newLibrary(actor, 'Purged')
    for (const size of [SMALL, LARGE]) await save(on, purged, `${size}.bin`, randomBytes(size))
    await deleteLibrary(on.stage.core, (await on.stage.reopen(purged)).owned(), undefined)
    await libraryTrash.purge(on.stage.core, actor, purged.info.id, undefined)
    const waiting: number[] = []
    for (let run = 0; run < 5; run++) {
      const report = await on.gc.runOnce()
      assert.equal(report.waitingBytes, (await on.gc.readState()).waitingBytes)
      waiting.push(report.waitingBytes)
      on.clock.now += 1000
    }
    const { db, blocks, core } = on.stage
    const onError = (error: unknown) => assert.fail(String(error))
    const restarted = new GarbageCollector(
      { db, blocks, core, leases: on.leases },
      { graceSeconds: GRACE, now: core.now, onError, processCommits: async () => {} },
    )
    const { lastEndedAt, waitingBytes } = await on.gc.readState()
    assert.notEqual(lastEndedAt, undefined)
    assert.deepEqual(await restarted.readState(), {
      running: false,
      lastBeganAt: lastEndedAt,
      lastEndedAt,
      lastDuration: 0,
      lastFailure: undefined,
      deletedBlocks: 0,
      freedBytes: 0,
      waitingBytes,
    })
    // A deleted file waits as a reference of its library, then as a block. A block file waits once more in the removal folder.
    assert.deepEqual(waiting, [2 * SMALL + LARGE, SMALL + LARGE, 0, 0, 0])
  })

  it('shows a collection of another process while it runs, and how it ended', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { db, blocks, core } = on.stage
    await on.stage.newLibrary(await on.stage.actor(), 'Collected')
    const steps = new EventEmitter()
    const stopping = new AbortController()
    const processCommits = async () => {
      const released = once(steps, 'release')
      steps.emit('running')
      await released
      stopping.signal.throwIfAborted()
    }
    const other = new GarbageCollector(
      { db, blocks, core, leases: on.leases },
      { graceSeconds: GRACE, now: core.now, onError: () => {}, processCommits },
    )
    const began = on.clock.now
    const running = once(steps, 'running')
    const run = other.runOnce()
    await running
    const during = await on.gc.readState()
    assert.deepEqual(
      [during.running, during.lastBeganAt, during.lastEndedAt],
      [true, began, undefined],
      'before it has ended',
    )
    on.clock.now += 10
    steps.emit('release')
    await run
    const after = await on.gc.readState()
    assert.deepEqual(
      [after.running, after.lastBeganAt, after.lastEndedAt, after.lastDuration],
      [false, began, began + 10, 10],
    )
    // A stopped one starts again, and is not a failure.
    const again = once(steps, 'running')
    const stopped = assert.rejects(other.runOnce({ signal: stopping.signal }), /stopped by a test/)
    await again
    assert.equal((await on.gc.readState()).running, true)
    stopping.abort(new Error('stopped by a test'))
    steps.emit('release')
    await stopped
    assert.deepEqual(await on.gc.readState(), after)
  })

  it('deletes rows about paths that only the given up history had', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { core, db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    const rename = (from: string, to: string) =>
      library.commit(async (tree) => {
        const entry = await tree.take(at(`/${from}`))
        await tree.put(at('/'), { ...entry, name: to })
        return { description: 'Renamed', result: 0 }
      })
    for (const name of ['kept', 'deleted', 'first name']) await save(on, library, name, Buffer.from(name))
    for (let n = 0; n < 3; n++) await save(on, library, `${n}`, Buffer.from(`${n}`), at('/deleted folder'))
    await save(on, library, 'x', Buffer.from('x'), at('/kept folder'))
    await remove(library, at('/deleted'))
    await remove(library, at('/deleted folder'))
    await rename('first name', 'second name')
    on.clock.now += 1000
    await rename('second name', 'last name')
    await setHistory(on, library, 0)
    await collectAll(on)
    const { info, tree } = await on.stage.reopen(library)
    const count = async (table: string) =>
      (await db.get<{ n: number }>(`select count(*) as n from ${table}`))?.n
    // Of the paths at the head: two files, and a folder with what it contains.
    const firstSeen = ['/kept', '/kept folder', '/kept folder/x', '/last name']
    assert.ok(Number(await count('first_seen')) <= firstSeen.length)
    assert.ok(Number(await count('path_origin')) <= firstSeen.length)
    assert.deepEqual(
      await Array.fromAsync(findIndexFaults({ ...storesOf(core), db }, info, info.headSeq, async () => {})),
      [],
    )
    assert.ok((await tree.find(at('/last name'))) !== undefined)
    const { author } = (await findFirstSeen(db, info.key, at('/kept'))) ?? {}
    assert.equal(author, library.actor.email)
  })

  it('keeps the first author of a path that the kept history added again, whatever its normalization', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { core, db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    const composed = 'caf\u00e9'
    const decomposed = 'cafe\u0301'
    assert.notEqual(composed, decomposed)
    for (const name of [decomposed, 'plain']) {
      await save(on, library, name, Buffer.from('first'))
      on.clock.now += 1000
      await remove(library, at(`/${name}`))
    }
    on.clock.now += 3 * 86_400
    await setHistory(on, library, 1)
    for (const name of [decomposed, 'plain']) {
      await save(on, library, name, Buffer.from('again'))
      await remove(library, at(`/${name}`))
    }
    await collectAll(on)
    const { info } = await on.stage.reopen(library)
    const oldest = await db.get<{ seq: number }>('select min(seq) as seq from commit_object')
    assert.ok(oldest !== undefined && oldest.seq > 1 && oldest.seq < info.headSeq)
    assert.deepEqual(
      await Array.fromAsync(findIndexFaults({ ...storesOf(core), db }, info, oldest.seq, async () => {})),
      [],
    )
    const { author } = (await findFirstSeen(db, info.key, at(`/${composed}`))) ?? {}
    assert.equal(author, library.actor.email)
  })

  it('serves nothing from caches that it deleted', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { content, objects } = storesOf(on.stage.core)
    const library = await on.stage.newLibrary(await on.stage.actor())
    const { key } = library.info
    await save(on, library, 'a', randomBytes(SMALL))
    const entry = await (await on.stage.reopen(library)).tree.find(at('/a'))
    assert.ok(entry?.kind === 'file')
    const [block] = (await objects.getFile(key, entry.id)).blockIds
    assert.ok(block !== undefined)
    const open = await content.open(key, entry.id)
    assert.equal(Buffer.concat(await Array.fromAsync(open.read({ start: 0, end: SMALL }))).length, SMALL)
    assert.notEqual(await content.findBlock(key, block), undefined)
    await remove(library, at('/a'))
    await setHistory(on, library, 0)
    await collectAll(on)
    assert.equal(await content.findBlock(key, block), undefined)
    await assert.rejects(content.open(key, entry.id), /is missing/)
  })

  it('leaves the files of running uploads alone when the clock is ahead of the file system', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    on.clock.now = Math.floor(Date.now() / 1000) + 10 * 86_400
    const writer = on.stage.blocks.begin()
    const bytes = randomBytes(LARGE)
    await writer.write(bytes)
    await on.gc.runOnce()
    const received = await writer.finish()
    await on.gc.runOnce()
    await received.keep()
    assert.deepEqual(Buffer.concat(await Array.fromAsync(on.stage.blocks.read(received.id))), bytes)
  })

  it('keeps trash and history that can be restored', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const library = await on.stage.newLibrary(await on.stage.actor())
    const bytes = randomBytes(LARGE)
    await save(on, library, 'a', bytes)
    const before = (await on.stage.reopen(library)).info
    await remove(library, at('/a'))
    await collectAll(on)
    await revertLibrary(
      on.stage.core,
      (await on.stage.reopen(library)).owned(),
      before.head,
      async () => undefined,
    )
    assert.deepEqual(await load(on, library, at('/a')), bytes)
    await remove(library, at('/a'))
    await emptyTrash(on.stage.core, await on.stage.reopen(library), 0, undefined)
    await collectAll(on)
    assert.equal((await countAll(on)).files, 0)
    await save(on, library, 'a', bytes)
    assert.deepEqual(await load(on, library, at('/a')), bytes)
  })

  it('rewrites a folder that is stored as a difference to a deleted one', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage({ ...database, dirCacheBytes: 1 })
    const library = await on.stage.newLibrary(await on.stage.actor())
    const files = new Map<string, Buffer>()
    for (let n = 0; n < 60; n++) {
      const bytes = randomBytes(100)
      files.set(`f${n}`, bytes)
      await save(on, library, `f${n}`, bytes)
    }
    const deltas = async () =>
      (await on.stage.db.get<{ n: number }>('select count(*) as n from fs_object where base is not null'))
        ?.n ?? 0
    assert.ok((await deltas()) > 10)
    await setHistory(on, library, 0)
    await collectAll(on)
    assert.equal(await deltas(), 0)
    assert.equal((await countAll(on)).objects, 61)
    for (const [name, bytes] of files) assert.deepEqual(await load(on, library, at(`/${name}`)), bytes)
    await save(on, library, 'one more', Buffer.from('x'))
    assert.deepEqual(await load(on, library, at('/f7')), files.get('f7'))
  })

  it('deletes nothing that was condemned since a running operation began', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { core } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    const bytes = randomBytes(LARGE)
    const operation = core.operations.begin()
    const content = await core.incoming.receive(
      (async function* () {
        yield bytes
      })(),
    )
    const small = await core.incoming.putSmall({
      ...(await core.incoming.receive(
        (async function* () {
          yield Buffer.from('small')
        })(),
      )),
    })
    await collectAll(on)
    assert.deepEqual((await countAll(on)).files, 1)
    await library.commit(async (tree) => {
      for (const [name, { id, size }] of [
        ['large', content],
        ['small', small],
      ] as const) {
        const dirent = { kind: 'file' as const, id, name, mode: 33188, mtime: 1, size, modifier: '' }
        await tree.put(at('/'), dirent)
      }
      return { description: 'Added', result: 0, contents: [content, small] }
    })
    operation[Symbol.dispose]()
    await collectAll(on)
    assert.deepEqual(await load(on, library, at('/large')), bytes)
    assert.deepEqual(await load(on, library, at('/small')), Buffer.from('small'))
    assert.equal((await countAll(on)).condemned, 0)
  })

  it('deletes rows during a backup, and keeps the bytes until it has ended', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    await setHistory(on, library, 0)
    const node = 'backup/4711/host/1'
    const oldestAt = on.clock.now
    await save(on, library, 'a', randomBytes(LARGE))
    // Each version is given up while the backup runs, not only those of its beginning.
    for (let version = 0; version < 3; version++) {
      await save(on, library, 'a', randomBytes(LARGE))
      for (let run = 0; run < 4; run++) {
        await db.write((tx) => putLease(tx, { node, oldestAt, renewedAt: on.clock.now }))
        await collectAll(on, 1)
      }
    }
    const during = await countAll(on)
    assert.deepEqual([during.commits, during.references, during.files], [1, 1, 4])
    await db.write((tx) => deleteLease(tx, node))
    await collectAll(on)
    assert.equal((await countAll(on)).files, 1)
  })

  it('deletes during a backup what was condemned before it began', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    await setHistory(on, library, 0)
    await save(on, library, 'a', randomBytes(LARGE))
    await save(on, library, 'a', randomBytes(LARGE))
    const isCondemned = async () => (await db.get('select 1 as one from condemned_block')) !== undefined
    for (let runs = 0; runs < 6 && !(await isCondemned()); runs += 1) await collectAll(on, 1)
    assert.ok(await isCondemned())
    const oldestAt = on.clock.now
    for (let run = 0; run < 2; run += 1) {
      await db.write((tx) => putLease(tx, { node: 'backup/4711/host/1', oldestAt, renewedAt: on.clock.now }))
      await collectAll(on, 1)
    }
    assert.equal((await countAll(on)).files, 1)
  })

  it('condemns no block that is referred to since it was listed', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { blocks, core, db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    await core.incoming.receive(
      (async function* () {
        yield randomBytes(LARGE)
      })(),
    )
    // The size is asked for between listing and condemning.
    const size = blocks.size.bind(blocks)
    const asked = t.mock.method(blocks, 'size', async (id: BlockId) => {
      const held = { id, size: LARGE }
      await db.write((tx) => insertHeldBlocks(tx, library.info.key, [held]))
      return size(id)
    })
    await on.gc.runOnce()
    assert.equal(asked.mock.callCount(), 1)
    assert.equal((await countAll(on)).condemned, 0)
  })

  it('keeps commits that a consumer has not processed, and says so', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { db } = on.stage
    const library = await on.stage.newLibrary(await on.stage.actor())
    await save(on, library, 'deleted', randomBytes(SMALL))
    await remove(library, at('/deleted'))
    await setHistory(on, library, 0)
    await db.write((tx) => positionRows.set(tx, library.info.key, 'test', 1))
    const [report] = (await on.gc.runOnce()).libraries
    assert.match(report?.reasons.join() ?? '', /^2 commits beyond the history limit wait /)
    await collectAll(on)
    assert.equal((await countAll(on)).small, 1)
    const { headSeq } = (await on.stage.reopen(library)).info
    await db.write((tx) => positionRows.set(tx, library.info.key, 'test', headSeq))
    await collectAll(on)
    assert.equal((await countAll(on)).small, 0)
  })

  it('finds files without rows, and changes nothing in a dry run', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using on = await openGcStage(database)
    const { blocks, core } = on.stage
    await core.incoming.receive(
      (async function* () {
        yield randomBytes(LARGE)
      })(),
    )
    const before = await countAll(on)
    const report = await on.gc.runOnce({ dryRun: true })
    assert.equal(report.condemned.blocks, 1)
    assert.deepEqual(await countAll(on), before)
    await collectAll(on, 4)
    assert.deepEqual(await Array.fromAsync(blocks.list()), [])
    assert.equal((await countAll(on)).files, 0)
  })
})

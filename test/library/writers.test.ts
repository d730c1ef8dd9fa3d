import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type DomainError, fail } from '../../src/base/errors.ts'
import { Dir } from '../../src/base/objects/dir.ts'
import { dirDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import { type CommitId, EMPTY_ID, sha1Hex } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import { createFile, makeFolder, removeOne, rename } from '../../src/libraries/edits/entries.ts'
import { copy } from '../../src/libraries/edits/move-copy.ts'
import { LibraryHistory } from '../../src/libraries/history/library-history.ts'
import { createLibraryCore } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import { type EditableLibrary, Library } from '../../src/libraries/library/library.ts'
import type { LibraryInfo } from '../../src/libraries/registry/library-info.ts'
import { Audit } from '../../src/people/audit/audit.ts'
import type { Database, Value } from '../../src/platform/database/database.ts'
import { DatabaseError } from '../../src/platform/database/errors.ts'
import { type DatabaseSetting, openDatabase } from '../../src/platform/database/open.ts'
import { libraryDependents, pathBindings } from '../../src/programs/assembly/dependents.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { MemoryBlockStore } from '../support/memory-block-store.ts'
import { eventually } from '../support/transfer.ts'

onBothDatabases('writers of one library', (fresh) => {
  it('lose no concurrent edit, and each creates its own commit', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const names = Array.from({ length: 32 }, (_, i) => `file ${i}.txt`)
    await Promise.all(names.map((name) => createFile(library, at(`/${name}`))))
    const after = await stage.reopen(library)
    const { dir } = await after.tree.getDir(ROOT)
    assert.deepEqual(dir.entries.map((entry) => entry.name).sort(), names.sort())
    assert.deepEqual([after.info.headSeq, after.info.fileCount], [33, 32])
    const { commits } = await new LibraryHistory(storesOf(stage.core).history, after.info).listHistory(1, 100)
    for (const [i, commit] of commits.slice(0, -1).entries())
      assert.equal(commit.parentId, commits[i + 1]?.id)
  })

  it('fail separately: an edit that throws does not affect the others of its group', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const results = await Promise.allSettled([
      createFile(library, at('/a.txt')),
      createFile(library, at('/no such folder/b.txt')),
      library.commit(async (tree) => {
        await tree.makeDirs(at('/refused later'))
        return { description: 'x', result: 0, also: async () => fail({ code: 'permission-denied' }) }
      }),
      library.commit(async () => {
        throw new Error('a bug')
      }),
      createFile(library, at('/c.txt')),
    ])
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    )
    const after = await stage.reopen(library)
    const { dir } = await after.tree.getDir(ROOT)
    assert.deepEqual(
      dir.entries.map((entry) => entry.name),
      ['c.txt', 'a.txt'],
    )
    assert.equal(after.info.headSeq, 3)
  })

  /** The same library on another node: its own caches, queues and connections. */
  async function openNode(stage: TestCore, setting: DatabaseSetting | undefined, library: EditableLibrary) {
    const stack = new AsyncDisposableStack()
    const db = stack.use(
      await openDatabase(setting ?? { kind: 'sqlite', file: stage.file }, {
        onFatal(error) {
          throw error
        },
      }),
    )
    const core = stack.use(
      createLibraryCore({
        audit: new Audit(db, stage.core.now, -1),
        db,
        blocks: new MemoryBlockStore(),
        now: stage.core.now,
        dirCacheBytes: 2 ** 20,
        defaultHistoryDays: -1,
        dependents: libraryDependents,
        pathBindings,
        onConsumerError(error) {
          throw error
        },
      }),
    )
    const info = await getLibrary(core, library.info.id)
    return {
      db,
      core,
      library: new Library(core, info, library.actor, 'rw').editable(ROOT),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  it('on several nodes converge on one head without an error and without losing an edit', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await using second = await openNode(stage, database.setting, library)
    const EACH = 60
    const write = async (node: typeof library, who: string) => {
      for (let i = 0; i < EACH; i++) await createFile(node, at(`/${who} ${i}.txt`))
    }
    await Promise.all([
      write(library, 'first'),
      write(second.library, 'second'),
      write(library, 'third'),
      write(second.library, 'fourth'),
    ])
    const after = await stage.reopen(library)
    assert.deepEqual([after.info.headSeq, after.info.fileCount], [1 + 4 * EACH, 4 * EACH])
    const { dir } = await after.tree.getDir(ROOT)
    assert.equal(dir.size, 4 * EACH)
  })

  it('applied to a head that another node moves meanwhile are applied to the new one', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await using second = await openNode(stage, database.setting, library)
    const seen: boolean[] = []
    await library.commit(async (tree) => {
      seen.push((await tree.find(at('/theirs.txt'))) !== undefined)
      if (seen.length === 1) await createFile(second.library, at('/theirs.txt'))
      await tree.makeDirs(at('/ours'))
      return { description: 'x', result: undefined }
    })
    assert.deepEqual(seen, [false, true])
    const after = await stage.reopen(library)
    const { dir } = await after.tree.getDir(ROOT)
    assert.deepEqual(dir.entries.map(({ name }) => name).sort(), ['ours', 'theirs.txt'])
    assert.equal(after.info.headSeq, 3)
  })

  it('on three nodes take turns, so that hardly an edit is applied twice', async (t) => {
    const database = await fresh(t)
    // The nodes of a cluster share a PostgreSQL server.
    if (database?.setting === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await using second = await openNode(stage, database.setting, library)
    await using third = await openNode(stage, database.setting, library)
    const [WRITERS, EACH] = [10, 20]
    const edits = 3 * WRITERS * EACH
    let applied = 0
    const write = async (name: string, node: EditableLibrary, who: number) => {
      for (let i = 0; i < EACH; i++) {
        await node.commit(async (tree) => {
          applied += 1
          await tree.makeDirs(at(`/${name} ${who} ${i}`))
          return { description: 'x', result: 0 }
        })
      }
    }
    const nodes = { first: library, second: second.library, third: third.library }
    await Promise.all(
      Object.entries(nodes).flatMap(([name, node]) =>
        Array.from({ length: WRITERS }, (_, who) => write(name, node, who)),
      ),
    )
    const after = await stage.reopen(library)
    assert.equal((await after.tree.getDir(ROOT)).dir.size, edits)
    assert.ok(applied <= 1.1 * edits, `${edits} edits were applied ${applied} times`)
    const counted = [stage.core, second.core, third.core].map((core) => core.edits)
    const sumOf = (of: 'applied' | 'committed') => counted.reduce((sum, one) => sum + one[of], 0)
    assert.deepEqual([sumOf('applied'), sumOf('committed')], [applied, edits])
  })

  it('on a node that waits for its turn are all committed in that turn', async (t) => {
    const database = await fresh(t)
    if (database?.setting === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await using second = await openNode(stage, database.setting, library)
    let moves = 0
    stage.core.onHeadMoved(() => (moves += 1))
    const edits: Promise<unknown>[] = []
    await second.db.withMutex(library.info.key, async () => {
      edits.push(createFile(library, at('/first.txt')))
      await eventually(async () => {
        const waiting = `select 1 as one from pg_locks where locktype = 'advisory' and not granted`
        assert.ok(await second.db.get(waiting))
      })
      for (let i = 0; i < 20; i++) edits.push(createFile(library, at(`/${i}.txt`)))
    })
    await Promise.all(edits)
    assert.equal(moves, 1)
    assert.equal((await stage.reopen(library)).info.fileCount, 21)
  })

  it('read only what another node has changed in a large folder', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await library.commit(async (tree) => {
      for (let i = 0; i < 500; i++)
        await tree.put(ROOT, dirDirent({ id: EMPTY_ID, name: `folder ${i}`, mtime: 1 }))
      return { description: 'many', result: 0 }
    })
    await using second = await openNode(stage, database.setting, library)
    await createFile(second.library, at('/known.txt'))
    // Its path index reads the same objects, at a time of its own.
    await second.core.commitConsumer.stop()
    for (let i = 0; i < 10; i++) await createFile(library, at(`/${i}.txt`))
    let bytes = 0
    const all = second.db.all.bind(second.db)
    t.mock.method(second.db, 'all', async (sql: string, ...parameters: Value[]) => {
      const rows: { data?: unknown }[] = await all(sql, ...parameters)
      for (const { data } of rows) if (data instanceof Uint8Array) bytes += data.length
      return rows
    })
    await createFile(second.library, at('/next.txt'))
    assert.ok(bytes > 0 && bytes < 10_000, `${bytes} bytes of objects were read`)
    const after = await stage.reopen(library)
    const { dir } = await after.tree.getDir(ROOT)
    assert.deepEqual([dir.size, Dir.of(dir.entries).id], [512, after.info.root])
  })

  it('read only the deltas since the version that the node knows, of many', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await library.commit(async (tree) => {
      for (let i = 0; i < 100; i++)
        await tree.put(ROOT, dirDirent({ id: EMPTY_ID, name: `folder ${i}`, mtime: 1 }))
      return { description: 'many', result: 0 }
    })
    for (let i = 0; i < 40; i++) await createFile(library, at(`/before ${i}.txt`))
    await using second = await openNode(stage, database.setting, library)
    await createFile(second.library, at('/known.txt'))
    // After each commit the path index of the node reads the versions that the other node made. A timer of an earlier commit can make it do so before the rows are counted.
    await second.core.commitConsumer.stop()
    const read = { rows: 0 }
    const all = second.db.all.bind(second.db)
    t.mock.method(second.db, 'all', async (sql: string, ...parameters: Value[]) => {
      const rows = await all(sql, ...parameters)
      if (sql.includes('recursive chain')) read.rows += rows.length
      return rows
    })
    let files = 41
    // The more edits the node has missed, the more rows and queries: one query, two, and three that reach the full copy.
    for (const { missed, most } of [
      { missed: 2, most: 8 },
      { missed: 20, most: 32 },
      { missed: 40, most: 110 },
    ]) {
      for (let i = 0; i < missed; i++) await createFile(library, at(`/${missed} ${i}.txt`))
      read.rows = 0
      await createFile(second.library, at(`/after ${missed}.txt`))
      files += missed + 1
      assert.ok(read.rows >= missed && read.rows <= most, `${read.rows} rows after ${missed} edits`)
    }
    const after = await stage.reopen(library)
    const { dir } = await after.tree.getDir(ROOT)
    assert.deepEqual([dir.size, Dir.of(dir.entries).id], [100 + files, after.info.root])
  })

  it('all succeed with the same name, each under a different one', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const made = await Promise.all(Array.from({ length: 5 }, () => makeFolder(library, at('/same'))))
    const expected = ['same', 'same (1)', 'same (2)', 'same (3)', 'same (4)']
    assert.deepEqual(made.map((one) => one.result.entry.name).sort(), expected)
  })

  it('race for one item: exactly one rename succeeds, the others find it gone', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await createFile(library, at('/it.txt'))
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => rename(stage.core, library, at('/it.txt'), `to ${i}.txt`)),
    )
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected')
        assert.equal((result.reason as DomainError).fault.code, 'path-not-found')
    }
    const { dir } = await (await stage.reopen(library)).tree.getDir(ROOT)
    assert.equal(dir.size, 1)
  })

  it('may copy a folder that another edit of their group has just changed', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await makeFolder(library, at('/d'))
    const noLimit = async () => undefined
    const selection = { parent: ROOT, names: ['d'] }
    await Promise.all([
      createFile(library, at('/d/a.txt')),
      copy(stage.core, library, selection, library, ROOT, noLimit),
      createFile(library, at('/d/b.txt')),
      copy(stage.core, library, selection, library, ROOT, noLimit),
    ])
    const after = await stage.reopen(library)
    const count = async (path: string) => (await after.tree.getDir(at(path))).fileCount
    assert.deepEqual([await count('/d'), await count('/d (1)'), await count('/d (2)')], [2, 1, 2])
    assert.equal(after.info.fileCount, 5)
  })

  it('keep every version readable when their group returns to an earlier state', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore({ ...database, dirCacheBytes: 1 })
    const library = await stage.newLibrary(await stage.actor())
    const made = (name: string) => dirDirent({ id: EMPTY_ID, name, mtime: 1 })
    await library.commit(async (tree) => {
      for (let i = 0; i < 40; i++) await tree.put(ROOT, made(`folder ${i}`))
      return { description: 'many', result: 0 }
    })
    // Each round creates a dir, its successor, and the first again, in one transaction.
    for (let round = 0; round < 20; round++) {
      const put = (name: string) =>
        library.commit(async (tree) => {
          await tree.put(ROOT, made(name))
          return { description: 'put', result: 0 }
        })
      await Promise.all([
        put(`a ${round}`),
        put(`b ${round}`),
        removeOne(stage.core, library, at(`/b ${round}`)),
        put(`c ${round}`),
      ])
    }
    const { info } = await stage.reopen(library)
    const commits = await commitRows.listDown(stage.db, info, info.headSeq, 1)
    for (const commit of commits) {
      const { dir } = await storesOf(stage.core).objects.getDir(info.key, commit.rootId)
      assert.equal(Dir.of(dir.entries).id, commit.rootId)
    }
  })

  it('throw library-not-found for a library deleted meanwhile, and change nothing', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    await stage.db.write((tx) => tx.run('update library set deleted_at = 1'))
    await assert.rejects(createFile(library, at('/a.txt')), (error: DomainError) => {
      return error.fault.code === 'library-not-found'
    })
    const row = await stage.db.get<{ head_seq: number }>('select head_seq from library')
    assert.equal(row?.head_seq, 1)
  })

  it('carry out no edit that they answer with an error: those behind a failed group succeed', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const { info } = library
    const chain = [{ ...(await commitOf(stage.db, info)), id: sha1Hex(Buffer.from('received')) as CommitId }]
    const full = t.mock.method(
      stage.db,
      'write',
      async () => {
        throw new DatabaseError('full', 'no space left')
      },
      { times: 1 },
    )
    // A group ends with received commits. Those that follow are put back.
    const pushed = library.commit(async () => ({ description: 'push', result: 0, received: { chain } }))
    const behind = Array.from({ length: 12 }, (_, i) => createFile(library, at(`/${i}.txt`)))
    const results = await Promise.allSettled([pushed, ...behind])
    full.mock.restore()
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', ...behind.map(() => 'fulfilled')],
    )
    const after = await stage.reopen(library)
    assert.deepEqual([after.info.headSeq, after.info.fileCount], [13, 12])
  })

  it('refuse only the edit that exceeds the quota, not those queued behind it', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using stage = await openTestCore(database)
    const library = await stage.newLibrary(await stage.actor())
    const limit = 100
    stage.core.growth.guard = {
      limitedOwner: async () => ({ ownerKey: library.actor.key, limit }),
      quotaOf: (owner) => owner,
      limitOf: () => limit,
      async check(tx) {
        const row = await tx.get<{ size: number }>('select size from library where key = ?', library.info.key)
        if ((row?.size ?? 0) > limit) fail({ code: 'quota-exceeded', limit })
      },
    }
    const put = (name: string, size: number) =>
      library.commit(async (tree) => {
        await tree.put(ROOT, fileDirent({ id: EMPTY_ID, name, mtime: 1, size, modifier: 'a@b' }))
        return { description: 'put', result: 0 }
      })
    const sizes = [101, 1, 2, 3, 4, 5, 6, 7]
    const results = await Promise.allSettled(sizes.map((size) => put(`${size}`, size)))
    assert.deepEqual(
      results.map(({ status }) => status),
      sizes.map((size) => (size > limit ? 'rejected' : 'fulfilled')),
    )
    assert.equal((await stage.reopen(library)).info.fileCount, 7)
  })
})

async function commitOf(db: Database, info: LibraryInfo) {
  const [commit] = await commitRows.listDown(db, info, info.headSeq, 1)
  return commit ?? assert.fail('no commit')
}

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Transaction } from '../../../src/platform/database/database.ts'
import { DatabaseError, NewerSchemaError, OlderNodesError } from '../../../src/platform/database/errors.ts'
import type { WaitingStep } from '../../../src/platform/database/migrate.ts'
import { migrations as allMigrations } from '../../../src/platform/database/migrations/index.ts'
import type { Migration } from '../../../src/platform/database/migrations/types.ts'
import { type DatabaseSetting, openDatabase } from '../../../src/platform/database/open.ts'

const scratch: Migration = {
  version: 1,
  name: 'scratch',
  async up(tx, { key, int, bytes, text }) {
    await tx.run(`create table item (id ${int} primary key, name ${text}, data ${bytes})`)
    await tx.run(`create table child (key ${key}, item_id ${int} not null references item (id))`)
  },
}

interface ContractOptions {
  /** The reason to skip the suite, if any. */
  readonly skip?: string | undefined
}

/** The contract of `Database`, which each dialect passes; `makeEmpty` creates an empty database. */
export function databaseContract(
  name: string,
  makeEmpty: () => Promise<DatabaseSetting>,
  options: ContractOptions = {},
): void {
  const reopen = (setting: DatabaseSetting, migrations: readonly Migration[]) =>
    openDatabase(setting, { migrations, onFatal: (error) => assert.fail(error), now: () => 1_700_000_000 })
  const open = async () => reopen(await makeEmpty(), [scratch])

  describe(`${name} as a database`, options.skip ? { skip: options.skip } : {}, () => {
    describe('a job in a side process', () => {
      const job = new URL('./side-process.fixture.ts', import.meta.url)
      const { signal } = new AbortController()

      it('reads committed rows, and returns its result', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 1, 3))
        const found = await db.runInSideProcess<{ pid: number }>(
          job,
          { after: 1, least: Uint8Array.of(1) },
          signal,
        )
        assert.deepEqual(found, { ids: [2, 3], least: Uint8Array.of(1), pid: found.pid })
        assert.notEqual(found.pid, process.pid)
        assert.throws(() => process.kill(found.pid, 0), { code: 'ESRCH' })
      })

      it('reports its error', async () => {
        await using db = await open()
        await assert.rejects(db.runInSideProcess(job, { fail: 'the reason' }, signal), /the reason/)
        await assert.rejects(db.runInSideProcess(job, { end: 3 }, signal), /ended early \(3\)/)
      })

      it('is aborted with the given reason', async () => {
        await using db = await open()
        const folder = await mkdtemp(path.join(tmpdir(), 'carrel-side-process-'))
        const running = path.join(folder, 'running')
        const stopping = new AbortController()
        const waiting = db.runInSideProcess(job, { forever: running }, stopping.signal)
        const reason = new Error('enough')
        const rejected = assert.rejects(waiting, reason)
        while (!existsSync(running) || readFileSync(running, 'utf8') === '') await nextTurn()
        const pid = Number(readFileSync(running, 'utf8'))
        stopping.abort(reason)
        await rejected
        assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
        await rm(folder, { recursive: true })
        await assert.rejects(db.runInSideProcess(job, {}, stopping.signal), reason)
      })
    })

    describe('values', () => {
      it('returns text, numbers, bytes and null unchanged', async () => {
        await using db = await open()
        const rows = [
          [1, 'plain', Uint8Array.of(0, 1, 39, 92, 255)],
          [2, 'it\'s a \\ "quote" ? $1 \n\t', new Uint8Array()],
          [3, 'Ünïcødé 文件夹 🗂️ e\u0301', new Uint8Array(300_000).fill(7)],
          [Number.MAX_SAFE_INTEGER, '', null],
          [Number.MIN_SAFE_INTEGER, null, null],
        ] as const
        await db.write((tx) => tx.insert('item', ['id', 'name', 'data'], rows))
        for (const [id, text, data] of rows) {
          assert.deepEqual(await db.get('select id, name, data from item where id = ?', id), {
            id,
            name: text,
            data,
          })
        }
      })

      it('returns counts, sums and booleans as numbers', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 1, 3))
        const row = await db.get(
          'select count(*) as n, sum(id) as total, exists (select 1 from item where id = 2) as found, max(id) as top from item',
        )
        assert.deepEqual(row, { n: 3, total: 6, found: 1, top: 3 })
      })

      it('keeps integers exact in arithmetic', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 7, 1))
        assert.deepEqual(await db.get('select id / ? as half from item', 2), { half: 3 })
      })

      it('is case-sensitive in LIKE and compares text by bytes', async () => {
        await using db = await open()
        await db.write((tx) =>
          tx.insert(
            'item',
            ['id', 'name'],
            [
              [1, 'b'],
              [2, 'B'],
              [3, 'a'],
              [4, 'é'],
            ],
          ),
        )
        assert.deepEqual(await db.all('select name from item where name like ?', 'B%'), [{ name: 'B' }])
        const sorted = await db.all<{ name: string }>('select name from item order by name')
        assert.deepEqual(
          sorted.map((row) => row.name),
          ['B', 'a', 'b', 'é'],
        )
      })

      it('ignores question marks in quotes and comments', async () => {
        await using db = await open()
        await db.write((tx) =>
          tx.run(`insert into item (id, name) values (?, 'what? it''s ?') -- really?`, 1),
        )
        const row = await db.get(`select name as "n?" /* ? */ from item where id = ? and name <> '?'`, 1)
        assert.deepEqual(row, { 'n?': "what? it's ?" })
      })
    })

    it('deletes rows of several tables that are rarely there', async () => {
      await using db = await open()
      await db.write(async (tx) => {
        await insertItems(tx, 1, 4)
        await tx.run('insert into child (item_id) values (?)', 4)
      })
      const count = () =>
        db.get('select (select count(*) from item) as items, (select count(*) from child) as children')
      const deletions = (item: number, child: number) => [
        { table: 'item', where: 'id in (?, ?)', parameters: [item, item + 1] },
        { table: 'child', where: 'item_id = ?', parameters: [child] },
      ]
      assert.deepEqual(await count(), { items: 4, children: 1 })
      assert.equal(await db.write((tx) => tx.deleteRare(deletions(50, 50))), 0)
      assert.equal(await db.write((tx) => tx.deleteRare([])), 0)
      assert.deepEqual(await count(), { items: 4, children: 1 })
      assert.equal(await db.write((tx) => tx.deleteRare(deletions(1, 4))), 3)
      // Not what the row cache has from before.
      assert.deepEqual(await count(), { items: 2, children: 0 })
    })

    it('releases the space of deleted rows and keeps the others, beside other writers', async () => {
      await using db = await open()
      await db.write((tx) => insertItems(tx, 1, 3))
      const large = (id: number) => [id, 'large', new Uint8Array(20_000).fill(id)]
      const rows = Array.from({ length: 100 }, (_, index) => large(index + 100))
      await db.write((tx) => tx.insert('item', ['id', 'name', 'data'], rows))
      await db.write((tx) => tx.run('delete from item where id >= 110'))
      const [released] = await Promise.all([
        db.releaseFreePages(new AbortController().signal),
        db.write((tx) => insertItems(tx, 500, 4)),
      ])
      assert.ok(released >= 0)
      const left = await db.get<{ n: number }>('select count(*) as n from item')
      assert.equal(left?.n, 3 + 10 + 4)
      const stopped = await db.releaseFreePages(AbortSignal.abort())
      assert.equal(stopped, 0)
    })

    describe('reading', () => {
      it('returns nothing from an empty table', async () => {
        await using db = await open()
        assert.equal(await db.get('select id from item'), undefined)
        assert.deepEqual(await db.all('select id from item'), [])
      })

      it('names an invalid statement in the error', async () => {
        await using db = await open()
        await assert.rejects(async () => db.all('select id from nowhere'), /nowhere/)
        await db.ping()
      })

      it('fails after close', async () => {
        const db = await open()
        await db[Symbol.asyncDispose]()
        await db[Symbol.asyncDispose]()
        const closed = { name: 'DatabaseError', reason: 'closed' }
        await assert.rejects(async () => db.get('select 1'), closed)
        await assert.rejects(
          db.write(async () => 1),
          closed,
        )
      })
    })

    describe('writing', () => {
      it('commits and returns the result of the callback', async () => {
        await using db = await open()
        const result = await db.write(async (tx) => {
          assert.equal(await tx.run('insert into item (id) values (?)', 1), 1)
          assert.equal(await tx.run('update item set name = ? where id < ?', 'x', 10), 1)
          assert.equal(await tx.run('update item set name = ? where id = ?', 'y', 9), 0)
          return tx.get('select id, name from item')
        })
        assert.deepEqual(result, { id: 1, name: 'x' })
        assert.deepEqual(await db.all('select id, name from item'), [{ id: 1, name: 'x' }])
      })

      it('rolls back when the callback throws', async () => {
        await using db = await open()
        const failing = db.write(async (tx) => {
          await insertItems(tx, 1, 100)
          throw new Error('changed my mind')
        })
        await assert.rejects(failing, /changed my mind/)
        assert.equal(await countItems(db), 0)
        await db.write((tx) => insertItems(tx, 1, 2))
        assert.equal(await countItems(db), 2)
      })

      it('calls after-commit hooks once the commit is visible, and not after a rollback', async () => {
        await using db = await open()
        const heard: string[] = []
        await db.write(async (tx) => {
          tx.afterCommit(() => heard.push('kept'))
          await insertItems(tx, 1, 1)
          assert.deepEqual(heard, [])
        })
        const failing = db.write(async (tx) => {
          tx.afterCommit(() => heard.push('lost'))
          await insertItems(tx, 1, 1)
        })
        await assert.rejects(failing)
        assert.deepEqual(heard, ['kept'])
      })

      it('rolls back when the callback swallowed the error of a statement', async () => {
        await using db = await open()
        const failing = db.write(async (tx) => {
          await insertItems(tx, 1, 1)
          await insertItems(tx, 1, 1).catch(() => {})
        })
        await assert.rejects(failing, /nothing of the transaction was kept/)
        assert.equal(await countItems(db), 0)
      })

      it('reports the violated constraint', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 1, 1))
        await assert.rejects(
          db.write((tx) => insertItems(tx, 1, 1)),
          (error) => error instanceof DatabaseError && error.reason === 'unique',
        )
        await assert.rejects(
          db.write((tx) => tx.run('insert into child (item_id) values (?)', 99)),
          (error) => error instanceof DatabaseError && error.reason === 'foreign-key',
        )
      })

      it('hides uncommitted rows from other readers', async () => {
        await using db = await open()
        await db.write(async (tx) => {
          await insertItems(tx, 1, 1)
          assert.deepEqual(await tx.get('select count(*) as n from item'), { n: 1 })
          assert.equal(await countItems(db), 0)
        })
        assert.equal(await countItems(db), 1)
      })

      it('rejects statements after the end of the transaction', async () => {
        await using db = await open()
        const kept = await db.write(async (tx) => ({ tx }))
        await assert.rejects(kept.tx.run('insert into item (id) values (1)'), /transaction is over/)
        assert.equal(await countItems(db), 0)
      })

      it('generates keys', async () => {
        await using db = await open()
        const keys = await db.write(async (tx) => {
          await insertItems(tx, 1, 1)
          const first = await tx.get<{ key: number }>(
            'insert into child (item_id) values (?) returning key',
            1,
          )
          const second = await tx.get<{ key: number }>(
            'insert into child (item_id) values (?) returning key',
            1,
          )
          return [first?.key, second?.key]
        })
        assert.deepEqual(keys, [1, 2])
      })

      it('keeps the order of non-durable writes, and flushes them with the next durable one', async () => {
        const setting = await makeEmpty()
        {
          await using db = await reopen(setting, [scratch])
          const quick = db.write((tx) => tx.run('insert into item (id, name) values (1, ?)', 'quick'), {
            durable: false,
          })
          await quick
          assert.equal(await countItems(db), 1)
          await db.write((tx) => tx.run('update item set name = name || ? where id = 1', ', then durable'))
        }
        await using db = await reopen(setting, [scratch])
        assert.deepEqual(await db.get('select name from item'), { name: 'quick, then durable' })
      })
    })

    describe('concurrent writers', () => {
      it('lose no update', async () => {
        await using db = await open()
        await db.write((tx) => tx.run(`insert into item (id, name) values (1, '0')`))
        const add = () =>
          db.write((tx) =>
            tx.run('update item set name = cast(cast(name as bigint) + 1 as text) where id = 1'),
          )
        await Promise.all(Array.from({ length: 60 }, add))
        assert.deepEqual(await db.get('select name from item'), { name: '60' })
      })

      it('let one compare-and-swap succeed, by its row count', async () => {
        await using db = await open()
        await db.write((tx) => tx.run(`insert into item (id, name) values (1, 'old')`))
        const swap = (name: string) =>
          db.write((tx) => tx.run('update item set name = ? where id = 1 and name = ?', name, 'old'))
        const counts = await Promise.all(Array.from({ length: 20 }, (_, i) => swap(`new ${i}`)))
        assert.equal(counts.filter((count) => count === 1).length, 1)
        assert.equal(counts.filter((count) => count === 0).length, 19)
        assert.deepEqual(await db.get('select name from item'), { name: `new ${counts.indexOf(1)}` })
      })

      it('do not affect each other when one fails', async () => {
        await using db = await open()
        const results = await Promise.allSettled(
          Array.from({ length: 30 }, (_, i) =>
            db.write(async (tx) => {
              await insertItems(tx, i, 1)
              if (i % 3 === 0) throw new Error('this one fails')
            }),
          ),
        )
        assert.equal(results.filter((result) => result.status === 'rejected').length, 10)
        const ids = await db.all<{ id: number }>('select id from item order by id')
        assert.deepEqual(
          ids.map((row) => row.id),
          Array.from({ length: 30 }, (_, i) => i).filter((i) => i % 3 !== 0),
        )
      })

      it('may insert the same rows in any order', async () => {
        await using db = await open()
        const ids = Array.from({ length: 500 }, (_, i) => [i])
        const put = (rows: number[][]) => db.write((tx) => tx.insertNew('item', ['id'], rows))
        const counts = await Promise.all([put(ids), put(ids.toReversed()), put(ids), put(ids.toReversed())])
        assert.equal(
          counts.reduce((sum, count) => sum + count),
          500,
        )
      })
    })

    describe('bulk insert', () => {
      it('inserts 5,000 rows', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 1, 5000))
        assert.equal(await countItems(db), 5000)
      })

      it('keeps rows whose key already exists', async () => {
        await using db = await open()
        await db.write((tx) => tx.insert('item', ['id', 'name'], [[2, 'first']]))
        const rows = [
          [1, 'new'],
          [2, 'second'],
          [3, 'new'],
          [3, 'twice'],
        ]
        assert.equal(await db.write((tx) => tx.insertNew('item', ['id', 'name'], rows)), 2)
        await db.write((tx) => tx.insert('item', ['id', 'name'], rows, { ignoreExisting: true }))
        const names = await db.all('select id, name from item where id < 3 order by id')
        assert.deepEqual(names, [
          { id: 1, name: 'new' },
          { id: 2, name: 'first' },
        ])
      })

      it('inserts into several tables at once', async () => {
        await using db = await open()
        await db.write((tx) => tx.insert('item', ['id', 'name'], [[1, 'first']]))
        const items = [1, 2, 3, 4].map((id) => [id, 'second'])
        const counted = await db.write(async (tx) => {
          const [, , count] = await Promise.all([
            tx.insert('item', ['id', 'name'], items, { ignoreExisting: true }),
            tx.insert('child', ['item_id'], [[4], [1]]),
            tx.insertNew('item', ['id'], [[4], [5]]),
            tx.insert('child', ['item_id'], [[5]]),
            tx.run('update item set name = ? where id = ?', 'third', 5),
            tx.insert('item', ['id', 'name'], [[6, 'last']]),
          ])
          return count
        })
        assert.equal(counted, 1)
        assert.deepEqual(await db.all('select id, name from item order by id'), [
          { id: 1, name: 'first' },
          ...[2, 3, 4].map((id) => ({ id, name: 'second' })),
          { id: 5, name: 'third' },
          { id: 6, name: 'last' },
        ])
        assert.deepEqual(await db.all('select item_id from child order by item_id'), [
          { item_id: 1 },
          { item_id: 4 },
          { item_id: 5 },
        ])
      })

      it('inserts into none of several tables when one fails', async () => {
        await using db = await open()
        const inserting = db.write(async (tx) => {
          const inserts = [
            tx.insert('item', ['id'], [[1]]),
            tx.insert('child', ['item_id'], [[2]]),
            tx.run('delete from item where id = 1'),
          ]
          const ended = await Promise.allSettled(inserts)
          assert.equal(ended.at(1)?.status, 'rejected')
        })
        await assert.rejects(inserting)
        assert.equal(await countItems(db), 0)
      })

      it('inserts none when one fails', async () => {
        await using db = await open()
        await db.write((tx) => insertItems(tx, 2500, 1))
        await assert.rejects(
          db.write((tx) => insertItems(tx, 1, 5000)),
          { reason: 'unique' },
        )
        assert.equal(await countItems(db), 1)
      })

      it('accepts an empty list', async () => {
        await using db = await open()
        await db.write((tx) => tx.insert('item', ['id'], []))
        assert.equal(await db.write((tx) => tx.insertNew('item', ['id'], [])), 0)
      })
    })

    describe('migrations', () => {
      const addColumn: Migration = {
        version: 2,
        name: 'add a column',
        async up(tx, { int }) {
          await tx.run(`alter table item add column size ${int}`)
        },
      }
      const broken: Migration = {
        version: 3,
        name: 'broken',
        async up(tx, { int }) {
          await tx.run(`create table half (id ${int})`)
          await tx.run('insert into half values (1)')
          await tx.run('alter table nowhere add column size int')
        },
      }

      it('bring an empty database to the current schema', async () => {
        await using db = await reopen(await makeEmpty(), allMigrations)
        assert.equal(db.schemaVersion, allMigrations.at(-1)?.version)
        assert.deepEqual(await db.all('select email from account'), [])
        assert.deepEqual(
          await db.all('select version, name, applied_at from schema_migration order by version'),
          allMigrations.map(({ version, name }) => ({ version, name, applied_at: 1_700_000_000 })),
        )
      })

      it('run once, and keep the data', async () => {
        const setting = await makeEmpty()
        {
          await using db = await reopen(setting, [scratch])
          await db.write((tx) => insertItems(tx, 1, 3))
        }
        for (let i = 0; i < 2; i++) {
          await using db = await reopen(setting, [scratch, addColumn])
          assert.equal(db.schemaVersion, 2)
          assert.deepEqual(await db.get('select count(*) as n, max(size) as size from item'), {
            n: 3,
            size: null,
          })
        }
      })

      it('keep the state before a failed step', async () => {
        const setting = await makeEmpty()
        {
          await using db = await reopen(setting, [scratch])
          await db.write((tx) => insertItems(tx, 1, 3))
        }
        await assert.rejects(reopen(setting, [scratch, addColumn, broken]), /Schema step 3 \(broken\) failed/)
        await using db = await reopen(setting, [scratch, addColumn])
        assert.equal(db.schemaVersion, 2)
        assert.deepEqual(await db.get('select count(size) as sizes, count(*) as n from item'), {
          sizes: 0,
          n: 3,
        })
        await assert.rejects(async () => db.all('select * from half'), /half/)
      })

      it('reject data of a newer version with an instruction', async () => {
        const setting = await makeEmpty()
        await (await reopen(setting, [scratch, addColumn]))[Symbol.asyncDispose]()
        await assert.rejects(reopen(setting, [scratch]), (error) => {
          assert.ok(error instanceof NewerSchemaError)
          assert.match(error.message, /schema version 2.*only up to 1.*Start the Carrel that wrote it/)
          return true
        })
      })

      it('that add a column do not disturb statements that another node has prepared', async () => {
        const setting = await makeEmpty()
        await using db = await reopen(setting, [scratch])
        await using other = await reopen(setting, [scratch])
        await db.write((tx) => tx.run("insert into item (id, name) values (1, 'first')"))
        const find = (id: number) => db.all('select * from item where id = ?', id)
        const rename = (name: string) =>
          db.write(async (tx) => {
            const before = await tx.get('select * from item where id = 1')
            return [before, await tx.get('update item set name = ? where id = 1 returning *', name)]
          })
        // PostgreSQL prepares a statement after some uses, on several connections.
        for (let id = 100; id < 110; id++) await Promise.all([find(id), find(id + 100), rename('second')])
        await other.write((tx) => tx.run('alter table item add column size bigint'))
        const names = (rows: readonly unknown[]) => rows.map((row) => (row as { name: string }).name)
        assert.deepEqual(names(await find(1)), ['second'])
        assert.deepEqual(names(await rename('third')), ['second', 'third'])
        for (let id = 300; id < 310; id++) await Promise.all([find(id), find(id + 100), rename('fourth')])
        assert.deepEqual(names(await find(1)), ['fourth'])
      })

      describe('beside nodes of an older version', () => {
        const next = Math.max(...allMigrations.map(({ version }) => version)) + 1
        const step = (version: number, kind?: 'expand' | 'contract'): Migration => ({
          version,
          name: `step ${version}`,
          ...(kind && { kind }),
          async up(tx, { int }) {
            await tx.run(`create table made_${version} (id ${int})`)
          },
        })
        const start = async (setting: DatabaseSetting, steps: readonly Migration[], older: string[] = []) => {
          const waiting: WaitingStep[] = []
          const asked: number[] = []
          await using db = await openDatabase(setting, {
            migrations: [...allMigrations, ...steps],
            onFatal: (error) => assert.fail(error),
            async listOlderNodes(_tx, { version }) {
              asked.push(version)
              return older
            },
            onWaiting: (one) => waiting.push(one),
          })
          return { version: db.schemaVersion, waiting, asked }
        }
        const refusal = (version: number) => (error: unknown) => {
          assert.ok(error instanceof OlderNodesError)
          assert.match(error.message, new RegExp(`needs step ${version} .*: old node\\. Stop them`))
          return true
        }

        it('expand at once, and contract when they are gone', async () => {
          const setting = await makeEmpty()
          await start(setting, [])
          const steps = [step(next, 'expand'), step(next + 1, 'contract'), step(next + 2, 'contract')]
          const first = await start(setting, steps, ['old node'])
          assert.equal(first.version, next)
          assert.deepEqual(first.waiting, [
            { version: next + 1, name: `step ${next + 1}`, nodes: ['old node'] },
          ])
          // The older version works with the expanded schema, and reports its version, as a backup has to.
          assert.equal((await start(setting, [])).version, next)
          const second = await start(setting, steps)
          assert.deepEqual([second.version, second.waiting], [next + 2, []])
          await assert.rejects(start(setting, []), NewerSchemaError)
        })

        it('refuse to start if a step is needed that has to wait', async () => {
          const setting = await makeEmpty()
          await start(setting, [])
          await assert.rejects(start(setting, [step(next)], ['old node']), refusal(next))
          const behind = [step(next, 'contract'), step(next + 1, 'expand')]
          await assert.rejects(start(setting, behind, ['old node']), refusal(next))
          assert.equal((await start(setting, [])).version, next - 1)
          assert.equal((await start(setting, behind)).version, next + 1)
        })

        it('are not looked for in a new database, nor by a command', async () => {
          const steps = [step(next, 'expand'), step(next + 1), step(next + 2, 'contract')]
          const created = await start(await makeEmpty(), steps, ['old node'])
          assert.deepEqual([created.version, created.asked], [next + 2, []])
          const setting = await makeEmpty()
          await start(setting, [])
          await using db = await reopen(setting, [...allMigrations, ...steps])
          assert.equal(db.schemaVersion, next + 1)
        })
      })

      it('run once when two nodes start together', async () => {
        const setting = await makeEmpty()
        const nodes = await Promise.all(Array.from({ length: 3 }, () => reopen(setting, allMigrations)))
        const [first] = nodes
        assert.deepEqual(await first?.get('select count(*) as n from schema_migration'), {
          n: allMigrations.length,
        })
        for (const node of nodes) await node[Symbol.asyncDispose]()
      })
    })
  })
}

function insertItems(tx: Transaction, firstId: number, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => [firstId + i, `item ${i}`, Uint8Array.of(i % 256)])
  return tx.insert('item', ['id', 'name', 'data'], rows)
}

async function countItems(db: Database): Promise<number | undefined> {
  return (await db.get<{ n: number }>('select count(*) as n from item'))?.n
}

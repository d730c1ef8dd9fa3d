import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { EMPTY_ID } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { finishArchive } from '../../src/libraries/archives/archive-store.ts'
import type { ClaimedTask } from '../../src/maintenance/jobs/copy-move-task.ts'
import {
  advanceTask,
  beginTask,
  claimTask,
  setCopied,
  setFailed,
  setRemoved,
} from '../../src/maintenance/jobs/copy-move-task-store.ts'
import { batch, two } from '../api/batch-support.ts'
import { ended, holdTasks, started } from '../api/tasks-support.ts'
import { fetchArchive, holdContent, startArchive, waitForArchive } from '../support/archives.ts'
import { at as pathAt } from '../support/core.ts'
import { at, declareDead, Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { openLibrary, storeFile } from '../support/stored-files.ts'
import { eventually } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('claims of nodes on one PostgreSQL database', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  /** The only row of a table. Read in a transaction, so that it comes from no cache. */
  async function onlyRow<Row extends object>({ running }: TestServer, table: string): Promise<Row> {
    const rows = await running.services.db.write((tx) => tx.all<Row>(`select * from ${table}`))
    assert.equal(rows.length, 1)
    return { ...rows[0] } as Row
  }
  const nodeOf = ({ running }: TestServer) => running.services.node.id

  it('on a task end when another node takes it over: no step of the former node counts', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const [here, there] = await two(first)
    using atFirst = holdTasks(first)
    using atSecond = holdTasks(second)
    const id = await started(here.client, 'copy', batch(here, ['d'], there, '/in'))
    await atFirst.reached
    const { claim } = await onlyRow<{ claim: string }>(first, 'copy_move_task')
    await declareDead(first)
    await second.running.services.node.beat()
    await atSecond.reached
    const before = await onlyRow<{ node_id: string; claim: string }>(second, 'copy_move_task')
    assert.equal(before.node_id, nodeOf(second))
    assert.notEqual(before.claim, claim)

    const { db } = first.running.services
    const former = { id, claim }
    const steps = [
      () => db.write((tx) => beginTask(tx, former, { total: 9, sourceRoot: EMPTY_ID }, 1)),
      () => db.write((tx) => advanceTask(tx, former, 1, 1)),
      () => db.write((tx) => setCopied(tx, former, 'successful', 1)),
      () => db.write((tx) => setFailed(tx, former, 'it is not its task any more', 1)),
    ]
    for (const step of steps) assert.equal(await step(), false)
    assert.deepEqual(await onlyRow(second, 'copy_move_task'), before)
    const setState = (state: string) => db.write((tx) => tx.run('update copy_move_task set state = ?', state))
    await setState('removing')
    assert.equal(await db.write((tx) => setRemoved(tx, former, 1)), false)
    await setState('running')
    assert.deepEqual(await onlyRow(second, 'copy_move_task'), before)

    for (const held of [atFirst, atSecond]) held.release()
    assert.equal((await ended(at(second, here.client), id)).successful, true)
    assert.deepEqual(await there.names('/in'), ['d', 'a.txt'])
  })

  it('on a task are given to one node while that is alive, also if several found it free', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const [here, there] = await two(first)
    using held = holdTasks(first)
    const id = await started(here.client, 'copy', batch(here, ['d'], there, '/in'))
    await held.reached
    const claimAt = ({ running: { services } }: TestServer): Promise<ClaimedTask | undefined> => {
      const wanted = { claim: randomUUID(), nodeId: services.node.id, now: 1 }
      return services.db.write((tx) => claimTask(tx, services.db.dialect, id, wanted))
    }
    const running = await onlyRow(second, 'copy_move_task')
    assert.equal(await claimAt(second), undefined)
    assert.deepEqual(await onlyRow(second, 'copy_move_task'), running)

    // As if both had listed it before either claimed it.
    await first.running.services.db.write((tx) =>
      tx.run(`update copy_move_task set node_id = null, state = 'queued'`),
    )
    const claims = await Promise.all([claimAt(first), claimAt(second)])
    assert.equal(claims.filter((claim) => claim !== undefined).length, 1)
    const holder = claims[0] === undefined ? second : first
    const other = holder === first ? second : first
    assert.equal((await onlyRow<{ node_id: string }>(first, 'copy_move_task')).node_id, nodeOf(holder))
    await declareDead(holder)
    assert.notEqual(await claimAt(other), undefined)
  })

  it('on an archive end when another node packs it: the former node cannot finish it', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const client = await first.signUp()
    const library = await client.createLibrary()
    await storeFile(first, client, library, '/a.txt', Buffer.from('a'))
    await storeFile(first, client, library, '/b.txt', Buffer.from('b'))
    using held = new DisposableStack()
    for (const node of [first, second]) held.defer(holdContent(t, node).open)
    const token = await startArchive(client, library, '/', ['a.txt', 'b.txt'])
    type Row = { id: string; node_id: string; claim: string | null; state: string; total: number | null }
    // The number of files is the last thing that is stored before the content is read.
    const packedAt = async (node: TestServer): Promise<Row & { claim: string }> => {
      let row: Row | undefined
      await eventually(async () => {
        row = await onlyRow<Row>(node, 'archive')
        assert.deepEqual([row.node_id, row.state, row.total], [nodeOf(node), 'running', 2])
      })
      assert.ok(row !== undefined && row.claim !== null)
      return { ...row, claim: row.claim }
    }
    const { id, claim } = await packedAt(first)
    await declareDead(first)
    await second.running.services.archives.maintain()
    const before = await packedAt(second)
    assert.notEqual(before.claim, claim)

    const { db } = first.running.services
    const finished = { size: 1, total: 1, place: 'blocks', now: 1 } as const
    assert.equal(await db.write((tx) => finishArchive(tx, { id, claim }, finished)), false)
    assert.deepEqual(await onlyRow(second, 'archive'), before)

    held.dispose()
    assert.equal((await waitForArchive(at(second, client), token)).zipped, 2)
    const archive = Buffer.from(await (await fetchArchive(second, token)).arrayBuffer())
    assert.deepEqual([...unzip(archive).keys()].sort(), ['a.txt', 'b.txt'])
  })

  it('on a library make nodes take turns after a conflict: no edit is applied in vain again', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second, third] = [await nodes.start(), await nodes.start(), await nodes.start()]
    const client = await first.signUp()
    const id = await client.createLibrary()
    const { db } = third.running.services
    const applied: string[] = []
    const waiting = async () => {
      const row = await db.write((tx) =>
        tx.get<{ n: number | string }>(
          `select count(*) as n from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        ),
      )
      return Number(row?.n)
    }
    const conflict = Promise.withResolvers<void>()
    const both = Promise.withResolvers<void>()
    const edit = async (node: TestServer, name: string) => {
      const library = (await openLibrary(node, client, id)).editable(ROOT)
      await library.commit(async (tree) => {
        applied.push(name)
        if (applied.length === 2) both.resolve()
        if (applied.length <= 2) await conflict.promise
        // The first of the two that are applied again goes on when the other one waits for its turn.
        if (applied.length === 3) {
          await eventually(async () => assert.equal((await waiting()) + applied.length - 3, 1))
        }
        await tree.makeDirs(pathAt(`/${name}`))
        return { description: name, result: 0 }
      })
    }
    const edits = [edit(first, 'one'), edit(second, 'two')]
    await both.promise
    const library = (await openLibrary(third, client, id)).editable(ROOT)
    await library.commit(async (tree) => {
      await tree.makeDirs(pathAt('/three'))
      return { description: 'three', result: 0 }
    })
    conflict.resolve()
    await Promise.all(edits)
    assert.deepEqual(applied.toSorted(), ['one', 'one', 'two', 'two'])
    const { dir } = await (await openLibrary(third, client, id)).tree.getDir(ROOT)
    assert.deepEqual(dir.entries.map(({ name }) => name).sort(), ['one', 'three', 'two'])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, openTestCore, type TestCore } from '../../../test/support/core.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { makeFolder } from '../edits/entries.ts'
import { storesOf } from '../library/for-server.ts'
import { getLibrary } from '../library/libraries.ts'
import { purge } from '../library/library-trash.ts'
import { deletedLibraries } from '../registry/deleted-library-store.ts'
import { CommitConsumer } from './commit-consumer.ts'
import { positionRows } from './consumer-store.ts'

const notCalled = (error: unknown) => assert.fail(String(error))

function consumerOf({ db, core }: TestCore, onError: (error: unknown) => void = notCalled) {
  return new CommitConsumer({ db, recentCommits: storesOf(core).recentCommits, onError })
}

describe('a consumer of commits', () => {
  it('follows other libraries while a step of one takes long, also of the same owner', async () => {
    await using test = await openTestCore()
    const [owner, other] = [await test.actor(), await test.actor()]
    const large = await test.newLibrary(owner)
    const small = [await test.newLibrary(owner), await test.newLibrary(other)]
    const followed = small.map(() => Promise.withResolvers<void>())
    const release = Promise.withResolvers<void>()
    const consumer = consumerOf(test)
    consumer.add({
      db: test.db,
      name: 'test',
      position: async () => ({ seq: 0 }),
      async step(library) {
        if (library.key === large.info.key) await release.promise
        else followed[small.findIndex(({ info }) => info.key === library.key)]?.resolve()
        return { reached: { seq: library.headSeq } }
      },
    })
    consumer.wake(large.info)
    for (const { info } of small) consumer.wake(info)
    await Promise.all(followed.map(({ promise }) => promise))
    release.resolve()
    await consumer.stop()
  })

  it('ends when its library is purged, whatever its steps say', async () => {
    await using test = await openTestCore()
    const made = await test.newLibrary(await test.actor())
    await makeFolder(made, at('/a'))
    const info = await getLibrary(test.core, made.info.id)
    let steps = 0
    const consumer = consumerOf(test)
    const module = consumer.add({
      db: test.db,
      name: 'test',
      position: async () => ({ seq: 0 }),
      async step({ key }) {
        steps += 1
        await test.db.write((tx) => deletedLibraries.mark(tx, key, 1))
        await purge(test.core, { key, id: '', name: '' }, undefined)
        // Another process moved the position: it must be read again.
        return undefined
      },
    })
    await assert.rejects(module.catchUp(info), { message: /^library-not-found/ })
    assert.equal(steps, 1)
    await consumer.stop()
  })

  it('starts again from the stored position once its known one is invalidated', async () => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const from: number[] = []
    const consumer = consumerOf(test)
    const module = consumer.add({
      db: test.db,
      name: 'test',
      position: async () => ({ seq: 0 }),
      async step(library, { seq }) {
        from.push(seq)
        return { reached: { seq: library.headSeq } }
      },
    })
    await module.catchUp(info)
    await module.catchUp(info)
    assert.deepEqual(from, [0])
    module.invalidate(info.key)
    await module.catchUp(info)
    assert.deepEqual(from, [0, 0])
    await consumer.stop()
  })
})

describe('the rows of several modules', () => {
  it('are written in one transaction, with those of the companion', async (t) => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const stage = stageOf(test)
    stage.add('one')
    stage.add('two')
    const ended: boolean[] = []
    stage.consumer.accompany({
      db: test.db,
      take: () => ({
        write: async (tx) => void stage.transactions.add(tx),
        onEnded: (isWritten) => void ended.push(isWritten),
      }),
      onDelay: () => {},
    })
    const writes = t.mock.method(test.db, 'write')
    await stage.follow(info)
    assert.equal(writes.mock.callCount(), 1)
    assert.equal(stage.transactions.size, 1)
    assert.deepEqual(ended, [true])
    assert.deepEqual(await stage.positions(info.key), { one: info.headSeq, two: info.headSeq })
  })

  it('are written although those of one module fail, or cannot be derived', async () => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const errors: string[] = []
    const stage = stageOf(test, (error) => void errors.push(String(error)))
    stage.add('one')
    stage.add('poisoned', { write: async (tx) => void (await tx.run('update nothing set a = 1')) })
    stage.add('underivable', {
      step: async () => {
        throw new Error('underivable')
      },
    })
    stage.add('two')
    await stage.follow(info)
    const { headSeq } = info
    assert.deepEqual(await stage.positions(info.key), {
      one: headSeq,
      poisoned: 0,
      underivable: 0,
      two: headSeq,
    })
    assert.equal(errors.length, 2)
  })

  it('do not wait for a module that takes long', async () => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const release = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const stage = stageOf(test)
    stage.add('slow', { step: () => release.promise })
    stage.add('one', { write: async () => written.resolve() })
    const followed = stage.follow(info)
    await written.promise
    assert.equal((await stage.positions(info.key))['slow'], 0)
    release.resolve()
    await followed
    assert.deepEqual(await stage.positions(info.key), { slow: info.headSeq, one: info.headSeq })
  })

  it('are not written twice if another process was first with one of them', async () => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const stage = stageOf(test)
    const written: string[] = []
    for (const name of ['one', 'two']) {
      stage.add(name, {
        step: async () => {
          if (name === 'one' && written.length === 0) {
            written.push('elsewhere')
            const row = [info.key, 'one', info.headSeq]
            await test.db.write((tx) => tx.insert('follower', ['library_key', 'name', 'seq'], [row]))
          }
        },
        write: async (tx) => tx.afterCommit(() => written.push(name)),
      })
    }
    await stage.follow(info)
    assert.deepEqual(written, ['elsewhere', 'two'])
    assert.deepEqual(await stage.positions(info.key), { one: info.headSeq, two: info.headSeq })
  })
})

/** A consumer with modules whose rows are counted. */
function stageOf(test: TestCore, onError?: (error: unknown) => void) {
  const consumer = consumerOf(test, onError)
  const modules: { name: string; settled: Promise<unknown> }[] = []
  const transactions = new Set<Transaction>()
  const waiting: (() => Promise<void>)[] = []
  return {
    consumer,
    transactions,
    add(
      name: string,
      { step, write }: { step?: () => Promise<void>; write?: (tx: Transaction) => Promise<void> } = {},
    ) {
      const settled = Promise.withResolvers<void>()
      modules.push({ name, settled: settled.promise })
      const module = consumer.add({
        db: test.db,
        name,
        async step({ headSeq }) {
          await step?.()
          return {
            reached: { seq: headSeq },
            rows: {
              async write(tx) {
                transactions.add(tx)
                await write?.(tx)
              },
            },
          }
        },
      })
      const catchUp = module.catchUp.bind(module)
      module.catchUp = (...given) => {
        const running = catchUp(...given)
        void running.then(settled.resolve, settled.resolve)
        return running
      }
      waiting.push(() => settled.promise)
    },
    /** Resolves when all modules have tried. */
    async follow(info: Parameters<CommitConsumer['wake']>[0]) {
      consumer.wake(info)
      await Promise.all(waiting.map((wait) => wait()))
      await consumer.stop()
    },
    async positions(libraryKey: number): Promise<Record<string, number>> {
      const found = modules.map(async ({ name }) => [
        name,
        await positionRows.find(test.db, libraryKey, name),
      ])
      return Object.fromEntries(await Promise.all(found)) as Record<string, number>
    },
  }
}

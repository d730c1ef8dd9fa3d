import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, openTestCore } from '../../test/support/core.ts'
import { makeFolder } from '../library/entries.ts'
import { getLibrary } from '../library/libraries.ts'
import { purge } from '../library/purge.ts'
import { CommitConsumer } from './commit-consumer.ts'
import { markDeleted } from './library-store.ts'

describe('a consumer of commits', () => {
  it('follows other libraries while a step of one takes long, also of the same owner', async () => {
    await using test = await openTestCore()
    const [owner, other] = [await test.actor(), await test.actor()]
    const large = await test.newLibrary(owner)
    const small = [await test.newLibrary(owner), await test.newLibrary(other)]
    const followed = small.map(() => Promise.withResolvers<void>())
    const release = Promise.withResolvers<void>()
    const consumer = new CommitConsumer({
      db: test.db,
      name: 'test',
      position: async () => 0,
      async step(library) {
        if (library.key === large.info.key) await release.promise
        else followed[small.findIndex(({ info }) => info.key === library.key)]?.resolve()
        return library.headSeq
      },
      onError: (error) => assert.fail(String(error)),
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
    const consumer = new CommitConsumer({
      db: test.db,
      name: 'test',
      position: async () => 0,
      async step({ key }) {
        steps += 1
        await test.db.write((tx) => markDeleted(tx, key, 1))
        await purge(test.core, key)
        // Another process moved the position: it must be read again.
        return undefined
      },
      onError: (error) => assert.fail(String(error)),
    })
    await assert.rejects(consumer.catchUp(info), { message: /^library-not-found/ })
    assert.equal(steps, 1)
    await consumer.stop()
  })

  it('starts again from the stored position once its known one is invalidated', async () => {
    await using test = await openTestCore()
    const { info } = await test.newLibrary(await test.actor())
    const from: number[] = []
    const follower = new CommitConsumer({
      db: test.db,
      name: 'test',
      position: async () => 0,
      async step(library, position) {
        from.push(position)
        return library.headSeq
      },
      onError: (error) => assert.fail(String(error)),
    })
    await follower.catchUp(info)
    await follower.catchUp(info)
    assert.deepEqual(from, [0])
    follower.invalidate(info.key)
    await follower.catchUp(info)
    assert.deepEqual(from, [0, 0])
    await follower.stop()
  })
})

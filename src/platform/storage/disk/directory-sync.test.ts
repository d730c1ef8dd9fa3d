import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DirectorySync } from './directory-sync.ts'
import { FolderFlushError } from './folder-handles.ts'

/** Flushes that end when the test says so. */
function controlled() {
  const started: string[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const fatal: Error[] = []
  const syncs = new DirectorySync(
    (folder) => {
      started.push(folder)
      const end = Promise.withResolvers<void>()
      ends.push(end)
      return end.promise
    },
    (error) => fatal.push(error),
  )
  return { syncs, started, ends, fatal }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('DirectorySync', () => {
  it('shares one flush among callers that ask while earlier flushes run', async () => {
    const { syncs, started, ends } = controlled()
    const first = [syncs.sync('a'), syncs.sync('b')]
    const waiting = Array.from({ length: 50 }, () => syncs.sync('c'))
    assert.deepEqual(started, ['a', 'b'])
    ends[0]?.resolve()
    await first[0]
    await turn()
    assert.deepEqual(started, ['a', 'b', 'c'])
    ends[1]?.resolve()
    ends[2]?.resolve()
    await Promise.all([...first, ...waiting])
    assert.equal(started.length, 3)
  })

  it('never answers with a flush that started before the call', async () => {
    const { syncs, started, ends } = controlled()
    const early = syncs.sync('a')
    let answered = false
    const late = (async () => {
      await syncs.sync('a')
      answered = true
    })()
    ends[0]?.resolve()
    await early
    await turn()
    assert.equal(answered, false)
    assert.deepEqual(started, ['a', 'a'])
    ends[1]?.resolve()
    await late
  })

  it('fails all waiting and later calls once a flush has failed', async () => {
    const { syncs, started, ends, fatal } = controlled()
    const failing = syncs.sync('a')
    const beside = syncs.sync('b')
    const waiting = syncs.sync('c')
    const rejected = assert.rejects(waiting, /disk gone/)
    ends[0]?.reject(new FolderFlushError('a', new Error('disk gone')))
    await assert.rejects(failing, /disk gone/)
    await rejected
    await assert.rejects(syncs.sync('d'), /disk gone/)
    assert.deepEqual(started, ['a', 'b'])
    ends[1]?.resolve()
    await beside
    assert.equal(fatal.length, 1)
  })

  it('fails only its callers if no flush began', async () => {
    const { syncs, ends, fatal } = controlled()
    const failing = syncs.sync('a')
    ends[0]?.reject(new Error('EMFILE: too many open files'))
    await assert.rejects(failing, /EMFILE/)
    const later = syncs.sync('a')
    ends[1]?.resolve()
    await later
    assert.equal(fatal.length, 0)
  })
})

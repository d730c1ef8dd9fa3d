import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ByteBudget } from './byte-budget.ts'

const budget = (waitMs = 60_000, mostWaiting = 1000) =>
  new ByteBudget({ total: 100, share: 40, waitMs, mostWaiting })

describe('a byte budget', () => {
  it('grants up to the total, and up to its share to each key', () => {
    const bytes = budget()
    assert.equal(bytes.tryTake(['a'], 40), true)
    assert.equal(bytes.tryTake(['a'], 1), false)
    assert.equal(bytes.tryTake(['b', 'c'], 40), true)
    assert.equal(bytes.tryTake(['c'], 1), false)
    assert.equal(bytes.tryTake(['d'], 21), false)
    assert.equal(bytes.tryTake(['d'], 20), true)
    assert.equal(bytes.used, 100)
    bytes.release(['a'], 40)
    bytes.release(['b', 'c'], 40)
    bytes.release(['d'], 20)
    assert.deepEqual([bytes.used, bytes.holders], [0, 0])
  })

  it('grants more than a share to a key that holds nothing, and never more than the total', async () => {
    const bytes = budget()
    assert.equal(bytes.tryTake(['a'], 100), true)
    assert.equal(await bytes.take(['b'], 101), false)
  })

  it('serves the client with the fewest bytes first, however many requests another has waiting', async () => {
    const bytes = budget()
    const granted: string[] = []
    const want = (key: string, size: number) =>
      bytes.take([key], size).then((ok) => granted.push(`${key} ${ok}`))
    assert.equal(bytes.tryTake(['a'], 30), true)
    assert.equal(bytes.tryTake(['other'], 70), true)
    const waiting = [want('a', 10), want('a', 10), want('a', 10), want('b', 20)]
    bytes.release(['other'], 25)
    await waiting[3]
    assert.deepEqual(granted, ['b true'])
    bytes.release(['other'], 45)
    await waiting[0]
    assert.deepEqual(granted, ['b true', 'a true'])
    assert.equal(bytes.waiting, 2)
    bytes.release(['a'], 40)
    await Promise.all(waiting)
    assert.equal(bytes.waiting, 0)
  })

  it('is not held up by a client that waits for its own share', async () => {
    const bytes = budget()
    assert.equal(bytes.tryTake(['a'], 40), true)
    const blocked = bytes.take(['a'], 10)
    assert.equal(await bytes.take(['b'], 40), true)
    bytes.release(['a'], 40)
    assert.equal(await blocked, true)
  })

  it('lets nobody wait for ever, nor too many wait', async () => {
    const bytes = budget(10, 2)
    assert.equal(bytes.tryTake(['a'], 100), true)
    const [first, second, third] = [bytes.take(['b'], 1), bytes.take(['c'], 1), bytes.take(['d'], 1)]
    assert.equal(await third, false)
    assert.deepEqual(await Promise.all([first, second]), [false, false])
    bytes.release(['a'], 100)
    assert.deepEqual([bytes.used, bytes.waiting, bytes.holders], [0, 0, 0])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { oneAhead } from './prefetch.ts'

describe('streams one after the other', () => {
  const log: string[] = []
  async function* stream(name: string, items: number): AsyncGenerator<string, void> {
    log.push(`${name} begun`)
    try {
      for (let n = 1; n <= items; n++) yield `${name}${n}`
    } finally {
      log.push(`${name} ended`)
    }
  }

  it('give all items in order, the next begun with the first of the one before', async () => {
    log.length = 0
    const all = oneAhead([stream('a', 2), stream('b', 0), stream('c', 1)])
    assert.equal((await all.next()).value, 'a1')
    assert.deepEqual(log, ['a begun', 'b begun', 'b ended'])
    assert.deepEqual(await Array.fromAsync(all), ['a2', 'c1'])
    assert.deepEqual(await Array.fromAsync(oneAhead([])), [])
  })

  it('are all ended when nobody wants more', async () => {
    log.length = 0
    for await (const item of oneAhead([stream('a', 2), stream('b', 2), stream('c', 2)])) {
      assert.equal(item, 'a1')
      break
    }
    assert.deepEqual(log, ['a begun', 'b begun', 'a ended', 'b ended'])
  })

  it('tell of an error where its items would have been', async () => {
    async function* failing(): AsyncGenerator<string, void> {
      yield 'b1'
      throw new Error('damaged')
    }
    const given: string[] = []
    const reading = async () => {
      for await (const item of oneAhead([stream('a', 2), failing(), stream('c', 1)])) given.push(item)
    }
    log.length = 0
    await assert.rejects(reading, /damaged/)
    assert.deepEqual(given, ['a1', 'a2', 'b1'])
    assert.deepEqual(log, ['a begun', 'a ended', 'c begun', 'c ended'])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { prefetched } from './prefetch.ts'

describe('prefetched streams', () => {
  const log: string[] = []
  async function* stream(name: string, items: number): AsyncGenerator<string, void> {
    log.push(`${name} begun`)
    try {
      for (let n = 1; n <= items; n++) yield `${name}${n}`
    } finally {
      log.push(`${name} ended`)
    }
  }

  it('yield all items in order and start each stream with the first item of the previous one', async () => {
    log.length = 0
    const all = prefetched([stream('a', 2), stream('b', 0), stream('c', 1)])
    assert.equal((await all.next()).value, 'a1')
    assert.deepEqual(log, ['a begun', 'b begun', 'b ended'])
    assert.deepEqual(await Array.fromAsync(all), ['a2', 'c1'])
    assert.deepEqual(await Array.fromAsync(prefetched([])), [])
  })

  it('are all closed when the consumer stops early', async () => {
    log.length = 0
    for await (const item of prefetched([stream('a', 2), stream('b', 2), stream('c', 2)])) {
      assert.equal(item, 'a1')
      break
    }
    assert.deepEqual(log, ['a begun', 'b begun', 'a ended', 'b ended'])
  })

  it('start as many streams ahead as wanted, and close all of them', async () => {
    log.length = 0
    const names = ['a', 'b', 'c', 'd', 'e']
    const all = prefetched(
      names.map((name) => stream(name, 2)),
      3,
    )
    assert.equal((await all.next()).value, 'a1')
    assert.deepEqual(log, ['a begun', 'b begun', 'c begun', 'd begun'])
    const next = [await all.next(), await all.next()].map(({ value }) => value)
    assert.deepEqual(next, ['a2', 'b1'])
    await all.return()
    assert.deepEqual(log.slice(4), ['a ended', 'e begun', 'b ended', 'c ended', 'd ended', 'e ended'])
    const items = await Array.fromAsync(
      prefetched(
        names.map((name) => stream(name, 2)),
        3,
      ),
    )
    assert.deepEqual(
      items,
      names.flatMap((name) => [`${name}1`, `${name}2`]),
    )
  })

  it('throw an error at the position of the failed stream', async () => {
    async function* failing(): AsyncGenerator<string, void> {
      yield 'b1'
      throw new Error('damaged')
    }
    const received: string[] = []
    const reading = async () => {
      for await (const item of prefetched([stream('a', 2), failing(), stream('c', 1)])) received.push(item)
    }
    log.length = 0
    await assert.rejects(reading, /damaged/)
    assert.deepEqual(received, ['a1', 'a2', 'b1'])
    assert.deepEqual(log, ['a begun', 'a ended', 'c begun', 'c ended'])
  })
})

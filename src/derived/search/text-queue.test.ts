import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { openSearch } from '../../../test/support/search.ts'
import { eventually } from '../../../test/support/transfer.ts'
import { ExtractorUnavailable, type TextExtractor } from '../../platform/extraction/text-extractor.ts'
import { countPending } from './text-store.ts'

/** Extracts nothing until it is opened, and records the order of the files. */
function gatedExtractor(refuse: (name: string) => boolean = () => false) {
  const order: string[] = []
  const keys = new Set<string | undefined>()
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const extractor: TextExtractor = {
    async extract({ name }, { key } = {}) {
      order.push(name)
      keys.add(key)
      await promise
      if (refuse(name)) throw new ExtractorUnavailable('Too many files wait.', 7)
      return { text: `text of ${name}`, truncated: false }
    },
    async close() {},
  }
  return { order, keys, open, extractor }
}

onBothDatabases('the text extraction queue', (fresh) => {
  it('selects files round-robin over owners and their libraries', async (t) => {
    let now = 1_754_000_000
    const { order, keys, open, extractor } = gatedExtractor()
    await using opened = await openSearch(t, fresh, { extractor, now: () => now })
    if (opened === undefined) return
    const { stage, search, put } = opened
    const [flood, single] = [await stage.actor(), await stage.actor()]
    const first = await stage.newLibrary(flood)
    const second = await stage.newLibrary(flood, 'More')
    const one = await stage.newLibrary(single)
    const fill = async (library: typeof first, name: string, count: number) => {
      for (let n = 0; n < count; n += 1) await put(library, `/${name} ${n}.pdf`, `${name} ${n}`)
      await search.index.catchUp((await stage.reopen(library)).info)
      now += 10
    }
    // The single file is neither among the oldest nor among the latest.
    await fill(first, 'early', 40)
    await fill(one, 'single', 1)
    await fill(second, 'late', 40)
    await fill(first, 'latest', 40)
    open()
    await search.texts.settled()
    assert.equal(order.length, 121)
    // The first round had begun when there was only one library.
    const round = order.slice(32, 64)
    assert.ok(round.slice(0, 2).includes('single 0.pdf'), round.join(', '))
    assert.equal(round.filter((name) => name.startsWith('late ')).length >= 8, true, round.join(', '))
    assert.deepEqual(keys, new Set([flood.key, single.key].map(String)))
  })

  it('retries a file until the extractor is no longer busy', async (t) => {
    let now = 1_754_000_000
    let refusals = 6
    const { order, open, extractor } = gatedExtractor(() => refusals-- > 0)
    open()
    await using opened = await openSearch(t, fresh, { extractor, now: () => now })
    if (opened === undefined) return
    const { stage, search, put, paths } = opened
    const library = await stage.newLibrary(await stage.actor())
    await put(library, '/a.pdf', 'a')
    await search.index.catchUp((await stage.reopen(library)).info)
    for (let round = 0; round < 7; round += 1) {
      await search.texts.settled()
      now += 8
    }
    assert.equal(order.length, 7)
    assert.deepEqual(await countPending(opened.db), { waiting: 0, failed: 0 })
    assert.deepEqual(await paths('text', [library]), ['/a.pdf'])
  })

  it('stores nothing of a process that stood still for longer than its lease', async (t) => {
    let now = 1_754_000_000
    const reads: PromiseWithResolvers<string>[] = []
    const extractor: TextExtractor = {
      async extract() {
        const read = Promise.withResolvers<string>()
        reads.push(read)
        return { text: await read.promise, truncated: false }
      },
      async close() {},
    }
    await using opened = await openSearch(t, fresh, { extractor, now: () => now })
    if (opened === undefined) return
    const { stage, search: stalled, put, paths, db } = opened
    await using later = opened.restart()
    const library = await stage.newLibrary(await stage.actor())
    const stall = async (file: string) => {
      await put(library, file, file)
      await stalled.index.catchUp((await stage.reopen(library)).info)
      const count = reads.length
      const over = stalled.texts.settled()
      await eventually(async () => assert.equal(reads.length, count + 1))
      now += 601
      later.texts.wake()
      const taken = later.texts.settled()
      await eventually(async () => assert.equal(reads.length, count + 2))
      return { late: reads[count], timely: reads[count + 1], over, taken }
    }
    // The later holder is done before the earlier one goes on.
    const first = await stall('/a.pdf')
    first.timely?.resolve('timely')
    await first.taken
    first.late?.resolve('belated')
    await first.over
    assert.deepEqual(await paths('timely', [library]), ['/a.pdf'])
    assert.deepEqual(await paths('belated', [library]), [])
    // The earlier one goes on while the later one reads.
    const second = await stall('/b.pdf')
    second.late?.reject(new Error('The worker is gone.'))
    await second.over
    assert.deepEqual(await countPending(db), { waiting: 1, failed: 0 })
    second.timely?.resolve('current')
    await second.taken
    assert.deepEqual(await paths('current', [library]), ['/b.pdf'])
    assert.deepEqual(await countPending(db), { waiting: 0, failed: 0 })
    assert.deepEqual(opened.errors, [])
  })
})

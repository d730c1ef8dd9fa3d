import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type BlockId, sha1Hex } from '../../src/base/objects/index.ts'
import { TimeSlicer } from '../../src/base/scheduling/index.ts'
import { createFile } from '../../src/libraries/edits/entries.ts'
import { verifiedWrite } from '../../src/platform/storage/verified-bytes.ts'
import { at, openTestCore } from '../support/core.ts'

/** Turns of the event loop while some work runs. Work that never yields has none. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isRunning = true
  const turn = () => {
    turns += 1
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isRunning = false
  return turns
}

function busy(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

it('a time slicer yields whenever a slice is over', async () => {
  const steps = function* () {
    for (let step = 0; step < 20; step += 1) yield busy(3)
    return 'done'
  }
  const turns = await turnsDuring(async () => {
    assert.equal(await new TimeSlicer().through(steps()), 'done')
  })
  assert.ok(turns >= 20, `${turns} turns`)
})

it('hashing a long block yields after each slice', async () => {
  const bytes = Buffer.alloc(12 * 2 ** 20, 'a')
  const turns = await turnsDuring(async () => {
    for await (const slice of verifiedWrite(sha1Hex(bytes) as BlockId, bytes)) void slice
  })
  assert.ok(turns >= 11, `${turns} turns`)
})

it('an insert of many rows yields', async () => {
  await using stage = await openTestCore()
  const rows = Array.from({ length: 30_000 }, (_, key) => [`key ${key}`, 'value '.repeat(20)])
  await stage.db.write((tx) => tx.run('create table note (id text primary key, body text)'))
  const turns = await turnsDuring(() =>
    stage.db.write((tx) => tx.insert('note', ['id', 'body'], rows), { durable: false }),
  )
  assert.ok(turns >= 5, `${turns} turns`)
})

it('a group of edits yields between the edits', async () => {
  await using stage = await openTestCore()
  const library = await stage.newLibrary(await stage.actor())
  await createFile(library, at('/first.txt'))
  // Each takes 5 ms of the event loop. All wait in one queue, so they are applied in one group.
  const edit = () =>
    library.commit(async () => {
      busy(5)
      return { description: '', result: 0 }
    })
  const turns = await turnsDuring(() => Promise.all(Array.from({ length: 40 }, edit)))
  assert.ok(turns >= 30, `${turns} turns`)
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ROOT } from '../../src/base/paths/paths.ts'
import { copyObjects } from '../../src/libraries/content/copy-objects.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { emptyTrash } from '../../src/libraries/library/library-trash.ts'
import { GarbageCollector } from '../../src/maintenance/gc/collector.ts'
import { OperationLeases } from '../../src/maintenance/gc/operation-leases.ts'
import { at, openTestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { rounds } from '../support/tier.ts'
import { load, save } from './stage.ts'

const WRITERS = 4
const NAMES = 12
const CONTENTS = 10
/** Of a writer. A collector that frees nothing fails the test, and does not keep it from ending. */
const MOST_STEPS = 20_000

/** Few contents, so that the same blocks are condemned and stored again all the time. Every third is a block file. */
function contentOf(n: number): Buffer {
  const seed = createHash('sha256').update(`content ${n}`).digest()
  return Buffer.concat(Array.from({ length: n % 3 === 0 ? 2500 : 40 }, () => seed))
}

onBothDatabases('writers and garbage collection at the same time', (fresh) => {
  it('lose nothing with a grace period of zero', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    await using stage = await openTestCore(database)
    const { core, db, blocks } = stage
    const actor = await stage.actor()
    const libraries = [await stage.newLibrary(actor), await stage.newLibrary(actor)] as const
    for (const library of libraries) await setKeepDays(core, library.owned(), 0, undefined)
    // Each writer has its own names, so that the expected content is known.
    const expected = new Map<string, Buffer>()
    const onError = (error: unknown) => {
      throw error
    }
    const collectors = Array.from({ length: 2 }, () => {
      const leases = new OperationLeases({ db, operations: core.operations, now: core.now, onError })
      return new GarbageCollector(
        { db, blocks, core, leases },
        { graceSeconds: 0, now: core.now, onError, processCommits: async () => {} },
      )
    })
    const writers = { areRunning: true }
    const counted = { deleted: 0 }
    const collecting = collectors.map(async (gc) => {
      while (writers.areRunning) {
        const report = await gc.runOnce()
        counted.deleted += report.deleted.objects + report.deleted.blocks
        await wait(20)
      }
    })
    const steps = rounds(60, 120, 400)
    const writing = Array.from({ length: WRITERS }, async (_, writer) => {
      const random = seededRandom(seed + writer)
      const below = (n: number) => Math.floor(random() * n)
      // On a fast machine all steps are done before what they deleted may be collected. Writers go on until a collection has run beside them.
      for (let step = 0; step < steps || (counted.deleted === 0 && step < MOST_STEPS); step++) {
        const index = below(2)
        const library = libraries[index] as EditableLibrary
        const name = `${writer}-${below(NAMES)}`
        const key = `${index} ${name}`
        const roll = random()
        if (roll < 0.5) {
          const bytes = contentOf(below(CONTENTS))
          await save({ stage }, library, name, bytes)
          expected.set(key, bytes)
        } else if (roll < 0.7) {
          await library.commit(async (tree) => {
            if ((await tree.find(at(`/${name}`))) !== undefined) await tree.take(at(`/${name}`))
            return { description: 'Deleted', result: 0 }
          })
          expected.delete(key)
        } else if (roll < 0.85) {
          await copyOne(`${writer}-${below(NAMES)}`, writer, index)
        } else if (roll < 0.9) {
          await emptyTrash(core, await stage.reopen(library), 0, undefined)
        } else {
          await wait(below(60))
        }
      }
    })
    /** Copies a file of one library to the other. */
    const copyOne = async (name: string, writer: number, from: number) => {
      using _operation = core.operations.begin()
      const source = await stage.reopen(libraries[from] as EditableLibrary)
      const target = libraries[1 - from] as EditableLibrary
      const entry = await source.tree.find(at(`/${name}`))
      if (entry === undefined) return
      await copyObjects({ db, objects: storesOf(core).objects }, source.info.key, target.info.key, [entry])
      await target.commit(async (tree) => {
        await tree.put(ROOT, entry)
        return { description: `Copied by ${writer}`, result: 0 }
      })
      const bytes = expected.get(`${from} ${name}`)
      if (bytes !== undefined) expected.set(`${1 - from} ${name}`, bytes)
    }
    await Promise.all(writing)
    writers.areRunning = false
    await Promise.all(collecting)
    t.diagnostic(`${counted.deleted} rows and files deleted meanwhile`)
    assert.ok(counted.deleted > 0)
    for (const [key, bytes] of expected) {
      const [index = '0', name = ''] = key.split(' ')
      const found = await load({ stage }, libraries[Number(index)] as EditableLibrary, at(`/${name}`))
      assert.ok(found?.equals(bytes), `${key}, seed ${seed}`)
    }
  })
})

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { it, type TestContext } from 'node:test'
import { at, openTestCore } from '../../test/support/core.ts'
import { type FreshDatabase, onBothDatabases } from '../../test/support/databases.ts'
import { eventually } from '../../test/support/transfer.ts'
import type { ImageDescription } from '../imaging/image-description.ts'
import type { Images } from '../imaging/images.ts'
import { addFiles } from '../library/upload.ts'
import { baseName, ROOT } from '../objects/paths.ts'
import { DetailsQueue } from './details-queue.ts'
import { PhotoIndex } from './photo-index.ts'

/** A library with an index of its photos. */
async function openStage(t: TestContext, fresh: FreshDatabase, now: () => number) {
  const database = await fresh(t)
  if (database === undefined) return undefined
  const { setting } = database
  const stage = await openTestCore({ now, ...(setting && { setting }) })
  const { core, db } = stage
  const library = await stage.newLibrary(await stage.actor())
  const info = async () => (await stage.reopen(library)).info
  const add = async (path: string) => {
    const content = await core.content.receive(Readable.from([Buffer.from(path)]))
    const files = [{ name: baseName(at(path)), content, mtime: 1_700_000_000 }]
    await addFiles(core, await stage.reopen(library), ROOT, files)
  }
  const index = new PhotoIndex({ core, db, onPending: () => {} })
  return { stage, info, add, index, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

onBothDatabases('a process that stood still for longer than its lease', (fresh) => {
  it('while it read a photo stores nothing over what a later one has read', async (t) => {
    let now = 1_754_000_000
    await using opened = await openStage(t, fresh, () => now)
    if (opened === undefined) return
    const { stage, info, add, index } = opened
    const { core, db } = stage
    const reads: PromiseWithResolvers<ImageDescription | { failure: 'unavailable' }>[] = []
    const images = {
      describe() {
        const read = Promise.withResolvers<ImageDescription | { failure: 'unavailable' }>()
        reads.push(read)
        return read.promise
      },
    } as unknown as Images
    const errors: unknown[] = []
    const newQueue = () => new DetailsQueue({ core, db, images, onError: (error) => errors.push(error) })
    const [stalled, later] = [newQueue(), newQueue()]
    const stall = async (name: string) => {
      await add(name)
      await index.catchUp(await info())
      const count = reads.length
      const over = stalled.settled()
      await eventually(async () => assert.equal(reads.length, count + 1))
      now += 301
      const taken = later.settled()
      await eventually(async () => assert.equal(reads.length, count + 2))
      return { late: reads[count], timely: reads[count + 1], over, taken }
    }
    const known = () => db.all('select name, width, due_at from photo order by name')
    try {
      // The later holder is done before the earlier one goes on.
      const first = await stall('/a.jpg')
      first.timely?.resolve(described(2))
      await first.taken
      first.late?.resolve(described(1))
      await first.over
      assert.deepEqual(await known(), [{ name: 'a.jpg', width: 2, due_at: null }])
      // The earlier one goes on while the later one reads, and would make the photo due again.
      const second = await stall('/b.jpg')
      const leased = await known()
      second.late?.resolve({ failure: 'unavailable' })
      await second.over
      assert.deepEqual(await known(), leased)
      second.timely?.resolve(described(2))
      await second.taken
      assert.deepEqual((await known())[1], { name: 'b.jpg', width: 2, due_at: null })
      assert.deepEqual(errors, [])
    } finally {
      await Promise.all([stalled.stop(), later.stop()])
    }
  })
})

function described(width: number): ImageDescription {
  return { width, height: 1, thumbhash: new Uint8Array(1), originalAt: undefined, utcOffset: undefined }
}

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { it, type TestContext } from 'node:test'
import { at, openTestCore } from '../../../test/support/core.ts'
import { type FreshDatabase, onBothDatabases } from '../../../test/support/databases.ts'
import { eventually } from '../../../test/support/transfer.ts'
import { baseName, ROOT } from '../../base/paths/paths.ts'
import { addFiles } from '../../libraries/edits/upload.ts'
import type { ImageDescription } from '../../platform/imaging/image-description.ts'
import type { Images } from '../../platform/imaging/images.ts'
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
  const addMany = async (paths: readonly string[]) => {
    const content = await core.incoming.receive(Readable.from([Buffer.from(paths.join())]))
    const files = paths.map((path) => ({ name: baseName(at(path)), content, mtime: 1_700_000_000 }))
    await addFiles(core, await stage.reopen(library), ROOT, files)
  }
  const add = (path: string) => addMany([path])
  const index = new PhotoIndex({ core, db, onPending: () => {} })
  return { stage, info, add, addMany, index, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
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

/** More photos than one transaction of the index writes. */
const MANY = 501
const LEASE_SECONDS = 60

onBothDatabases('an index of photos that stood still for longer than its lease', (fresh) => {
  it('at any of its writes leaves the library to the later holder', async (t) => {
    let now = 1_754_000_000
    await using opened = await openStage(t, fresh, () => now)
    if (opened === undefined) return
    const { stage, info, addMany, index: later } = opened
    const { core, db } = stage
    await addMany(Array.from({ length: MANY }, (_, number) => `/${number}.jpg`))
    let added = 0
    for (let position = 1; ; position += 1) {
      let writes = 0
      const stopped = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      const standing = Object.create(db, {
        write: {
          async value(...args: Parameters<typeof db.write>) {
            writes += 1
            if (writes === position) {
              stopped.resolve()
              await goOn.promise
            }
            return db.write(...args)
          },
        },
        dialect: { value: db.dialect },
        get: { value: db.get.bind(db) },
        all: { value: db.all.bind(db) },
      }) as typeof db
      const stalled = new PhotoIndex({ core, db: standing, onPending: () => {} })
      await db.write((tx) => tx.run('delete from photo_library'))
      const over = stalled.catchUp(await info())
      const isStopped = await Promise.race([stopped.promise.then(() => true), over.then(() => false)])
      if (!isStopped) {
        assert.ok(writes >= 5, `${writes} writes`)
        return
      }
      now += LEASE_SECONDS + 1
      // What the stalled one is about to write is out of date.
      await addMany([`/new ${added++}.jpg`])
      await later.catchUp(await info())
      const known = () => db.all('select seq, claim, claimed_until from photo_library')
      const before = await known()
      goOn.resolve()
      await over
      assert.deepEqual(await known(), before, `write ${position}`)
      assert.deepEqual(await Array.fromAsync(later.faultsOf(await info())), [], `write ${position}`)
      const row = await db.get<{ photos: number }>('select count(*) as photos from photo')
      assert.equal(row?.photos, MANY + added)
    }
  })
})

function described(width: number): ImageDescription {
  return { width, height: 1, thumbhash: new Uint8Array(1), originalAt: undefined, utcOffset: undefined }
}

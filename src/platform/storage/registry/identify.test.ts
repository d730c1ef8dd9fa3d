import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Database, openDatabase } from '../../database/index.ts'
import { type ConfiguredStore, claimStore, identifyStore, registerStore } from './identify.ts'
import { diskMarker } from './marker.ts'
import { insertStore, listStores } from './registry-store.ts'

let root: string
before(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'carrel-registry-'))
})
after(() => rm(root, { recursive: true, force: true }))

async function newDatabase(): Promise<Database> {
  const folder = await mkdtemp(path.join(root, 'db-'))
  return openDatabase(
    { kind: 'sqlite', file: path.join(folder, 'carrel.db') },
    { onFatal: (error) => assert.fail(error) },
  )
}

/** A store with a marker in a folder of its own, whatever its address says. */
async function newStore(address: string): Promise<ConfiguredStore & { readonly folder: string }> {
  const folder = await mkdtemp(path.join(root, 'store-'))
  await mkdir(folder, { recursive: true })
  return { address, marker: diskMarker(folder), folder }
}

const refusal = (message: RegExp) => ({ name: 'StoreIdentityError', message })

describe('the identity of a block store', () => {
  it('is written to the store and the database at the first start, and found at the next', async () => {
    await using db = await newDatabase()
    const disk = await newStore('disk')
    assert.deepEqual(await identifyStore(db, disk), { own: undefined, other: undefined })
    await claimStore(db, disk, 1000)
    await claimStore(db, disk, 2000)
    const [store, ...others] = await listStores(db)
    assert.deepEqual(others, [])
    assert.equal(await readFile(path.join(disk.folder, 'store-id'), 'utf8'), `${store?.id}\n`)
    assert.deepEqual(store, { id: store?.id, address: 'disk', isConfirmed: true, isCurrent: true })
  })

  it('refuses a store of the other kind, another one, and one that was emptied', async () => {
    await using db = await newDatabase()
    const disk = await newStore('disk')
    const bucket = await newStore('s3://bucket/a/?region=x')
    await claimStore(db, disk, 1000)
    await assert.rejects(
      claimStore(db, bucket, 1000),
      refusal(/are on disk: set CARREL_BLOCKS to disk. To move them, run carrel migrate --blocks s3:/),
    )
    await using other = await newDatabase()
    await claimStore(other, bucket, 1000)
    await assert.rejects(
      claimStore(other, disk, 1000),
      refusal(/are in S3: set CARREL_BLOCKS to s3:\/\/bucket\/a\/\?region=x\. To move .* --blocks disk\.$/),
    )
    const second = await newStore('s3://bucket/b/?region=x')
    await assert.rejects(
      identifyStore(other, second),
      refusal(/are in s3:\/\/bucket\/a\/, not in s3:\/\/bucket\/b\/: correct CARREL_BLOCKS\.$/),
    )
    await using third = await newDatabase()
    await claimStore(third, second, 1000)
    await assert.rejects(
      identifyStore(other, second),
      refusal(/s3:\/\/bucket\/b\/ has those of another server/),
    )
    await using fresh = await newDatabase()
    await assert.rejects(claimStore(fresh, second, 1000), refusal(/has the blocks of another server: choose/))
    await bucket.marker.remove()
    const id = (await listStores(other))[0]?.id
    await assert.rejects(
      claimStore(other, bucket, 1000),
      refusal(new RegExp(`store-id is missing\\. See that .* write ${id} to it, and run carrel repair\\.$`)),
    )
    await bucket.marker.write(id ?? '')
    await claimStore(other, bucket, 1000)
  })

  it('survives a kill between the row and the marker', async () => {
    await using db = await newDatabase()
    const bucket = await newStore('s3://bucket/a/')
    await insertStore(db, { id: 'one', address: bucket.address, beside: 0 }, 1000)
    await claimStore(db, bucket, 1000)
    assert.equal(await bucket.marker.read(), 'one')
    await using killed = await newDatabase()
    await insertStore(killed, { id: 'two', address: 's3://elsewhere/', beside: 0 }, 1000)
    const own = await newStore('s3://bucket/c/')
    await claimStore(killed, own, 1000)
    assert.equal((await listStores(killed))[0]?.id, await own.marker.read())
  })

  it('follows a store whose address changed, and a database that was copied before it had one', async () => {
    await using db = await newDatabase()
    const bucket = await newStore('s3://bucket/a/?endpoint=old')
    await claimStore(db, bucket, 1000)
    await claimStore(db, { ...bucket, address: 's3://bucket/a/?endpoint=new' }, 1000)
    assert.equal((await listStores(db))[0]?.address, 's3://bucket/a/?endpoint=new')
    await using first = await newDatabase()
    const disk = await newStore('disk')
    await claimStore(first, disk, 1000)
    await using copy = await newDatabase()
    await claimStore(copy, disk, 1000)
    assert.equal((await listStores(copy))[0]?.id, (await listStores(first))[0]?.id)
  })

  it('is registered for one of two servers that start with different stores', async () => {
    await using db = await newDatabase()
    const [one, two] = [await newStore('s3://bucket/a/'), await newStore('s3://bucket/b/')]
    const outcomes = await Promise.allSettled([claimStore(db, one, 1000), claimStore(db, two, 1000)])
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await listStores(db)).filter(({ isConfirmed }) => isConfirmed).length, 1)
    const third = await newStore('disk')
    await registerStore(db, third, { beside: 1, now: 1000 })
    const more = await newStore('s3://bucket/c/')
    await assert.rejects(registerStore(db, more, { beside: 1, now: 1000 }), refusal(/another block store/))
  })
})

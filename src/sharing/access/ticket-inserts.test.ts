import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestCore } from '../../../test/support/core.ts'
import { ROOT } from '../../base/paths/paths.ts'
import type { Database, WriteOptions } from '../../platform/database/database.ts'
import { TicketInserts } from './ticket-inserts.ts'
import { findTicket, type TicketRow } from './ticket-store.ts'

const END = 2_000_000_000

function counting(db: Database) {
  let writes = 0
  const counted = new Proxy(db, {
    get(_, name) {
      if (name !== 'write') return Reflect.get(db, name)
      return (work: Parameters<Database['write']>[0], options?: WriteOptions) => {
        writes += 1
        return db.write(work, options)
      }
    },
  })
  return { db: counted, writes: () => writes }
}

describe('concurrent tickets', () => {
  it('are inserted in one batch, and one that cannot be inserted fails alone', async () => {
    await using test = await openTestCore()
    const actor = await test.actor()
    const { info } = await test.newLibrary(actor)
    const { db, writes } = counting(test.db)
    const inserts = new TicketInserts(db)
    const row = (libraryKey: number): TicketRow => ({
      operation: 'upload',
      libraryKey,
      libraryEpoch: 0,
      subKey: undefined,
      origin: { accountKey: actor.key, epoch: 0, apiTokenKey: undefined, scopedTokenKey: undefined },
      path: ROOT,
      target: undefined,
      objectId: undefined,
      modifiedAt: undefined,
      reusable: true,
      expiresAt: END,
      link: undefined,
      sender: undefined,
    })
    const hashes = [1, 2, 3].map((n) => Buffer.alloc(32, n))
    await Promise.all(hashes.map((hash) => inserts.add(hash, row(info.key))))
    assert.equal(writes(), 1)
    for (const hash of hashes) assert.deepEqual(await findTicket(test.db, hash), row(info.key))

    const sound = Buffer.alloc(32, 4)
    const [gone, there] = await Promise.allSettled([
      inserts.add(Buffer.alloc(32, 5), row(info.key + 1)),
      inserts.add(sound, row(info.key)),
    ])
    assert.equal(gone.status, 'rejected')
    assert.equal(there.status, 'fulfilled')
    assert.notEqual(await findTicket(test.db, sound), undefined)
  })
})

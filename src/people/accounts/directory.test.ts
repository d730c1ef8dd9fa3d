import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openOnSqlite } from '../../../test/support/identity.ts'
import type { Reader } from '../../platform/database/database.ts'
import { Directory } from './directory.ts'

/** Counts the statements that reach the database. */
function counting(db: Reader): Reader & { count: number } {
  return {
    count: 0,
    async all(sql, ...parameters) {
      this.count += 1
      return db.all(sql, ...parameters)
    },
    async get(sql, ...parameters) {
      this.count += 1
      return db.get(sql, ...parameters)
    },
  }
}

describe('Directory', () => {
  it('returns the names of accounts and derives names for unknown ones', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann', { name: 'Ann B', contactEmail: 'office@example.com' })
    await identity.signUp('bob')
    const emails = ['ann@example.org', 'bob@example.org', 'zoe@elsewhere.org', 'odd\0', '']
    const people = await identity.directory.people(emails)
    assert.deepEqual(
      [...people.values()].sort((a, b) => emails.indexOf(a.email) - emails.indexOf(b.email)),
      [
        { email: 'ann@example.org', name: 'Ann B', contactEmail: 'office@example.com' },
        { email: 'bob@example.org', name: 'bob', contactEmail: 'bob@example.org' },
        { email: 'zoe@elsewhere.org', name: 'zoe', contactEmail: 'zoe@elsewhere.org' },
        { email: 'odd\0', name: 'odd\0', contactEmail: 'odd\0' },
        { email: '', name: '', contactEmail: '' },
      ],
    )
    assert.deepEqual(await identity.directory.person('ann@example.org'), people.get('ann@example.org'))
  })

  it('queries once for a listing of thousands of entries by two people, and uses the cache afterwards', async () => {
    await using identity = await openOnSqlite()
    await identity.signUp('ann', { name: 'Ann B' })
    const db = counting(identity.db)
    const directory = new Directory(db, () => identity.time)
    const modifiers = Array.from({ length: 10_000 }, (_, index) =>
      index % 2 ? 'ann@example.org' : 'zoe@x.org',
    )
    assert.equal((await directory.people(modifiers)).size, 2)
    assert.equal(db.count, 1)
    identity.time += 1
    assert.equal((await directory.people(modifiers)).get('ann@example.org')?.name, 'Ann B')
    assert.equal(db.count, 1)
    identity.time += 1
    await directory.people(modifiers)
    assert.equal(db.count, 2)
  })

  it('shows a local change at once, and a change of another process after two seconds', async () => {
    await using identity = await openOnSqlite()
    const other = new Directory(identity.db, () => identity.time)
    const names = async () => [
      (await identity.directory.person('ann@example.org')).name,
      (await other.person('ann@example.org')).name,
    ]
    assert.deepEqual(await names(), ['ann', 'ann'])
    await identity.signUp('ann', { name: 'Ann' })
    assert.deepEqual(await names(), ['Ann', 'ann'])
    await identity.accounts.update('ann@example.org', { name: 'Ann B' }, undefined)
    assert.deepEqual(await names(), ['Ann B', 'ann'])
    identity.time += 2
    assert.deepEqual(await names(), ['Ann B', 'Ann B'])
    await identity.accounts.remove('ann@example.org', undefined)
    assert.deepEqual(await names(), ['ann', 'Ann B'])
  })

  it('caches a bounded number of people', async () => {
    await using identity = await openOnSqlite()
    const db = counting(identity.db)
    const directory = new Directory(db, () => identity.time)
    const crowd = Array.from({ length: 10_001 }, (_, index) => `user${index}@example.org`)
    assert.equal((await directory.people(crowd)).size, 10_001)
    const before = db.count
    await directory.people(crowd.slice(1))
    assert.equal(db.count, before)
    await directory.person('user0@example.org')
    assert.equal(db.count, before + 1)
    // Looked up again after its expiry, user 2 is the newest: others are evicted for the next ones.
    identity.time += 2
    await directory.person('user2@example.org')
    await directory.people(['a@example.org', 'b@example.org'])
    assert.equal(db.count, before + 3)
    await directory.person('user2@example.org')
    assert.equal(db.count, before + 3)
  })
})

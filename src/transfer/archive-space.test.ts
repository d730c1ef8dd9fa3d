import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ArchiveSpace } from './archive-space.ts'

describe('the space of archives', () => {
  it('limits one requester to half, and all visitors together to half', () => {
    const space = new ArchiveSpace(100)
    assert.equal(space.largest, 50)
    assert.equal(space.reserve('1', 51), undefined)
    const first = space.reserve('1', 50)
    assert.ok(first)
    assert.equal(space.reserve('1', 1), undefined)
    const visitor = space.reserve('visitor:a', 30)
    assert.ok(visitor)
    assert.equal(space.reserve('visitor:b', 21), undefined)
    assert.ok(space.reserve('visitor:b', 20))
    // All of it is taken.
    assert.equal(space.reserve('2', 1), undefined)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    assert.ok(space.reserve('2', 50))
    assert.equal(space.reserve('3', 1), undefined)
  })

  it('adjusts the reservation of an archive that turns out larger or smaller', () => {
    const space = new ArchiveSpace(100)
    const hold = space.reserve('1', 40)
    assert.ok(hold)
    assert.equal(hold.resize(51), false)
    assert.equal(hold.bytes, 40)
    assert.equal(hold.resize(50), true)
    assert.equal(hold.resize(10), true)
    assert.ok(space.reserve('1', 40))
  })

  it('is unlimited by default', () => {
    const space = new ArchiveSpace(undefined)
    assert.equal(space.largest, undefined)
    assert.ok(space.reserve('1', Number.MAX_SAFE_INTEGER))
  })
})

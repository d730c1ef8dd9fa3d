import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../../../test/support/dirents.arbitrary.ts'
import { leaving } from './chunker.ts'
import { SEARCH_GROUP, SEARCHED_AT_ONCE, StopSearch } from './stop-search.ts'

const WINDOW = 48
const STOP = 0x13

/** The plain implementation: each fingerprint from the one before. */
function plainSearch(bytes: Uint8Array, from: number, end: number): number {
  const isStop: boolean[] = []
  let fingerprint = 0
  for (let at = from - 1; at < end; at++) {
    const left = bytes[at - WINDOW] as number
    fingerprint = ((fingerprint << 8) | (bytes[at] as number)) ^ (leaving[left] as number)
    isStop[at] = (fingerprint & 0xffff) === STOP
  }
  let group = from
  for (; group + SEARCH_GROUP <= end; group += SEARCH_GROUP) {
    if (isStop.slice(group, group + SEARCH_GROUP).includes(true)) break
  }
  return group
}

/** Changes the bytes so that a stop ends at a position. */
function plantStop(bytes: Uint8Array, at: number): void {
  const leavingAt = (position: number) => leaving[bytes[position - WINDOW] as number] as number
  const before = leavingAt(at - 1)
  bytes[at - 1] = (before ^ (leavingAt(at) >> 8)) & 0xff
  bytes[at] = (leavingAt(at) ^ STOP) & 0xff
}

/** Every group that a search finds, in order. */
function allGroups(end: number, first: number, next: (at: number) => number): number[] {
  const groups = [first]
  for (let at = first; at + SEARCH_GROUP <= end; ) {
    at = next(at + SEARCH_GROUP)
    groups.push(at)
  }
  return groups
}

describe('StopSearch', () => {
  const search = new StopSearch()

  /** Compares both implementations, and returns the number of groups found. */
  const compare = (bytes: Uint8Array, from: number, end: number) => {
    const found = allGroups(end, search.next(bytes, from, end), (at) => search.again(at, from, end))
    const expected = allGroups(end, plainSearch(bytes, from, end), (at) => plainSearch(bytes, at, end))
    assert.deepEqual(found, expected)
    return found.length - 1
  }

  it('finds the same groups as the plain implementation', (t) => {
    const property = fc.property(
      fc.uint8Array({ minLength: 64, maxLength: 2000 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.nat(),
      (bytes, stops, start) => {
        const from = WINDOW + 1 + (start % 15)
        for (const stop of stops) plantStop(bytes, WINDOW + 1 + (stop % (bytes.length - WINDOW - 1)))
        compare(bytes, from, bytes.length)
      },
    )
    check(t, property)
  })

  it('finds a stop at each position of a group', () => {
    for (let position = 0; position < 64; position++) {
      const bytes = new Uint8Array(256).fill(0xa5)
      plantStop(bytes, 100 + position)
      assert.equal(search.next(bytes, 100, 256), 100 + position - (position % SEARCH_GROUP))
      assert.equal(compare(bytes, 100, 256), 1)
    }
  })

  it('searches as many bytes at once as it promises', () => {
    const bytes = new Uint8Array(SEARCHED_AT_ONCE + 100)
    for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 2_654_435_761) >>> 24
    plantStop(bytes, bytes.length - 8)
    assert.ok(compare(bytes, 100, bytes.length) > 0)
  })
})

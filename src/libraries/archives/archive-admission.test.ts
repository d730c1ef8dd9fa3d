import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ArchiveSummary, admitArchive, fits, largestArchive } from './archive-admission.ts'

let keys = 0
function archive(requester: string, bytes: number, rest: Partial<ArchiveSummary> = {}): ArchiveSummary {
  keys += 1
  return { key: keys, requester, bytes, state: 'finished', isFetched: false, finishedAt: 1000, ...rest }
}

const at = (space: number | undefined) => ({ space, now: 1000 })

describe('the space of archives', () => {
  it('limits one requester to half, and all visitors together to half', () => {
    assert.equal(largestArchive(100), 50)
    assert.equal(admitArchive([], { requester: '1', bytes: 51 }, at(100)), undefined)
    assert.deepEqual(admitArchive([], { requester: '1', bytes: 50 }, at(100)), [])
    const existing = [archive('1', 50), archive('visitor:a', 30)]
    assert.equal(admitArchive(existing, { requester: '1', bytes: 1 }, at(100)), undefined)
    assert.equal(admitArchive(existing, { requester: 'visitor:b', bytes: 21 }, at(100)), undefined)
    assert.deepEqual(admitArchive(existing, { requester: 'visitor:b', bytes: 20 }, at(100)), [])
    // All of it is taken.
    const full = [...existing, archive('visitor:b', 20)]
    assert.equal(admitArchive(full, { requester: '2', bytes: 1 }, at(100)), undefined)
    assert.deepEqual(admitArchive(full.slice(1), { requester: '2', bytes: 50 }, at(100)), [])
  })

  it('is unlimited by default', () => {
    assert.equal(largestArchive(undefined), undefined)
    assert.ok(fits([], '1', Number.MAX_SAFE_INTEGER, undefined))
  })

  it("is made by deleting what was fetched or is old, the requester's own first", () => {
    const fetched = archive('2', 40, { isFetched: true })
    const old = archive('1', 40, { finishedAt: 399 })
    const fresh = archive('3', 10)
    const existing = [fetched, old, fresh]
    assert.deepEqual(admitArchive(existing, { requester: '1', bytes: 10 }, at(100)), [])
    assert.deepEqual(admitArchive(existing, { requester: '1', bytes: 40 }, at(100)), [old.key])
    assert.deepEqual(admitArchive(existing, { requester: '3', bytes: 40 }, at(100)), [fetched.key])
    assert.equal(
      admitArchive([fresh, archive('4', 50), archive('5', 40)], { requester: '3', bytes: 1 }, at(100)),
      undefined,
    )
  })
})

describe('the number of archives', () => {
  it('is limited for an account, a link and all, while they are unfinished', () => {
    const queued = (requester: string, count: number) =>
      Array.from({ length: count }, () => archive(requester, 0, { state: 'queued', finishedAt: undefined }))
    const admits = (existing: ArchiveSummary[], requester: string) =>
      admitArchive(existing, { requester, bytes: 0 }, at(undefined)) !== undefined
    assert.equal(admits(queued('1', 19), '1'), true)
    assert.equal(admits(queued('1', 20), '1'), false)
    assert.equal(admits(queued('1', 20), '2'), true)
    assert.equal(admits(queued('visitor:a', 4), 'visitor:a'), true)
    assert.equal(admits(queued('visitor:a', 5), 'visitor:a'), false)
    assert.equal(admits(Array.from({ length: 500 }, (_, n) => queued(`${n}`, 1)).flat(), 'x'), false)
  })

  it('is limited for finished ones by deleting the oldest', () => {
    const kept = Array.from({ length: 200 }, () => archive('1', 1))
    assert.deepEqual(admitArchive(kept, { requester: '1', bytes: 1 }, at(undefined)), [kept[0]?.key])
  })
})

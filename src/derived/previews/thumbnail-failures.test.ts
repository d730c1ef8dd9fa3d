import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { FileId } from '../../base/objects/ids.ts'
import { ThumbnailFailures } from './thumbnail-failures.ts'

const id = (n: number) => n.toString(16).padStart(40, '0') as FileId

it('retries a transient failure after a delay, a limited number of times', () => {
  let now = 1000
  const failures = new ThumbnailFailures(() => now)
  failures.addTransient(id(1))
  assert.deepEqual(failures.find(id(1)), { retryAfterSeconds: 30 })
  now += 30
  assert.equal(failures.find(id(1)), undefined)
  failures.addTransient(id(1))
  assert.deepEqual(failures.find(id(1)), { retryAfterSeconds: 60 })
  now += 60
  failures.addTransient(id(1))
  assert.equal(failures.find(id(1)), 'permanent')
  assert.equal(failures.find(id(2)), undefined)
})

it('resets the attempts of an image that was decoded', () => {
  const failures = new ThumbnailFailures(() => 1000)
  for (let n = 0; n < 5; n += 1) {
    failures.addTransient(id(1))
    assert.deepEqual(failures.find(id(1)), { retryAfterSeconds: 30 })
    failures.remove(id(1))
  }
})

it('evicts all but the latest thousand', () => {
  const failures = new ThumbnailFailures(() => 1000)
  for (let n = 0; n < 1500; n += 1) failures.addPermanent(id(n))
  assert.equal(failures.find(id(499)), undefined)
  assert.equal(failures.find(id(500)), 'permanent')
  assert.equal(failures.find(id(1499)), 'permanent')
})

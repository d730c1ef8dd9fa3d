import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boxBetween, placesWithin, scrollStep } from '../../../web/src/files/rubber-band.ts'

describe('the rubber band', () => {
  const list = {
    headPixels: 38,
    rowPixels: 40,
    count: 100_000,
    columns: [{ left: 0, right: Number.POSITIVE_INFINITY }],
    gapPixels: 0,
  }

  it('takes the rows that it touches, in either direction', () => {
    assert.deepEqual(placesWithin(boxBetween(10, 40, 50, 50), list), [0])
    assert.deepEqual(placesWithin(boxBetween(50, 160, 10, 75), list), [0, 1, 2, 3])
    assert.deepEqual(placesWithin(boxBetween(0, 0, 50, 30), list), [], 'the head is no entry')
    const far = placesWithin(boxBetween(0, 38 + 40 * 99_998 + 1, 5, 1e9), list)
    assert.deepEqual(
      far,
      [99_998, 99_999],
      'rows that are not rendered count, and there are none after the last',
    )
  })

  it('takes the tiles that it touches, and nothing in the gaps', () => {
    const grid = {
      headPixels: 0,
      rowPixels: 200,
      count: 5,
      columns: [
        { left: 10, right: 100 },
        { left: 110, right: 200 },
      ],
      gapPixels: 10,
    }
    assert.deepEqual(placesWithin(boxBetween(0, 0, 300, 5), grid), [])
    assert.deepEqual(placesWithin(boxBetween(102, 0, 108, 900), grid), [])
    assert.deepEqual(placesWithin(boxBetween(0, 0, 50, 250), grid), [0, 2])
    assert.deepEqual(placesWithin(boxBetween(105, 150, 300, 900), grid), [1, 3])
    assert.deepEqual(placesWithin(boxBetween(0, 0, 300, 900), grid), [0, 1, 2, 3, 4])
  })

  it('scrolls at the edges, faster further out', () => {
    assert.equal(scrollStep(300, 100, 500), 0)
    assert.ok(scrollStep(90, 100, 500) < 0)
    assert.ok(scrollStep(10, 100, 500) < scrollStep(90, 100, 500))
    assert.ok(scrollStep(510, 100, 500) > 0)
    assert.equal(scrollStep(5000, 100, 500), 40)
  })
})

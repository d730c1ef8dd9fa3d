import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withCurrentValue } from '../../../web/src/admin/current-day.ts'

describe('the days of a statistic', () => {
  const now = Date.parse('2026-11-17T05:00:00Z')
  const today = '2026-11-17T00:00:00.000Z'
  const yesterday = { time: '2026-11-16T00:00:00+00:00', value: 7 }

  it('end with the current value, whether or not today was recorded', () => {
    const recorded = { time: '2026-11-17T00:00:00+00:00', value: 0 }
    const expected = [yesterday, { time: today, value: 11 }]
    assert.deepEqual(withCurrentValue([yesterday, recorded], 11, now), expected)
    assert.deepEqual(withCurrentValue([yesterday], 11, now), expected)
    assert.deepEqual(withCurrentValue([], 11, now), [{ time: today, value: 11 }])
  })
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { httpDate } from './http-date.ts'

it('formats an HTTP date as the platform does', () => {
  const fixed = [
    0, 1, 59, 60, 3599, 3600, 86_399, 86_400, 951_782_400, 1_700_000_000, 4_102_444_799, 253_402_300_800,
  ]
  // Steps of some 11 days that are a multiple of nothing, up to the year 2100.
  const spread = Array.from({ length: 5000 }, (_, n) => n * 987_653).filter((seconds) => seconds < 4e9)
  for (const seconds of [-1, -86_400, ...fixed, ...spread]) {
    assert.equal(httpDate(seconds), new Date(seconds * 1000).toUTCString())
  }
})

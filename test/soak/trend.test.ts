import assert from 'node:assert/strict'
import { it } from 'node:test'
import { seededRandom, testSeed } from '../support/random.ts'
import { type Point, trendOf } from './trend.ts'

const random = seededRandom(testSeed())
const series = (valueAt: (at: number) => number): Point[] =>
  Array.from({ length: 120 }, (_, index) => ({ at: index * 5, value: valueAt(index * 5) }))

const LIMIT = { growth: 10, share: 0.1 }

it('noise, outliers and a warm-up are flat', () => {
  const values = series((at) => 200 + random() * 30 + (random() < 0.05 ? 300 : 0) - Math.max(0, 100 - at))
  const trend = trendOf(values, LIMIT)
  assert.ok(trend.isFlat, JSON.stringify(trend))
})

it('a slow leak under the same noise is not', () => {
  const values = series((at) => 200 + at * 0.15 + random() * 30 + (random() < 0.05 ? 300 : 0))
  const trend = trendOf(values, LIMIT)
  assert.ok(!trend.isFlat, JSON.stringify(trend))
  assert.ok(trend.growth > 30 && trend.growth < 60, JSON.stringify(trend))
})

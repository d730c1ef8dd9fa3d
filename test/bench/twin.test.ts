import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Row } from '../../bench/row.ts'
import { compareRounds } from '../../bench/twin.ts'

it('a comparison has the speed of each row that both have, above 1 if it became faster or smaller', () => {
  const rows = (perSecond: number, ms: number, memory: number) => [
    { what: 'rate', value: perSecond, unit: 'per s' as const },
    { what: 'latency', value: ms, unit: 'ms' as const },
    { what: 'memory', value: memory, unit: 'MB' as const },
    { what: 'nginx', value: 1, unit: 'per s' as const, bare: true as const },
  ]
  const onlyBase = { what: 'renamed since', value: 1, unit: 'per s' as const }
  const found = compareRounds('ping', 'sqlite', [
    { base: [...rows(100, 2, 300), onlyBase], twin: rows(50, 4, 150) },
    { base: rows(100, 2, 300), twin: rows(200, 1, 300) },
    { base: rows(100, 2, 300), twin: rows(100, 2, 300) },
  ])
  assert.deepEqual(
    found.map(({ what, speed: { ratio, lowest, highest } }) => [what, ratio, lowest, highest]),
    [
      ['rate', 1, 0.5, 2],
      ['latency', 1, 0.5, 2],
      ['memory', 1, 1, 2],
    ],
  )
})

it('a comparison has the CPU time of a request, also of a commit that does not say how many there were', () => {
  const row = (perSecond: number, cpuSeconds: number) => ({
    what: 'rate',
    value: perSecond,
    unit: 'per s' as const,
    usage: { cpuSeconds, peakBytes: 1 },
  })
  const cpuOf = (base: Row, twin: Row) =>
    compareRounds('ping', 'sqlite', [{ base: [base], twin: [twin] }])[0]?.cpu
  const counted = { requests: 1000, isTimed: false }
  const timed = { requests: 1000, isTimed: true }
  // As many requests, in half the time and with half the CPU time.
  assert.equal(cpuOf(row(100, 2), { ...row(200, 1), load: counted })?.ratio, 2)
  // Twice the requests in the same time, with the same CPU time.
  assert.equal(cpuOf(row(100, 1), { ...row(200, 1), load: timed })?.ratio, 2)
  const known = { ...row(100, 1), load: { requests: 250, isTimed: true } }
  assert.equal(cpuOf(known, { ...row(200, 1), load: timed })?.ratio, 4)
  assert.equal(cpuOf(row(100, 1), row(200, 1)), undefined)
})

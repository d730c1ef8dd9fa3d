import assert from 'node:assert/strict'
import { it } from 'node:test'
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
    found.map(({ what, ratio, lowest, highest }) => [what, ratio, lowest, highest]),
    [
      ['rate', 1, 0.5, 2],
      ['latency', 1, 0.5, 2],
      ['memory', 1, 1, 2],
    ],
  )
})

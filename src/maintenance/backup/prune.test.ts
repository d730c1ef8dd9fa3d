import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newSnapshotId } from './manifest.ts'
import { type Retention, selectKept } from './prune.ts'

const NONE: Retention = { last: 0, daily: 0, weekly: 0, monthly: 0 }
const idOf = (time: string) => `${time}-00000000`

describe('the retention of snapshots', () => {
  // One at noon and one at night of each of 100 days from 1 March 2026.
  const ids = Array.from({ length: 100 }, (_, day) => new Date(Date.UTC(2026, 2, 1 + day)))
    .map((date) => date.toISOString().slice(0, 10).replaceAll('-', ''))
    .flatMap((day) => [idOf(`${day}T120000Z`), idOf(`${day}T230000Z`)])
  const kept = (retention: Partial<Retention>) => [...selectKept(ids, { ...NONE, ...retention })].sort()

  it('knows the newer one of two in the same second', () => {
    const ids = Array.from({ length: 1000 }, (_, ms) =>
      newSnapshotId(new Date(Date.UTC(2026, 2, 1) + ms), '0123456789abcdef'),
    )
    assert.deepEqual(ids.toSorted(), ids)
    assert.deepEqual([...selectKept(ids.toReversed(), NONE)], [ids.at(-1)])
  })

  it('always keeps the newest', () => {
    assert.deepEqual(kept({}), [ids.at(-1)])
    assert.deepEqual([...selectKept([], { ...NONE, last: 3 })], [])
  })

  it('keeps the newest of each day, week and month', () => {
    assert.deepEqual(kept({ last: 3 }), ids.slice(-3))
    assert.deepEqual(kept({ daily: 2 }), [idOf('20260607T230000Z'), idOf('20260608T230000Z')])
    // 8 June 2026 is a Monday.
    assert.deepEqual(kept({ weekly: 3 }), [
      idOf('20260531T230000Z'),
      idOf('20260607T230000Z'),
      idOf('20260608T230000Z'),
    ])
    assert.deepEqual(kept({ monthly: 2 }), [idOf('20260531T230000Z'), idOf('20260608T230000Z')])
  })
})

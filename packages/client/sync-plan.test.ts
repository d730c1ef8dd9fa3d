import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Action, conflictName, isSuspicious, planSync } from './sync-plan.ts'

const file = (stamp: string | undefined) => new Map(stamp === undefined ? [] : [['f', { size: 1, stamp }]])
const known = (isKnown: boolean) => new Map(isKnown ? [['f', { size: 1, local: 'old', remote: 'old' }]] : [])

describe('the plan of a sync', () => {
  const cases: [
    here: string | undefined,
    there: string | undefined,
    isKnown: boolean,
    kind: Action['kind'] | undefined,
  ][] = [
    ['old', 'old', true, undefined],
    ['new', 'old', true, 'upload'],
    ['old', 'new', true, 'download'],
    ['new', 'new', true, 'compare'],
    ['x', 'y', false, 'compare'],
    ['x', undefined, false, 'upload'],
    [undefined, 'x', false, 'download'],
    ['old', undefined, true, 'delete-local'],
    [undefined, 'old', true, 'delete-remote'],
    // A change wins over a deletion.
    ['new', undefined, true, 'upload'],
    [undefined, 'new', true, 'download'],
    [undefined, undefined, true, 'forget'],
  ]
  for (const [here, there, isKnown, kind] of cases) {
    it(`is ${kind ?? 'nothing'} for ${here} here, ${there} there, ${isKnown ? 'known' : 'unknown'}`, () => {
      const expected = kind === undefined ? [] : [{ kind, path: 'f' }]
      assert.deepEqual(planSync(file(here), file(there), known(isKnown)), expected)
    })
  }

  it('is suspicious if most files would be deleted on one side', () => {
    const deletions = (count: number) =>
      Array.from({ length: count }, (_, at): Action => ({ kind: 'delete-remote', path: `${at}` }))
    assert.equal(isSuspicious(deletions(10), 10), false)
    assert.equal(isSuspicious(deletions(11), 20), true)
    assert.equal(isSuspicious(deletions(11), 22), false)
  })

  it('names conflict files after the host and the time', () => {
    const time = new Date('2026-11-17T09:30:05Z')
    assert.equal(
      conflictName('a.b.txt', 'my/host', time),
      'a.b (conflict from my_host 2026-11-17 09.30.05).txt',
    )
    assert.equal(conflictName('.hidden', 'h', time), '.hidden (conflict from h 2026-11-17 09.30.05)')
  })
})

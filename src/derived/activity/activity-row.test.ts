import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { NumberedCommit } from '../../libraries/commits/commit-store.ts'
import { activitiesOf } from './activity-row.ts'

it('the author of an activity is no longer than an e-mail address', () => {
  const commit = { seq: 1, id: '0'.repeat(40), creatorName: '写'.repeat(2000), ctime: 1 }
  const [activity] = activitiesOf(commit as NumberedCommit, [], { oldName: 'before' })
  assert.equal(activity?.author, '写'.repeat(255))
})

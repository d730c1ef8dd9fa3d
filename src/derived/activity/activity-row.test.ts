import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type FileId, fileDirent, sha1Hex } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { NumberedCommit } from '../../libraries/commits/commit-store.ts'
import type { Change } from '../../libraries/tree/index.ts'
import { activitiesOf } from './activity-row.ts'

it('the author of an activity is no longer than an e-mail address', () => {
  const commit = { seq: 1, id: '0'.repeat(40), creatorName: '写'.repeat(2000), ctime: 1 }
  const [activity] = activitiesOf(commit as NumberedCommit, [], { oldName: 'before' })
  assert.equal(activity?.author, '写'.repeat(255))
})

it('counts the changes of a large commit that have no activity of their own, by kind', () => {
  const commit = { seq: 2, id: '0'.repeat(40), creatorName: 'a@example.org', ctime: 1, description: '' }
  const entry = (name: string) =>
    fileDirent({ id: sha1Hex(Buffer.from(name)) as FileId, name, mtime: 1, size: 1, modifier: '' })
  const change = (op: 'added' | 'deleted', n: number): Change => {
    return { op, path: `/${n}` as LibraryPath, entry: entry(String(n)) }
  }
  const numbers = Array.from({ length: 1000 }, (_, n) => n)
  const changes = numbers.map((n) => change(n < 700 ? 'added' : 'deleted', n))
  const found = activitiesOf(commit as NumberedCommit, changes, undefined)
  assert.equal(found.length, 101)
  assert.deepEqual(
    found.flatMap(({ op, unlisted }) => (unlisted === undefined ? [] : [[op, unlisted]])),
    [
      ['create', 600],
      ['delete', 299],
    ],
  )
})

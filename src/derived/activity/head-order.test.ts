import assert from 'node:assert/strict'
import { it } from 'node:test'
import { HeadOrder } from './head-order.ts'
import type { CommitLiveEvent } from './hub.ts'

const commit = (seq: number, rootBefore?: string, libraryKey = 1) =>
  ({
    kind: 'commit',
    libraryKey,
    libraryId: 'library',
    commitId: `commit ${seq}`,
    root: `root ${seq}`,
    seq,
    author: 'ann@example.org',
    at: seq,
    ...(rootBefore && { rootBefore }),
  }) as unknown as CommitLiveEvent

it('passes heads on in the order in which they are logged', () => {
  const heads = new HeadOrder()
  for (const event of [commit(1), commit(2, 'root 1'), commit(2, 'root 1'), commit(1, 'root 0', 2)]) {
    assert.equal(heads.next(event), event)
  }
  assert.deepEqual([heads.seqOf(1), heads.seqOf(2), heads.seqOf(3)], [2, 1, undefined])
})

it('replaces a head that was logged late by the newer one', () => {
  const heads = new HeadOrder()
  heads.next(commit(6, 'root 5'))
  assert.deepEqual(heads.next(commit(5, 'root 4')), commit(6, 'root 4'))
  assert.deepEqual(heads.next(commit(4)), commit(6))
  assert.equal(heads.seqOf(1), 6)
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type CommitId, EMPTY_ID, type LibraryId } from '../../base/objects/ids.ts'
import type { Reader } from '../../platform/database/database.ts'
import type { NumberedCommit } from './commit-store.ts'
import { RecentCommits } from './recent-commits.ts'

const library = (key: number) => ({ key, id: `library ${key}` as LibraryId })

function commit(seq: number): NumberedCommit {
  return {
    id: seq.toString(16).padStart(40, '0') as CommitId,
    seq,
    libraryId: '' as LibraryId,
    rootId: EMPTY_ID,
    parentId: null,
    secondParentId: null,
    creator: EMPTY_ID,
    creatorName: undefined,
    description: '',
    ctime: 0,
    deviceName: undefined,
    clientVersion: undefined,
    conflict: false,
    newMerge: false,
  }
}

const commits = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => commit(from + index))

/** Returns no commits and counts the reads. */
function emptyReader() {
  const reader = { asked: 0, all: async () => [], get: async () => undefined }
  reader.all = async () => {
    reader.asked += 1
    return []
  }
  return reader
}

it('returns consecutive cached commits without a query', async () => {
  const reader = emptyReader()
  const recent = new RecentCommits(reader as Reader)
  recent.add(1, commits(4, 5))
  recent.add(2, commits(1, 3))
  recent.add(1, commits(6, 9))
  assert.deepEqual(await recent.between(library(1), 5, 8), commits(5, 8))
  assert.deepEqual(await recent.between(library(1), 4, 9), commits(4, 9))
  assert.deepEqual(await recent.between(library(2), 3, 3), commits(3, 3))
  assert.equal(reader.asked, 0)
})

it('queries the commits when one of them is not cached', async () => {
  const reader = emptyReader()
  const recent = new RecentCommits(reader as Reader)
  recent.add(1, commits(4, 5))
  // Another process created commit 6.
  recent.add(1, commits(7, 8))
  for (const [from, to] of [
    [4, 5],
    [5, 8],
    [8, 9],
  ] as const) {
    assert.deepEqual(await recent.between(library(1), from, to), [])
  }
  assert.deepEqual(await recent.between(library(3), 1, 1), [])
  assert.equal(reader.asked, 4)
  assert.deepEqual(await recent.between(library(1), 7, 8), commits(7, 8))
})

it('is bounded and keeps the newest commits', async () => {
  const reader = emptyReader()
  const recent = new RecentCommits(reader as Reader)
  recent.add(1, commits(1, 4000))
  recent.add(2, commits(1, 10))
  recent.add(1, commits(4001, 9000))
  assert.deepEqual(await recent.between(library(1), 8000, 9000), commits(8000, 9000))
  assert.equal(reader.asked, 0)
  await recent.between(library(1), 1, 10)
  await recent.between(library(2), 1, 10)
  assert.equal(reader.asked, 2)
})

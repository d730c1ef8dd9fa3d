import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeCommit, lacksTarget, targetSentence } from '../../../web/src/history/commit-descriptions.ts'

describe('the sentence of a commit', () => {
  it('names what was changed', () => {
    assert.deepEqual(describeCommit('Added "a.txt".'), [{ sentence: 'added', name: 'a.txt' }])
    assert.deepEqual(describeCommit('Added "a.txt" and 2 more files.'), [
      { sentence: 'added', name: 'a.txt', more: 2 },
    ])
    assert.deepEqual(describeCommit('Removed directory "b "c""'), [
      { sentence: 'deletedFolder', name: 'b "c"' },
    ])
    assert.deepEqual(describeCommit('Created library'), [{ sentence: 'createdLibrary' }])
    assert.deepEqual(describeCommit('Added "a"\nDeleted "b"'), [
      { sentence: 'added', name: 'a' },
      { sentence: 'deleted', name: 'b' },
    ])
  })

  it('keeps a description of another client, and needs none', () => {
    assert.deepEqual(describeCommit('Anything else'), [{ sentence: 'other', name: 'Anything else' }])
    assert.deepEqual(describeCommit(' \n'), [{ sentence: 'changedLibrary' }])
  })

  it('says where to if one entry was renamed or moved', () => {
    assert.equal(lacksTarget(describeCommit('Renamed "a.txt"')), true)
    assert.equal(lacksTarget(describeCommit('Moved directory "a"')), true)
    assert.equal(lacksTarget(describeCommit('Moved "a" and 2 more files')), false)
    assert.equal(lacksTarget(describeCommit('Added "a"')), false)
    assert.equal(targetSentence('renamed'), 'renamedTo')
    assert.equal(targetSentence('added'), 'added')
  })
})

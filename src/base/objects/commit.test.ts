import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check, names } from '../../../test/support/dirents.arbitrary.ts'
import { type Commit, type CommitLibrary, encodeCommit, newCommitId, parseCommit } from './commit.ts'
import { type CommitId, EMPTY_ID, emptyDirId, type LibraryId } from './ids.ts'
import { InvalidObject } from './json-fields.ts'

const commit: Commit = {
  id: '3e618f74824869fb35df02bc68b39fff5637ea37' as CommitId,
  libraryId: '7ff147b8-0784-448d-92d1-cf3b5a43ec65' as LibraryId,
  rootId: emptyDirId,
  parentId: null,
  secondParentId: null,
  creator: EMPTY_ID,
  creatorName: 'a@b',
  description: '',
  ctime: 1,
  deviceName: undefined,
  clientVersion: undefined,
  conflict: false,
  newMerge: false,
}
const library: CommitLibrary = { name: 'Notes', description: '' }
const hex = (length: number) => 'a5'.repeat(length / 2)
const json = () => JSON.parse(encodeCommit(commit, library)) as Record<string, unknown>

describe('a commit', () => {
  it('round-trips with any content', (t) => {
    const text = fc.option(names, { nil: undefined })
    const fields = fc.record({
      creatorName: fc.option(fc.constantFrom('a@b', 'é@x.y'), { nil: undefined }),
      description: fc.oneof(names, fc.constant('Added "a".\nRemoved "b".\n')),
      ctime: fc.maxSafeInteger(),
      parentId: fc.constantFrom(null, commit.id),
      secondParentId: fc.constantFrom(null, commit.id),
      deviceName: text,
      clientVersion: text,
      conflict: fc.boolean(),
      newMerge: fc.boolean(),
    })
    const encryption = fc.constantFrom(
      undefined,
      { version: 1, magic: hex(32), key: '', salt: '' },
      { version: 2, magic: hex(64), key: hex(96), salt: '' },
      { version: 3, magic: hex(64), key: hex(96), salt: hex(64) },
      {
        version: 4,
        magic: '',
        key: hex(96),
        salt: hex(64),
        pwdHash: hex(64),
        pwdHashAlgo: 'argon2id',
        pwdHashParams: '2,4',
      },
    )
    const property = fc.property(fields, names, encryption, (some, name, encryption) => {
      const whole = {
        commit: { ...commit, ...some },
        library: { name, description: name, ...(encryption && { encryption }) },
      }
      assert.deepEqual(parseCommit(encodeCommit(whole.commit, whole.library)), whole)
    })
    check(t, property)
  })

  it('encodes the fields of encryption and merges with the types that clients expect', () => {
    const encryption = { version: 2, magic: hex(64), key: hex(96), salt: '' }
    const text = encodeCommit({ ...commit, conflict: true, newMerge: true }, { ...library, encryption })
    const fields = `"encrypted": "true", "enc_version": 2, "magic": "${hex(64)}", "key": "${hex(96)}"`
    const end = '"no_local_history": 1, "version": 1, "conflict": 1, "new_merge": 1}'
    assert.ok(text.endsWith(`"repo_category": null, ${fields}, ${end}`), text)
  })

  it('reads missing texts as empty and lower-cases the account', () => {
    const { description, repo_name, repo_desc, ...rest } = json()
    assert.deepEqual([description, repo_name, repo_desc], ['', 'Notes', ''])
    const read = parseCommit(JSON.stringify({ ...rest, creator_name: 'Ana.É@X.Y' }))
    assert.equal(read.commit.description, '')
    assert.deepEqual(read.library, { name: '', description: '' })
    assert.equal(read.commit.creatorName, 'ana.É@x.y')
  })

  const encrypted = { encrypted: 'true', enc_version: 2, magic: hex(64), key: hex(96) }
  const bad: Record<string, unknown>[] = [
    { repo_id: 'x' },
    { repo_id: undefined },
    { commit_id: hex(38) },
    { root_id: hex(40).toUpperCase() },
    { parent_id: '' },
    { second_parent_id: 1 },
    { creator: 'me' },
    { ctime: '1' },
    { ctime: undefined },
    { version: undefined },
    { version: 0 },
    { description: 'a\0b' },
    { repo_name: '\ud800' },
    { ...encrypted, enc_version: 5 },
    { ...encrypted, enc_version: undefined },
    { ...encrypted, magic: hex(32) },
    { ...encrypted, key: undefined },
    { ...encrypted, key: 'z'.repeat(96) },
    { ...encrypted, enc_version: 1 },
    { ...encrypted, enc_version: 3 },
  ]
  for (const change of bad) {
    it(`is rejected with ${JSON.stringify(change)} (${Object.keys(change).join(', ')})`, () => {
      assert.throws(() => parseCommit(JSON.stringify({ ...json(), ...change })), InvalidObject)
    })
  }

  it('gets a unique id even if it is created twice in one second', () => {
    const one = newCommitId(commit, Buffer.alloc(16, 1))
    assert.equal(one, newCommitId(commit, Buffer.alloc(16, 1)))
    assert.notEqual(one, newCommitId(commit, Buffer.alloc(16, 2)))
    assert.notEqual(one, newCommitId({ ...commit, parentId: commit.id }, Buffer.alloc(16, 1)))
    assert.match(one, /^[0-9a-f]{40}$/)
  })
})

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { inflateSync } from 'node:zlib'
import { classicCommitId, encodeCommit, parseCommit } from './commit.ts'
import { Dir, parseDir } from './dir.ts'
import { dirDirent, fileDirent } from './dirent.ts'
import { encodeFile, fileId, parseFile } from './file.ts'
import {
  type BlockId,
  type CommitId,
  type DirId,
  EMPTY_ID,
  emptyDirId,
  type FileId,
  type LibraryId,
  sha1Hex,
} from './ids.ts'

const fixtures = new URL('../../../test/fixtures/objects/', import.meta.url)
const fixture = (path: string) => readFileSync(new URL(path, fixtures))

const hello = 'a2223a08dae418d78cd1070b674325969cfbef75' as FileId
const d1 = '6c358c04c335c5794c75a2df4bddbbc5735634ea' as DirId
const d2 = '4389f51c4e61d2c28dd566745c667dc469dc7ed6' as DirId
const d3 = '321f9a75269c25a07f200af3ab2044f421e7ecd5' as DirId
const modifier = 'alice@example.com'

describe('objects as existing clients write them', () => {
  it('computes the SHA-1 of a block as its id', () => {
    assert.equal(sha1Hex(Buffer.from('hello world\n')), '22596363b3de40b06f981fb85d82312e8c0ed511')
  })

  it('encodes files of one and of two blocks', () => {
    const f1 = { blockIds: ['22596363b3de40b06f981fb85d82312e8c0ed511' as BlockId], size: 12 }
    assert.equal(fileId(f1), hello)
    assert.deepEqual(encodeFile(f1), fixture(`fs/${hello}`))
    const ids = [
      '3bbca204230e902c0ff1ccfbf5b52c4dff2ad15d',
      'bb8667dd6fcf852464a1fe42b91f9143b181b2b8',
    ] as BlockId[]
    const f2 = { blockIds: ids, size: 12_864_172 }
    assert.equal(fileId(f2), '42c43235fe646c623a19b76180ca88fd6f3d4b82')
    assert.deepEqual(encodeFile(f2), fixture('fs/42c43235fe646c623a19b76180ca88fd6f3d4b82'))
  })

  it('parses the compressed form of a file', () => {
    const zlib =
      '789cab564acac94fce8ecf4c2956b2528856323232b5343336334e324e4935314832304bb3b4304c4bb2304db130' +
      '3236344ab54836484d313534548ad551502aceac4a05ea323402b24b2a0bc06c20b32cb5a838333f0fc4ab05001b5c1aa2'
    assert.equal(fileId(parseFile(inflateSync(Buffer.from(zlib, 'hex')))), hello)
  })

  it('encodes a dir of a file and an empty folder', () => {
    const dir = Dir.of([
      fileDirent({ id: hello, name: 'hello.txt', mtime: 1_700_000_000, size: 12, modifier }),
      dirDirent({ id: emptyDirId, name: 'sub', mtime: 1_700_000_001 }),
    ])
    assert.deepEqual(dir.encoded(), fixture(`fs/${d1}`))
    assert.equal(dir.id, d1)
  })

  it('orders names by their UTF-8 bytes and escapes like jansson', () => {
    const file = { id: hello, mtime: 1_700_000_006, size: 12, modifier: 'a@b' }
    const dir = Dir.of([
      dirDirent({ id: d1, name: '10', mtime: 1_700_000_004 }),
      dirDirent({ id: d1, name: '9', mtime: 1_700_000_005 }),
      fileDirent({ id: hello, name: 'Zebra', mtime: 1_700_000_000, size: 12, modifier }),
      fileDirent({
        id: hello,
        name: 'a "q" \\ <&>.sh',
        mtime: 1_700_000_003,
        size: 12,
        modifier,
        mode: 33261,
      }),
      fileDirent({ id: EMPTY_ID, name: 'zéro.txt', mtime: 1_700_000_002, size: 0, modifier }),
      fileDirent({ ...file, name: '！' }),
      fileDirent({ ...file, name: '😀' }),
    ])
    assert.deepEqual(
      dir.entries.map((entry) => entry.name),
      ['😀', '！', 'zéro.txt', 'a "q" \\ <&>.sh', 'Zebra', '9', '10'],
    )
    assert.deepEqual(dir.encoded(), fixture(`fs/${d2}`))
    assert.equal(dir.id, d2)
  })

  it('writes control characters with upper-case hex', () => {
    const name = 'ctl\u0001\u001f\ttab'
    const dir = Dir.of([fileDirent({ id: EMPTY_ID, name, mtime: 1_700_000_002, size: 0, modifier: 'a@b' })])
    assert.deepEqual(dir.encoded(), fixture(`fs/${d3}`))
    assert.equal(dir.id, d3)
  })

  it('round-trips every stored dir to its id and bytes', () => {
    for (const id of [d1, d2, d3]) {
      const dir = parseDir(fixture(`fs/${id}`))
      assert.equal(dir.id, id)
      assert.equal(dir.canonical, true)
      assert.equal(Dir.of(dir.entries).id, id)
    }
  })

  it('computes the same commit ids as clients', () => {
    const creator = EMPTY_ID
    const c0 = {
      rootId: emptyDirId,
      creator,
      creatorName: modifier,
      description: 'Created library',
      ctime: 1_700_000_000,
    }
    assert.equal(classicCommitId(c0), '82ac5892f20f9356cf4eece94ea9b5c1a301c9f4')
    const c1 = {
      rootId: d1,
      creator,
      creatorName: modifier,
      description: 'Added "hello.txt".',
      ctime: 1_700_000_060,
    }
    assert.equal(classicCommitId(c1), '3e618f74824869fb35df02bc68b39fff5637ea37')
    const anonymous = { rootId: emptyDirId, creator, creatorName: undefined, description: 'x', ctime: 1 }
    assert.equal(classicCommitId(anonymous), '431bc18a83baf1bf49a3dddf26bbee204ba362b8')
  })

  it('writes a commit byte for byte', () => {
    const commit = {
      id: '3e618f74824869fb35df02bc68b39fff5637ea37' as CommitId,
      libraryId: '7ff147b8-0784-448d-92d1-cf3b5a43ec65' as LibraryId,
      rootId: d1,
      parentId: '82ac5892f20f9356cf4eece94ea9b5c1a301c9f4' as CommitId,
      secondParentId: null,
      creator: EMPTY_ID,
      creatorName: modifier,
      description: 'Added "hello.txt".',
      ctime: 1_700_000_060,
      deviceName: undefined,
      clientVersion: undefined,
      conflict: false,
      newMerge: false,
    }
    const text = encodeCommit(commit, { name: 'lib one', description: '' })
    assert.equal(text, fixture(`commits/${commit.id}`).toString())
  })

  it('parses stored commits, computes their ids, and encodes the same text', () => {
    for (const id of readdirSync(new URL('commits', fixtures))) {
      const text = fixture(`commits/${id}`).toString()
      const { commit, library } = parseCommit(text)
      assert.equal(classicCommitId(commit), id)
      assert.equal(encodeCommit(commit, library), text)
    }
  })
})

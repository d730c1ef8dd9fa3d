import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check, fileIds, names } from '../../../test/support/dirents.arbitrary.ts'
import { packDir, unpackDir } from '../packing/packed.ts'
import { Dir, parseDir } from './dir.ts'
import { dirDirent, fileDirent } from './dirent.ts'
import { type DirId, emptyDirId, type FileId } from './ids.ts'

/** A folder as a plain value: file ids, and folders within. */
interface Folder {
  [name: string]: FileId | Folder
}

const { folder } = fc.letrec<{ folder: Folder }>((tie) => ({
  folder: fc.dictionary(
    names,
    fc.oneof({ depthSize: 'small', withCrossShrink: true }, fileIds, tie('folder')),
    {
      maxKeys: 6,
      noNullPrototype: true,
    },
  ),
}))

/** Puts all dirs of the tree into the store, bottom up, and returns the id of the root. */
function store(tree: Folder, to: Map<DirId, Buffer>, keep: (dir: Dir) => Buffer): DirId {
  const entries = Object.entries(tree).map(([name, value]) =>
    typeof value === 'string'
      ? fileDirent({ id: value, name, mtime: 1, size: 1, modifier: 'a@b' })
      : dirDirent({ id: store(value, to, keep), name, mtime: 1 }),
  )
  const dir = Dir.of(entries)
  if (dir.id !== emptyDirId) to.set(dir.id, keep(dir))
  return dir.id
}

function load(id: DirId, from: Map<DirId, Buffer>, read: (bytes: Buffer, id: DirId) => Dir): Folder {
  const bytes = from.get(id)
  const dir = bytes ? read(bytes, id) : Dir.empty
  assert.equal(dir.id, id)
  return Object.fromEntries(
    dir.entries.map((entry) => [entry.name, entry.kind === 'file' ? entry.id : load(entry.id, from, read)]),
  )
}

describe('a tree', () => {
  it('round-trips by its root id, packed or as JSON, with the same id', (t) => {
    const property = fc.property(folder, (tree) => {
      const packed = new Map<DirId, Buffer>()
      const encoded = new Map<DirId, Buffer>()
      const root = store(tree, packed, packDir)
      assert.equal(
        store(tree, encoded, (dir) => dir.encoded()),
        root,
      )
      assert.deepEqual(load(root, packed, unpackDir), tree)
      assert.deepEqual(load(root, encoded, parseDir), tree)
    })
    check(t, property)
  })

  it('has another root id if a nested file differs', (t) => {
    const property = fc.property(
      fc.array(names, { minLength: 1, maxLength: 6 }),
      fileIds,
      fileIds,
      (path, a, b) => {
        fc.pre(a !== b)
        const withFile = (id: FileId) =>
          path.reduceRight<Folder>((inner, name) => ({ [name]: inner }), { file: id })
        const rootOf = (tree: Folder) => store(tree, new Map(), packDir)
        assert.notEqual(rootOf(withFile(a)), rootOf(withFile(b)))
        assert.equal(rootOf(withFile(a)), rootOf(withFile(a)))
      },
    )
    check(t, property)
  })
})

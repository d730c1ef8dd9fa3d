import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { blockIds, changesTo, check, entryLists } from '../../../test/support/dirents.arbitrary.ts'
import { Dir, parseDir } from '../objects/dir.ts'
import { fileDirent } from '../objects/dirent.ts'
import { type BlockId, type DirId, type FileId, sha1Hex } from '../objects/ids.ts'
import { InvalidObject } from '../objects/json-fields.ts'
import {
  entriesInDir,
  packChanges,
  packDir,
  packFile,
  unpackChanges,
  unpackDir,
  unpackFile,
} from './packed.ts'

const largeDir = () =>
  Dir.of(
    Array.from({ length: 2000 }, (_, i) =>
      fileDirent({
        id: sha1Hex(Buffer.from(`${i}`)) as FileId,
        name: `${i}.txt`,
        mtime: 1_700_000_000 + i,
        size: i * 999,
        modifier: i % 3 ? 'a@b' : 'c@d',
      }),
    ),
  )

/** Unpacking any bytes must return a value or throw InvalidObject. */
function survives(unpack: () => unknown): void {
  try {
    unpack()
  } catch (error) {
    if (!(error instanceof InvalidObject)) throw error
  }
}

describe('a packed dir', () => {
  it('round-trips', (t) => {
    const property = fc.property(entryLists(), (entries) => {
      const dir = Dir.of(entries)
      const back = unpackDir(packDir(dir), dir.id)
      assert.deepEqual(back.entries, dir.entries)
      assert.equal(back.id, dir.id)
      assert.equal(Dir.of(back.entries).id, dir.id)
    })
    check(t, property)
  })

  it('can be read in batches of entries', (t) => {
    const property = fc.property(entryLists(), (entries) => {
      const dir = Dir.of(entries)
      assert.deepEqual([...entriesInDir(packDir(dir))].flat(), dir.entries)
    })
    check(t, property)
    const groups = [...entriesInDir(packDir(largeDir()))]
    assert.ok(groups.every((group) => group.length <= 1024))
    const sent = parseDir(Buffer.from(JSON.stringify(JSON.parse(largeDir().encoded().toString()))))
    assert.deepEqual([...entriesInDir(packDir(sent))].flat(), sent.entries)
  })

  it('takes about thirty bytes and the name for each entry', () => {
    const dir = largeDir()
    assert.ok(packDir(dir).length < 38 * dir.size)
  })

  it('preserves the bytes of a JSON form that is not canonical', () => {
    const sent = Buffer.from(JSON.stringify(JSON.parse(largeDir().encoded().toString())))
    const dir = parseDir(sent)
    const back = unpackDir(packDir(dir), dir.id)
    assert.deepEqual(back.encoded(), sent)
    assert.equal(back.id, dir.id)
  })

  it('is rejected if it is truncated or has trailing bytes', (t) => {
    const property = fc.property(entryLists(20), (entries) => {
      const dir = Dir.of(entries)
      const packed = packDir(dir)
      for (let end = 0; end < packed.length; end++) {
        assert.throws(() => unpackDir(packed.subarray(0, end), dir.id), InvalidObject)
      }
      assert.throws(() => unpackDir(Buffer.concat([packed, Buffer.alloc(1)]), dir.id), InvalidObject)
    })
    check(t, property, 30)
  })

  it('is rejected if its entries are out of order or duplicated', () => {
    const entry = fileDirent({ id: '0'.repeat(40) as FileId, name: 'a', mtime: 0, size: 0, modifier: '' })
    const id = '1'.repeat(40) as DirId
    const wrong = [
      [entry, { ...entry, name: 'b' }],
      [entry, entry],
      [
        { ...entry, name: '\uffff' },
        { ...entry, name: '😀' },
      ],
    ]
    for (const entries of wrong) {
      assert.throws(() => unpackDir(packDir(Dir.fromSorted(entries, id)), id), /order/)
    }
  })
})

describe('packed changes', () => {
  it('round-trip', (t) => {
    const changes = entryLists(10).chain(changesTo)
    const property = fc.property(changes, (value) => {
      assert.deepEqual(unpackChanges(packChanges(value)), value)
    })
    check(t, property)
  })

  it('turn one version of a dir into the next', (t) => {
    const pairs = entryLists(30).chain((entries) => fc.tuple(fc.constant(entries), changesTo(entries)))
    const property = fc.property(pairs, ([entries, changes]) => {
      const dir = Dir.of(entries)
      const base = unpackDir(packDir(dir), dir.id)
      assert.equal(base.with(unpackChanges(packChanges(changes))).id, dir.with(changes).id)
    })
    check(t, property)
  })

  it('are small: one file costs its entry and a few bytes', () => {
    const [entry] = largeDir().entries
    assert.ok(entry && packChanges(new Map([[entry.name, entry]])).length < 60)
  })
})

describe('a packed file', () => {
  it('round-trips', (t) => {
    const files = fc.record({ blockIds: fc.array(blockIds), size: fc.maxSafeNat() })
    check(
      t,
      fc.property(files, (file) => assert.deepEqual(unpackFile(packFile(file)), { ...file })),
    )
  })

  it('is rejected if it is truncated', () => {
    const packed = packFile({ blockIds: ['ab'.repeat(20) as BlockId], size: 2 ** 53 - 1 })
    for (let end = 0; end < packed.length; end++)
      assert.throws(() => unpackFile(packed.subarray(0, end)), InvalidObject)
  })
})

describe('bytes that are not a packed object', () => {
  it('are rejected with a reason and never read past their end', (t) => {
    const start = fc.constantFrom(packDir(largeDir()).subarray(0, 400), packChanges(new Map([['a', null]])))
    const garbage = fc
      .uint8Array({ maxLength: 200 })
      .chain((bytes) =>
        fc
          .tuple(fc.constant(bytes), fc.nat(400), start)
          .map(([tail, keep, head]) => Buffer.concat([head.subarray(0, keep), tail])),
      )
    const id = '1'.repeat(40) as DirId
    const property = fc.property(garbage, fc.integer({ min: 0, max: 5 }), (bytes, format) => {
      if (bytes.length > 0) bytes[0] = format
      survives(() => unpackDir(bytes, id))
      survives(() => [...entriesInDir(bytes)])
      survives(() => unpackChanges(bytes))
      survives(() => unpackFile(bytes))
    })
    check(t, property, 2000)
  })

  it('unpack to a value or are rejected when a single byte of a valid object changes', (t) => {
    const packed = packDir(Dir.of(largeDir().entries.slice(0, 20)))
    const property = fc.property(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const bytes = Buffer.from(packed)
      bytes[at] = (bytes[at] as number) ^ flip
      survives(() => unpackDir(bytes, '1'.repeat(40) as DirId))
    })
    check(t, property, 2000)
  })
})

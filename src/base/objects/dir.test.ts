import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { changesTo, check, entryLists } from '../../../test/support/dirents.arbitrary.ts'
import { Dir, parseDir } from './dir.ts'
import { type Dirent, dirDirent, fileDirent } from './dirent.ts'
import { EMPTY_ID, emptyDirId, emptyFileId, sha1Hex } from './ids.ts'
import { InvalidObject } from './json-fields.ts'

const file = (name: string, mtime = 1) =>
  fileDirent({ id: emptyFileId, name, mtime, size: 0, modifier: 'a@b' })
const folder = (name: string, id = emptyDirId) => dirDirent({ id, name, mtime: 1 })
const namesOf = (dir: Dir) => dir.entries.map((entry) => entry.name)

/** The output of jansson for the entries, built with JSON.stringify and a sort by bytes. */
function expectedJson(entries: readonly Dirent[]): string {
  const sorted = [...entries].sort((a, b) => Buffer.compare(Buffer.from(b.name), Buffer.from(a.name)))
  const string = (text: string) =>
    JSON.stringify(text).replace(/\\u00[01][0-9a-f]/g, (code) => `\\u${code.slice(2).toUpperCase()}`)
  const list = sorted.map(({ kind, id, name, mode, mtime, size, modifier }) =>
    kind === 'file'
      ? `{"id": "${id}", "mode": ${mode}, "modifier": ${string(modifier)}, "mtime": ${mtime}, "name": ${string(name)}, "size": ${size}}`
      : `{"id": "${id}", "mode": ${mode}, "mtime": ${mtime}, "name": ${string(name)}}`,
  )
  return `{"dirents": [${list.join(', ')}], "type": 3, "version": 1}`
}

describe('a dir', () => {
  it('computes its id in slices of some thousand entries', () => {
    const before = Dir.of(Array.from({ length: 20_000 }, (_, n) => file(`file ${n}`)))
    // The first name in order, so that no hash state of the version before can be reused.
    const after = before.with(new Map([['~', file('~')]]))
    for (const dir of [before, after]) {
      const slices = dir.identify()
      let count = 0
      let step = slices.next()
      for (; !step.done; step = slices.next()) count += 1
      assert.ok(count >= 10, `${count} slices`)
      assert.equal(step.value, sha1Hex(dir.encoded()))
      assert.equal(dir.id, step.value)
    }
  })

  it('has the empty id when it has no entries', () => {
    assert.equal(Dir.of([]), Dir.empty)
    assert.equal(Dir.empty.id, EMPTY_ID)
    assert.equal(Dir.of([file('a')]).with(new Map([['a', null]])), Dir.empty)
  })

  it('rejects two entries with one name', () => {
    assert.throws(() => Dir.of([file('a'), file('b'), folder('a')]), /Two entries/)
    assert.throws(() => Dir.of([file('\uffff'), file('😀'), file('\uffff')]), /Two entries/)
  })

  it('rejects a change whose key is not the name of the entry', () => {
    assert.throws(() => Dir.empty.with(new Map([['a', file('b')]])), /is called/)
  })

  it('returns itself when nothing changes', () => {
    const dir = Dir.of([file('a'), file('b')])
    const changes = new Map<string, Dirent | null>([
      ['c', null],
      ['a', dir.find('a') as Dirent],
    ])
    assert.equal(dir.with(changes), dir)
    assert.equal(dir.with(new Map()), dir)
  })

  it('is not modified when a new version is derived from it', () => {
    const dir = Dir.of([file('a'), file('c')])
    const changed = dir.with(
      new Map<string, Dirent | null>([
        ['a', null],
        ['b', folder('b')],
        ['d', file('d')],
      ]),
    )
    assert.deepEqual(namesOf(dir), ['c', 'a'])
    assert.deepEqual(namesOf(changed), ['d', 'c', 'b'])
  })

  it('encodes as jansson does, in order of UTF-8 bytes', (t) => {
    const property = fc.property(entryLists(), (entries) => {
      const dir = Dir.of(entries)
      assert.equal(dir.encoded().toString(), expectedJson(entries))
      if (entries.length > 0) assert.equal(dir.id, sha1Hex(Buffer.from(expectedJson(entries))))
    })
    check(t, property)
  })

  it('finds each of its names and no other', (t) => {
    const property = fc.property(entryLists(), (entries) => {
      const [missing, ...rest] = entries
      const dir = Dir.of(rest)
      for (const entry of rest) {
        assert.equal(dir.find(entry.name), entry)
        assert.equal(dir.resolve(entry.name), entry)
      }
      if (missing) assert.equal(dir.find(missing.name), undefined)
    })
    check(t, property)
  })

  it('with changes equals a dir built from scratch, for any number of changes', () => {
    // Names that compare natively, and names that only compareNames orders correctly.
    for (const mark of ['', '\ue000', '😀']) {
      const some = (from: number, count: number, step: number) =>
        Array.from({ length: count }, (_, n) => file(`${n % 3 ? '' : mark}${from + n * step}`, from))
      const dir = Dir.of(some(0, 3000, 1))
      dir.encoded()
      const changes = new Map<string, Dirent | null>()
      for (const entry of some(1000, 2000, 2)) changes.set(entry.name, entry)
      for (const entry of some(0, 900, 1)) changes.set(entry.name, null)
      const plain = new Map(dir.entries.map((entry) => [entry.name, entry]))
      for (const [name, entry] of changes) {
        if (entry) plain.set(name, entry)
        else plain.delete(name)
      }
      const anew = Dir.of(plain.values())
      const changed = dir.with(changes)
      assert.deepEqual(changed.entries, anew.entries)
      assert.equal(changed.id, anew.id)
      assert.equal(dir.with(new Map(dir.entries.map((entry) => [entry.name, entry]))), dir)
      assert.equal(dir.with(new Map(namesOf(dir).map((name) => [name, null]))), Dir.empty)
      const missing = new Map(Array.from({ length: 3000 }, (_, n) => [`none ${n}`, null]))
      assert.equal(dir.with(missing), dir)
    }
  })

  it('with changes equals a dir built from scratch, whether or not it was encoded before', (t) => {
    const steps = entryLists().chain((entries) =>
      fc.tuple(fc.constant(entries), fc.array(fc.tuple(changesTo(entries), fc.boolean()), { maxLength: 6 })),
    )
    const property = fc.property(steps, ([entries, list]) => {
      let dir = Dir.of(entries)
      const plain = new Map(entries.map((entry) => [entry.name, entry]))
      for (const [changes, encode] of list) {
        if (encode) dir.encoded()
        dir = dir.with(changes)
        for (const [name, entry] of changes) {
          if (entry) plain.set(name, entry)
          else plain.delete(name)
        }
        const anew = Dir.of(plain.values())
        assert.deepEqual(dir.entries, anew.entries)
        if (!encode) continue
        assert.equal(dir.encoded().toString(), anew.encoded().toString())
        assert.equal(dir.id, anew.id)
      }
      assert.equal(dir.id, Dir.of(plain.values()).id)
    })
    check(t, property, 300)
  })

  it('hashes a version of a large dir like a dir built from scratch, wherever versions differ', (t) => {
    const seed = Date.now() | 0
    t.diagnostic(`seed ${seed}`)
    const random = fc.sample(fc.nat({ max: 9999 }), { seed, numRuns: 2000 }).values()
    const next = (below: number) => (random.next().value as number) % below
    // Names that compare natively, and names that only compareNames orders correctly.
    const nameOf = (n: number) => `${['', '\ue000', '😀'][n % 97 < 95 ? 0 : (n % 2) + 1]}${n}`
    const first = Dir.of(Array.from({ length: 5000 }, (_, n) => file(nameOf(2 * n))))
    assert.equal(first.id, sha1Hex(first.encoded()))
    const versions = [first]
    for (let step = 0; step < 120; step++) {
      // Not always the newest version: an older one may be edited, too.
      const dir = versions[versions.length - 1 - next(Math.min(3, versions.length))] as Dir
      const changes = new Map<string, Dirent | null>()
      if (next(8) === 0) {
        // Removes whole sections, including the first or the last.
        const from = [0, next(dir.size), Math.max(0, dir.size - 200)][next(3)] as number
        for (const name of namesOf(dir).slice(from, from + 200)) changes.set(name, null)
      }
      for (let left = next(4); left >= 0; left--) {
        const name = nameOf(next(10_000))
        changes.set(name, next(3) === 0 ? null : file(name, step))
      }
      const changed = dir.with(changes)
      if (next(4) > 0) {
        const anew = Dir.of(changed.entries)
        assert.equal(changed.id, anew.id)
        assert.ok(changed.encoded().equals(anew.encoded()))
      }
      versions.push(changed)
    }
    for (const version of versions) assert.equal(version.id, sha1Hex(version.encoded()))
  })

  it('has a constant weight of at least its encoded size', () => {
    const dir = Dir.of(Array.from({ length: 1000 }, (_, i) => file(`file ${i}`)))
    const before = dir.weight
    assert.ok(before > dir.encoded().length)
    assert.equal(dir.weight, before)
  })
})

describe('looking up a name in another normal form', () => {
  const decomposed = 'cafe\u0301'
  const composed = 'caf\u00e9'

  it('finds a decomposed entry by its composed name and vice versa', () => {
    const synced = Dir.of([file('a'), file(decomposed)])
    assert.equal(synced.resolve(composed)?.name, decomposed)
    assert.equal(synced.find(composed), undefined)
    assert.equal(Dir.of([file(composed)]).resolve(decomposed)?.name, composed)
    assert.equal(synced.resolve('cafe'), undefined)
  })

  it('prefers the exact entry', () => {
    const both = Dir.of([file(decomposed, 1), file(composed, 2)])
    assert.equal(both.resolve(decomposed)?.mtime, 1)
    assert.equal(both.resolve(composed)?.mtime, 2)
  })

  it('finds names that a change added and not those it removed', () => {
    const plain = Dir.of([file('a')])
    assert.equal(plain.resolve(composed), undefined)
    const more = plain.with(new Map([[decomposed, file(decomposed)]]))
    assert.equal(more.resolve(composed)?.name, decomposed)
    assert.equal(more.with(new Map([[decomposed, null]])).resolve(composed), undefined)
    assert.equal(more.with(new Map([['b', file('b')]])).resolve(composed)?.name, decomposed)
  })
})

describe('a dir parsed from JSON', () => {
  it('round-trips', (t) => {
    const property = fc.property(entryLists(), (entries) => {
      fc.pre(entries.length > 0)
      const dir = Dir.of(entries)
      const read = parseDir(dir.encoded())
      assert.deepEqual(read.entries, dir.entries)
      assert.equal(read.id, dir.id)
      assert.ok(read.canonical)
      const changed = new Map([['new', file('new')]])
      assert.equal(read.with(changed).id, dir.with(changed).id)
    })
    check(t, property)
  })

  it('keeps the id and the bytes of a form that is not canonical', () => {
    const dir = Dir.of([file('b'), folder('a')])
    const compact = Buffer.from(JSON.stringify(JSON.parse(dir.encoded().toString())))
    const read = parseDir(compact)
    assert.equal(read.id, sha1Hex(compact))
    assert.equal(read.canonical, false)
    assert.deepEqual(read.encoded(), compact)
    assert.deepEqual(read.entries, dir.entries)
    // A changed dir is encoded by the server and therefore canonical.
    const changed = read.with(new Map([['b', null]]))
    assert.equal(changed.id, Dir.of([folder('a')]).id)
  })

  it('may be empty with a nonzero id', () => {
    const bytes = Buffer.from('{"dirents": [], "type": 3, "version": 1}')
    const read = parseDir(bytes)
    assert.equal(read.id, sha1Hex(bytes))
    assert.deepEqual(read.encoded(), bytes)
  })

  const entry = { id: EMPTY_ID, mode: 33188, modifier: 'a@b', mtime: 1, name: 'a', size: 0 }
  const dirOf = (...dirents: unknown[]) => ({ dirents, type: 3, version: 1 })
  const { modifier: _, ...anonymous } = entry
  const bad: [reason: RegExp, value: unknown][] = [
    [/type/, { ...dirOf(entry), type: 1 }],
    [/version/, { dirents: [], type: 3 }],
    [/version/, { ...dirOf(entry), version: 0 }],
    [/dirents/, { type: 3, version: 1 }],
    [/object/, []],
    [/object/, null],
    [/dirent/, dirOf(null)],
    [/id/, dirOf({ ...entry, id: EMPTY_ID.slice(1) })],
    [/id/, dirOf({ ...entry, id: 'A'.repeat(40) })],
    [/id/, dirOf({ ...entry, id: 7 })],
    [/name/, dirOf({ ...entry, name: '..' })],
    [/name/, dirOf({ ...entry, name: 'a/b' })],
    [/name/, dirOf({ ...entry, name: 'a\0' })],
    [/name/, dirOf({ ...entry, name: '\ud800' })],
    [/name/, dirOf({ ...entry, name: 'x'.repeat(256) })],
    [/modifier/, dirOf(anonymous)],
    [/modifier/, dirOf({ ...entry, modifier: '\udc00' })],
    [/mode/, dirOf({ ...entry, mode: 0o120777 })],
    [/mode/, dirOf({ ...entry, mode: 2 ** 32 + 33188 })],
    [/mtime/, dirOf({ ...entry, mtime: 1.5 })],
    [/mtime/, dirOf({ ...entry, mtime: 2 ** 53 })],
    [/mtime/, dirOf({ ...entry, mtime: '1' })],
    [/size/, dirOf({ ...entry, size: -1 })],
    [/called/, dirOf(entry, entry)],
    [/order/, dirOf(entry, { ...entry, name: 'b' })],
    [/order/, dirOf({ ...entry, name: '\uffff' }, { ...entry, name: '😀' })],
  ]
  for (const [reason, value] of bad) {
    it(`is rejected for its ${reason.source}: ${JSON.stringify(value).slice(0, 130)}`, () => {
      const bytes = Buffer.from(JSON.stringify(value))
      assert.throws(
        () => parseDir(bytes),
        (error) => error instanceof InvalidObject && reason.test(error.message),
      )
    })
  }

  it('is rejected if it is not UTF-8 or not JSON', () => {
    assert.throws(() => parseDir(Buffer.from('{"dirents": [], "typ')), InvalidObject)
    assert.throws(() => parseDir(Buffer.alloc(0)), InvalidObject)
    assert.throws(() => parseDir(Buffer.from('['.repeat(1_000_000))), InvalidObject)
    const bytes = Dir.of([file('abc')]).encoded()
    bytes[bytes.indexOf('abc')] = 0xff
    assert.throws(() => parseDir(bytes), /UTF-8/)
  })
})

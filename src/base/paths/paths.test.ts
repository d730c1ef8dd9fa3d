import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check, names } from '../../../test/support/dirents.arbitrary.ts'
import {
  baseName,
  depth,
  isWithin,
  joinPath,
  type LibraryPath,
  parentOf,
  parsePath,
  ROOT,
  segmentsOf,
  selfAndAbove,
  withSlash,
} from './paths.ts'

describe('paths', () => {
  it('adds, collapses and drops slashes', () => {
    const table = [
      ['', '/'],
      ['/', '/'],
      ['///', '/'],
      ['a', '/a'],
      ['/a/', '/a'],
      ['a//b///c/', '/a/b/c'],
      ['/a\\b', '/a\\b'],
      ['/tab\t', '/tab\t'],
      ['/.a/..b/c./...', '/.a/..b/c./...'],
      ['/e\u0301', '/\u00e9'],
    ] as const
    for (const [text, path] of table) assert.equal(parsePath(text), path, JSON.stringify(text))
  })

  it('rejects dot segments, NUL, ill-formed text and overlong paths', () => {
    const wrong = ['.', '..', '/a/../b', '/a/./b', '/a/..', '//..//', '/a\0b', '/\ud800', 'a'.repeat(16_385)]
    for (const text of wrong) assert.equal(parsePath(text), undefined, JSON.stringify(text.slice(0, 20)))
    assert.equal(parsePath('a/'.repeat(8000))?.length, 16_000)
  })

  it('parses text of only slashes, dots or segments in linear time', () => {
    const before = process.cpuUsage()
    for (const piece of ['/', './', 'a/', '/..a', '..']) parsePath(piece.repeat(16_384 / piece.length))
    assert.ok(process.cpuUsage(before).user < 250_000)
  })

  it('does not treat a common name prefix as an ancestor', () => {
    assert.equal(isWithin('/ab' as LibraryPath, '/a' as LibraryPath), false)
    assert.equal(isWithin('/a' as LibraryPath, '/a/b' as LibraryPath), false)
    assert.equal(isWithin('/a/b' as LibraryPath, '/a' as LibraryPath), true)
    assert.equal(isWithin('/a' as LibraryPath, '/a' as LibraryPath), true)
    assert.equal(isWithin('/a' as LibraryPath, ROOT), true)
  })

  it('lists a path and its ancestors', () => {
    assert.deepEqual(selfAndAbove('/a/b/c' as LibraryPath), ['/a/b/c', '/a/b', '/a', '/'])
    assert.deepEqual(selfAndAbove(ROOT), ['/'])
  })

  it('treats the root as its own parent without a name or segments', () => {
    assert.equal(parentOf(ROOT), ROOT)
    assert.equal(baseName(ROOT), '')
    assert.deepEqual(segmentsOf(ROOT), [])
    assert.equal(depth(ROOT), 0)
    assert.equal(withSlash(ROOT), '/')
  })

  it('splits a joined path into its parts', (t) => {
    const property = fc.property(fc.array(names, { maxLength: 8 }), names, (segments, name) => {
      const folder = segments.reduce<LibraryPath>(
        (path, segment) => joinPath(path, segment.normalize()),
        ROOT,
      )
      const path = joinPath(folder, name.normalize())
      assert.equal(parentOf(path), folder)
      assert.equal(baseName(path), name.normalize())
      assert.deepEqual(
        segmentsOf(path),
        [...segments, name].map((segment) => segment.normalize()),
      )
      assert.equal(depth(path), segments.length + 1)
      assert.ok(isWithin(path, folder) && isWithin(path, ROOT) && !isWithin(folder, path))
      for (const text of [path, withSlash(path), path.slice(1), path.replaceAll('/', '//')]) {
        assert.equal(parsePath(text), path)
      }
    })
    check(t, property)
  })

  it('normalizes idempotently', (t) => {
    const text = fc.string({ unit: fc.constantFrom('/', '.', 'a', '\\', 'é', 'e', '\u0301', '😀', '\0') })
    const property = fc.property(text, (value) => {
      const path = parsePath(value)
      if (path === undefined) return
      assert.equal(parsePath(path), path)
      assert.ok(path === ROOT || (path.startsWith('/') && !path.endsWith('/') && !path.includes('//')))
      assert.ok(segmentsOf(path).every((segment) => segment !== '' && segment !== '.' && segment !== '..'))
    })
    check(t, property, 1000)
  })
})

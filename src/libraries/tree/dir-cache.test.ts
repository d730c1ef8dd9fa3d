import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Dir } from '../../base/objects/dir.ts'
import { dirDirent } from '../../base/objects/dirent.ts'
import { EMPTY_ID } from '../../base/objects/ids.ts'
import { DirCache, type StoredDir } from './dir-cache.ts'

function stored(name: string): StoredDir {
  const dir = Dir.of([dirDirent({ id: EMPTY_ID, name, mtime: 0 })])
  return { dir, size: 0, fileCount: 0, dirCount: 0, depth: 0 }
}

it('evicts the least recently used dir at its limit', () => {
  const [a, b, c] = [stored('a'), stored('b'), stored('c')]
  const cache = new DirCache(a.dir.weight * 2)
  cache.put(1, a)
  cache.put(1, b)
  assert.equal(cache.find(1, a.dir.id), a)
  cache.put(1, c)
  assert.equal(cache.find(1, b.dir.id), undefined)
  assert.equal(cache.find(1, a.dir.id), a)
  assert.equal(cache.find(1, c.dir.id), c)
  assert.equal(cache.weight, a.dir.weight * 2)
})

it('does not return a dir to another library', () => {
  const cache = new DirCache(2 ** 20)
  const a = stored('a')
  cache.put(1, a)
  assert.equal(cache.find(2, a.dir.id), undefined)
})

it('caches one dir that is larger than the limit', () => {
  const cache = new DirCache(1)
  const a = stored('a')
  cache.put(1, a)
  assert.equal(cache.find(1, a.dir.id), a)
})
it('keeps the last two dirs larger than the limit, and smaller ones beside them', () => {
  const [a, b, c] = [stored('a'.repeat(100)), stored('b'.repeat(100)), stored('c'.repeat(100))]
  const small = stored('s')
  const cache = new DirCache(small.dir.weight)
  for (const one of [a, small, b]) cache.put(1, one)
  assert.equal(cache.find(1, a.dir.id), a)
  assert.equal(cache.find(1, small.dir.id), small)
  cache.put(1, c)
  assert.equal(cache.find(1, a.dir.id), undefined)
  assert.equal(cache.find(1, b.dir.id), b)
  assert.equal(cache.find(1, c.dir.id), c)
  assert.equal(cache.find(1, small.dir.id), small)
  cache.delete(1, c.dir.id)
  assert.equal(cache.find(1, c.dir.id), undefined)
  cache.clear()
  assert.equal(cache.find(1, b.dir.id), undefined)
})

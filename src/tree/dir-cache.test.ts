import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Dir } from '../objects/dir.ts'
import { dirDirent } from '../objects/dirent.ts'
import { EMPTY_ID } from '../objects/ids.ts'
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

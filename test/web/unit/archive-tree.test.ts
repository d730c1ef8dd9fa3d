import assert from 'node:assert/strict'
import { it } from 'node:test'
import { archiveTree } from '../../../web/src/viewer/archive-tree.ts'

const entry = (path: string, size = 1, more = {}) => ({
  path,
  is_dir: false,
  size,
  mtime: 5,
  refusal: '' as const,
  ...more,
})

it('the folders of an archive are derived from its paths, with their sizes', () => {
  const tree = archiveTree([
    entry('b/two.txt', 2),
    entry('b/c/three.txt', 3),
    entry('a.txt'),
    entry('empty', 0, { is_dir: true }),
  ])
  const shown = (path: string) =>
    tree.get(path)?.map(({ name, isDir, size, fileCount }) => [name, isDir, size, fileCount])
  assert.deepEqual(shown(''), [
    ['b', true, 5, 2],
    ['empty', true, 0, 0],
    ['a.txt', false, 1, 1],
  ])
  assert.deepEqual(shown('b'), [
    ['c', true, 3, 1],
    ['two.txt', false, 2, 1],
  ])
  assert.deepEqual(shown('empty'), [])
})

it('an unsafe name of an archive is one entry at the top, and a folder wins over a file', () => {
  const tree = archiveTree([
    entry('../../up.txt', 1, { refusal: 'name' }),
    entry('x', 7),
    entry('x/y.txt', 2),
  ])
  assert.deepEqual(
    tree.get('')?.map(({ name, isDir, refusal }) => [name, isDir, refusal]),
    [
      ['x', true, ''],
      ['../../up.txt', false, 'name'],
    ],
  )
  assert.deepEqual([...tree.keys()], ['', 'x'])
})

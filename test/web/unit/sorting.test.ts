import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry, LibraryItem } from '../../../web/src/api/index.ts'
import { matching as matchingLibraries, sectionsOf } from '../../../web/src/files/library-sections.ts'
import { byName, matching, sorted } from '../../../web/src/files/sorting.ts'
import { treeSections } from '../../../web/src/files/tree-sections.ts'
import { orderAfter, orderIn, sorted as sortedLibraries, textOf } from '../../../web/src/libraries/sorting.ts'

const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
  type: 'file',
  id: '0'.repeat(40),
  name,
  mtime: 0,
  permission: 'rw',
  parent_dir: '/',
  starred: false,
  ...more,
})
const dir = (name: string, more: Partial<Entry> = {}) => entry(name, { type: 'dir', ...more })
const namesOf = (entries: readonly { name: string }[]) => entries.map(({ name }) => name)

describe('the order of entries', () => {
  it('puts folders first and counts numbers as people do', () => {
    const list = [entry('file 10'), entry('File 9'), dir('z'), entry('Éclair'), dir('B 2'), entry('eclipse')]
    assert.deepEqual(namesOf(byName(list)), ['B 2', 'z', 'Éclair', 'eclipse', 'File 9', 'file 10'])
  })

  it('is the same for long lists, which are sorted without a collator', () => {
    const shuffled = Array.from({ length: 6000 }, (_, n) => `File ${(n * 2741) % 6000}.txt`)
    const few = shuffled.slice(0, 100).map((name) => entry(name))
    const many = namesOf(byName(shuffled.map((name) => entry(name))))
    assert.deepEqual(many.slice(0, 3), ['File 0.txt', 'File 1.txt', 'File 2.txt'])
    assert.equal(many.at(-1), 'File 5999.txt')
    const picked = new Set(namesOf(few))
    assert.deepEqual(
      many.filter((name) => picked.has(name)),
      namesOf(byName(few)),
    )
  })

  it('uses the collator for long lists with letters beyond ASCII', () => {
    const many = Array.from({ length: 6000 }, (_, n) => entry(`b ${n}`))
    const found = namesOf(byName([...many, entry('ä'), entry('c')]))
    assert.deepEqual([found[0], found.at(-1)], ['ä', 'c'])
  })

  const named = byName([
    dir('d1', { mtime: 5 }),
    dir('d2', { mtime: 9 }),
    entry('a', { size: 3, mtime: 1, modifier_name: 'Zoe' }),
    entry('b', { size: 1, mtime: 2, modifier_name: 'ann' }),
    entry('c', { size: 3, mtime: 3 }),
  ])

  it('reverses names within folders and within files', () => {
    assert.equal(sorted(named, { key: 'name', descending: false }), named)
    assert.deepEqual(namesOf(sorted(named, { key: 'name', descending: true })), ['d2', 'd1', 'c', 'b', 'a'])
  })

  it('sorts by size and keeps equal sizes in the order of names', () => {
    assert.deepEqual(namesOf(sorted(named, { key: 'size', descending: false })), ['d1', 'd2', 'b', 'a', 'c'])
    assert.deepEqual(namesOf(sorted(named, { key: 'size', descending: true })), ['d1', 'd2', 'a', 'c', 'b'])
  })

  it('sorts folders by time too', () => {
    assert.deepEqual(namesOf(sorted(named, { key: 'mtime', descending: true })), ['d2', 'd1', 'c', 'b', 'a'])
  })

  it('sorts by the name of who changed it', () => {
    assert.deepEqual(namesOf(sorted(named, { key: 'modifier', descending: false })), [
      'd1',
      'd2',
      'c',
      'b',
      'a',
    ])
  })

  it('filters by all words, in any case and order', () => {
    const list = [entry('Annual Report 2025.pdf'), entry('report draft.txt'), entry('notes.md')]
    assert.deepEqual(namesOf(matching(list, ' 2025 REPORT ')), ['Annual Report 2025.pdf'])
    assert.deepEqual(namesOf(matching(list, 'report')), ['Annual Report 2025.pdf', 'report draft.txt'])
    assert.equal(matching(list, '  '), list)
  })
})

describe('the order of libraries', () => {
  const library = (repo_name: string, size: number, last_modified: string, more: Partial<LibraryItem> = {}) =>
    ({ type: 'mine', repo_name, size, last_modified, ...more }) as LibraryItem
  const libraries = [
    library('Photos 10', 10, '2026-01-02T00:00:00Z'),
    library('Photos 9', 30, '2026-01-03T00:00:00+02:00'),
    library('Äpfel', 10, '2026-01-01T00:00:00Z'),
  ]
  const order = (column: 'name' | 'size' | 'modified', down: boolean) =>
    sortedLibraries(libraries, { column, down }, 'de').map(({ repo_name }) => repo_name)

  it('sorts by each column, and by name where that is equal', () => {
    assert.deepEqual(order('name', false), ['Äpfel', 'Photos 9', 'Photos 10'])
    assert.deepEqual(order('size', true), ['Photos 9', 'Äpfel', 'Photos 10'])
    assert.deepEqual(order('modified', true), ['Photos 9', 'Photos 10', 'Äpfel'])
  })

  it('starts names ascending and the other columns descending, and reverses on the second click', () => {
    const byName = orderAfter({ column: 'size', down: true }, 'name')
    assert.deepEqual(byName, { column: 'name', down: false })
    assert.deepEqual(orderAfter(byName, 'name'), { column: 'name', down: true })
    assert.deepEqual(orderAfter(byName, 'modified'), { column: 'modified', down: true })
  })

  it('survives being stored, and falls back to newest first', () => {
    for (const column of ['name', 'size', 'modified'] as const) {
      for (const down of [true, false]) {
        assert.deepEqual(orderIn(textOf({ column, down })), { column, down })
      }
    }
    assert.deepEqual(orderIn('nonsense'), { column: 'modified', down: true })
    assert.deepEqual(orderIn(''), { column: 'modified', down: true })
  })

  it('has each library once in the side menu: starred ones first, own ones as such', () => {
    const titles = { starred: 'Starred', own: 'Own', people: 'People', everyone: 'Everyone' }
    const list = [
      library('b 10', 0, '', { repo_id: '1' }),
      library('b 9', 0, '', { repo_id: '2' }),
      library('b 9', 0, '', { repo_id: '2', type: 'group', group_id: 1, group_name: 'Art' }),
      library('x', 0, '', { repo_id: '3', type: 'shared', starred: true }),
      library('y', 0, '', { repo_id: '4', type: 'public' }),
    ]
    const shown = (libraries: readonly LibraryItem[]) =>
      treeSections(libraries, titles, 'en').map(({ title, libraries: found }) => [
        title,
        ...found.map(({ repo_name }) => repo_name),
      ])
    assert.deepEqual(shown(list), [
      ['Starred', 'x'],
      ['Own', 'b 9', 'b 10'],
      ['Everyone', 'y'],
    ])
    assert.deepEqual(shown([]), [])
  })

  it('has sections for the own ones, for people, for each group by name, and for everyone', () => {
    const titles = { people: 'People', everyone: 'Everyone' }
    const grouped = [
      library('p', 0, '', { type: 'public' }),
      library('x', 0, '', { type: 'group', group_id: 2, group_name: 'Zoo' }),
      library('y', 0, '', { type: 'group', group_id: 1, group_name: 'Art' }),
      library('z', 0, '', { type: 'group', group_id: 2, group_name: 'Zoo' }),
      library('s', 0, '', { type: 'shared' }),
    ]
    assert.deepEqual(
      sectionsOf(grouped, titles).map(({ title, libraries }) => [
        title,
        libraries.map(({ repo_name }) => repo_name).join(''),
      ]),
      [
        ['People', 's'],
        ['Art', 'y'],
        ['Zoo', 'xz'],
        ['Everyone', 'p'],
      ],
    )
    assert.deepEqual(sectionsOf(libraries, titles), [
      { key: 'mine', type: 'mine', title: undefined, libraries },
    ])
    assert.deepEqual(sectionsOf([], titles), [])
  })

  it('filters by a part of the name, in any case and Unicode form', () => {
    assert.deepEqual(matchingLibraries(libraries, ' A\u0308PF '), [libraries[2]])
    assert.equal(matchingLibraries(libraries, ''), libraries)
  })
})

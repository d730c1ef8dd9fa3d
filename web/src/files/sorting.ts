import type { Entry } from '../api/index.ts'

export type SortKey = 'name' | 'size' | 'mtime' | 'modifier'

export interface Sorting {
  readonly key: SortKey
  readonly descending: boolean
}

/** Above this number of entries, sorting with a collator is noticeably slow. */
const MANY = 5000

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

const numbers: Readonly<Record<'size' | 'mtime', (entry: Entry) => number>> = {
  size: ({ size = 0 }) => size,
  mtime: ({ mtime }) => mtime,
}

/** Folders first, then files, in natural order: `file 9` before `file 10`. */
export function byName(entries: readonly Entry[]): readonly Entry[] {
  const sort = entries.length > MANY ? sortedByKey : sortedByCollator
  return [...sort(only(entries, 'dir')), ...sort(only(entries, 'file'))]
}

function sortedByCollator(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => collator.compare(a.name, b.name))
}

/** Several times faster, with the same order for ASCII names. Other names fall back to the collator. */
function sortedByKey(entries: Entry[]): Entry[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (!entries.every(({ name }) => /^[\0-\x7f]*$/.test(name))) return sortedByCollator(entries)
  const padded = (name: string) => name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, '0'))
  return entries
    .map((entry) => ({ key: padded(entry.name), entry }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ entry }) => entry)
}

/** Sorts entries that are in the order of names. Stable, and folders stay first. */
export function sorted(named: readonly Entry[], { key, descending }: Sorting): readonly Entry[] {
  const turn = descending ? -1 : 1
  const folders = only(named, 'dir')
  const files = only(named, 'file')
  if (key === 'name') {
    return descending ? [...folders.toReversed(), ...files.toReversed()] : named
  }
  if (key === 'modifier') {
    const name = (entry: Entry) => entry.modifier_name ?? ''
    return [...folders, ...files.sort((a, b) => turn * collator.compare(name(a), name(b)))]
  }
  const value = numbers[key]
  const compare = (a: Entry, b: Entry) => turn * (value(a) - value(b))
  return [...(key === 'mtime' ? folders.sort(compare) : folders), ...files.sort(compare)]
}

/** Entries whose name contains all words, ignoring case. */
export function matching(entries: readonly Entry[], filter: string): readonly Entry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries
  return entries.filter(({ name }) => {
    const lower = name.toLowerCase()
    return words.every((word) => lower.includes(word))
  })
}

function only(entries: readonly Entry[], type: Entry['type']): Entry[] {
  return entries.filter((entry) => entry.type === type)
}

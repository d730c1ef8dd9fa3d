import type { Entry } from '../api/index.ts'

export type SortKey = 'name' | 'size' | 'mtime' | 'modifier'

export interface Sorting {
  readonly key: SortKey
  readonly descending: boolean
}

/** From here on a collator would be felt. */
const MANY = 5000

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

const numbers: Readonly<Record<'size' | 'mtime', (entry: Entry) => number>> = {
  size: ({ size = 0 }) => size,
  mtime: ({ mtime }) => mtime,
}

/** Folders first, then files, each by name as people count: `file 9` before `file 10`. */
export function byName(entries: readonly Entry[]): readonly Entry[] {
  const sort = entries.length > MANY ? sortedByKey : sortedByCollator
  return [...sort(only(entries, 'dir')), ...sort(only(entries, 'file'))]
}

function sortedByCollator(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => collator.compare(a.name, b.name))
}

/** Several times as fast, and alike for names in plain letters; others are left to the collator. */
function sortedByKey(entries: Entry[]): Entry[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (!entries.every(({ name }) => /^[\0-\x7f]*$/.test(name))) return sortedByCollator(entries)
  const padded = (name: string) => name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, '0'))
  return entries
    .map((entry) => ({ key: padded(entry.name), entry }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ entry }) => entry)
}

/** `named` sorted anew; what is alike stays in the order of names. Folders stay first. */
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

/** Those whose names hold all the words, in any case. */
export function matching(entries: readonly Entry[], sought: string): readonly Entry[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries
  return entries.filter(({ name }) => {
    const lower = name.toLowerCase()
    return words.every((word) => lower.includes(word))
  })
}

function only(entries: readonly Entry[], type: Entry['type']): Entry[] {
  return entries.filter((entry) => entry.type === type)
}

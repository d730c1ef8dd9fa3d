import type { Entry } from '../api/entries.ts'

export type SortKey = 'name' | 'size' | 'mtime' | 'modifier'

export interface Sorting {
  readonly key: SortKey
  readonly descending: boolean
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

const numbers: Readonly<Record<'size' | 'mtime', (entry: Entry) => number>> = {
  size: ({ size = 0 }) => size,
  mtime: ({ mtime }) => mtime,
}

/** Folders first, then files, each by name as people count: `file 9` before `file 10`. */
export function byName(entries: readonly Entry[]): readonly Entry[] {
  // The server's order is close to this one, so that even a very long list is sorted in about one pass.
  const compare = (a: Entry, b: Entry) => collator.compare(a.name, b.name)
  return [...only(entries, 'dir').sort(compare), ...only(entries, 'file').sort(compare)]
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

import { compareNames, comparesNatively } from '../paths/index.ts'
import type { Dirent } from './dirent.ts'

/** Binary search: the index of the first entry from `from` on that is not before `name` in stored order. */
export function indexOf(entries: readonly Dirent[], name: string, from: number): number {
  const native = comparesNatively(name)
  let low = from
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = (entries[middle] as Dirent).name
    if (native ? other > name : compareNames(other, name) > 0) low = middle + 1
    else high = middle
  }
  return low
}

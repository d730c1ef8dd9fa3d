import { compareNames, comparesNatively } from '../paths/index.ts'
import type { DirId, FileId } from './ids.ts'

/** The mode of a non-executable file: octal 100644. */
const FILE_MODE = 33188
/** The mode of every dir: octal 040000. */
const DIR_MODE = 16384

interface Entry {
  readonly name: string
  /** Unix mode, type bits included. */
  readonly mode: number
  /** Unix seconds. */
  readonly mtime: number
  /** Bytes of plaintext; 0 for a dir. */
  readonly size: number
  /** The account that wrote the file last; empty for a dir. */
  readonly modifier: string
}

export interface FileDirent extends Entry {
  readonly kind: 'file'
  readonly id: FileId
}

export interface DirDirent extends Entry {
  readonly kind: 'dir'
  readonly id: DirId
}

/** One entry of a dir. */
export type Dirent = FileDirent | DirDirent

// Both factories set the same keys in the same order, so that V8 uses one hidden class for all dirents.

export function fileDirent(of: Omit<FileDirent, 'kind' | 'mode'> & { mode?: number }): FileDirent {
  const { id, name, mode = FILE_MODE, mtime, size, modifier } = of
  return { kind: 'file', id, name, mode, mtime, size, modifier }
}

export function dirDirent(of: { id: DirId; name: string; mtime: number; mode?: number }): DirDirent {
  const { id, name, mode = DIR_MODE, mtime } = of
  return { kind: 'dir', id, name, mode, mtime, size: 0, modifier: '' }
}

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

import { useRef } from 'react'
import type { Entry, FileState, Folder } from '../api/index.ts'

/** A file somebody looks at: which one, and what its folder says about it. */
export interface OpenedFile extends FileState {
  readonly name: string
  readonly size: number
  /** Unix seconds. */
  readonly mtime: number
  readonly entry: Entry
  /** Whether the reader may change files here. */
  readonly mayWrite: boolean
  /** Whether its content may be replaced here and now. */
  readonly isEditable: boolean
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** The files of a folder in the order of their names. */
export function filesOf(folder: Folder): Entry[] {
  return folder.dirent_list
    .filter(({ type }) => type === 'file')
    .toSorted((a, b) => byName.compare(a.name, b.name))
}

/** The last value there was under a key: what is on the page outlives its deletion by somebody else. */
export function useLastKnown<T>(key: string, value: T | undefined): T | undefined {
  const last = useRef<{ key: string; value: T } | undefined>(undefined)
  if (value !== undefined) last.current = { key, value }
  return last.current?.key === key ? last.current.value : undefined
}

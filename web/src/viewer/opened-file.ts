import { useRef } from 'react'
import type { Entry, FileState, Folder } from '../api/index.ts'

/** The file that the viewer shows, with its directory entry. */
export interface OpenedFile extends FileState {
  readonly name: string
  readonly size: number
  /** Unix seconds. */
  readonly mtime: number
  readonly entry: Entry
  /** Whether the user may write to the folder. */
  readonly mayWrite: boolean
  /** Whether its content may be edited now. */
  readonly isEditable: boolean
  /** Whether its unsaved text may be stored on the device: not that of an encrypted library. */
  readonly mayStoreDraft: boolean
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** The files of a folder, sorted by name. */
export function filesOf(folder: Folder): Entry[] {
  return folder.dirent_list
    .filter(({ type }) => type === 'file')
    .toSorted((a, b) => byName.compare(a.name, b.name))
}

/** The last known value of a key, so that a file that someone deletes stays on the page. */
export function useLastKnown<T>(key: string, value: T | undefined): T | undefined {
  const last = useRef<{ key: string; value: T } | undefined>(undefined)
  if (value !== undefined) last.current = { key, value }
  return last.current?.key === key ? last.current.value : undefined
}

import { useCallback, useSyncExternalStore } from 'react'
import type { Sorting, SortKey } from './sorting.ts'

/** View settings of folders, stored on this device. */
export interface Preferences {
  readonly view: 'list' | 'grid'
  /** Height of the rows of the list. */
  readonly density: 'regular' | 'compact'
  readonly sorting: Sorting
  readonly details: boolean
  readonly folderSizes: boolean
}

const KEY = 'carrel.files'
const SORT_KEYS: readonly SortKey[] = ['name', 'size', 'mtime', 'modifier']
const listeners = new Set<() => void>()
let current: Preferences | undefined

export function usePreferences(): [Preferences, (changes: Partial<Preferences>) => void] {
  const value = useSyncExternalStore(listen, preferences)
  const change = useCallback((changes: Partial<Preferences>) => {
    current = { ...preferences(), ...changes }
    localStorage.setItem(KEY, JSON.stringify(current))
    for (const listener of listeners) listener()
  }, [])
  return [value, change]
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function preferences(): Preferences {
  current ??= parsePreferences(localStorage.getItem(KEY))
  return current
}

/** Reads stored preferences. Unknown values, for instance of another version, become the defaults. */
export function parsePreferences(stored: string | null): Preferences {
  let value: Partial<Record<keyof Preferences, unknown>> = {}
  try {
    value = Object(JSON.parse(stored ?? '{}'))
  } catch {
    // Unreadable: use the defaults.
  }
  const { key, descending }: Partial<Record<keyof Sorting, unknown>> = Object(value.sorting)
  return {
    view: value.view === 'grid' ? 'grid' : 'list',
    density: value.density === 'compact' ? 'compact' : 'regular',
    sorting: { key: SORT_KEYS.find((one) => one === key) ?? 'name', descending: descending === true },
    details: value.details === true,
    folderSizes: value.folderSizes === true,
  }
}

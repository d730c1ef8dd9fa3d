import { useEffect } from 'react'
import { onSessionChange, token } from './session-token.ts'

/** A file or folder that was opened in this browser. */
interface OpenedPlace {
  readonly libraryId: string
  readonly libraryName: string
  /** `/` for a whole library. */
  readonly path: string
  readonly isDir: boolean
}

const KEY = 'carrel.opened'
const MAX_PLACES = 8

const isSame = (a: OpenedPlace, b: OpenedPlace) => a.libraryId === b.libraryId && a.path === b.path

/** The places opened last, latest first. Unreadable entries, for instance of another version, are left out. */
export function recentlyOpened(): readonly OpenedPlace[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isPlace).slice(0, MAX_PLACES) : []
  } catch {
    return []
  }
}

/** Stores a place once it is shown. Undefined while it is loading. */
export function useRememberOpened(place: OpenedPlace | undefined): void {
  const text = place && JSON.stringify(place)
  useEffect(() => {
    if (text === undefined) return
    const opened = JSON.parse(text) as OpenedPlace
    const others = recentlyOpened().filter((one) => !isSame(one, opened))
    localStorage.setItem(KEY, JSON.stringify([opened, ...others].slice(0, MAX_PLACES)))
  }, [text])
}

function isPlace(value: unknown): value is OpenedPlace {
  const { libraryId, libraryName, path, isDir }: Partial<Record<keyof OpenedPlace, unknown>> = Object(value)
  return (
    [libraryId, libraryName, path].every((text) => typeof text === 'string') && typeof isDir === 'boolean'
  )
}

// The next user of this browser must not see them.
onSessionChange(() => {
  if (token() === undefined) localStorage.removeItem(KEY)
})

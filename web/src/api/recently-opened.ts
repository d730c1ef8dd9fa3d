import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { CarrelError } from '../../../sdk/src/index.ts'
import { api } from './http.ts'
import { onSessionChange, token } from './session-token.ts'

/** A library, folder or file of the user. */
interface ItemPlace {
  readonly libraryId: string
  readonly path: string
}

/** A file or folder that was opened in this browser. */
export interface OpenedPlace extends ItemPlace {
  readonly libraryName: string
  /** `/` for a whole library. */
  readonly path: string
  readonly isDir: boolean
  /** ISO. Empty for places that an earlier version stored. */
  readonly at: string
}

const KEY = 'carrel.opened'
const MAX_PLACES = 60

export const isSamePlace = (a: ItemPlace, b: ItemPlace) => a.libraryId === b.libraryId && a.path === b.path

/** The places opened last, latest first. Unreadable entries, for instance of another version, are left out. */
function storedPlaces(): readonly OpenedPlace[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.flatMap(readPlace).slice(0, MAX_PLACES) : []
  } catch {
    return []
  }
}

/**
 * The places opened last in this browser that still exist and may still be read, by the names they have now. Undefined until the server has said so. Without
 * a connection they are those that the browser knows.
 */
export function useRecentlyOpened(): readonly OpenedPlace[] | undefined {
  const [stored] = useState(storedPlaces)
  const { data, error } = useItems(stored)
  if (error instanceof CarrelError && error.status === 0) return stored
  return (
    data &&
    stored.flatMap((place) => {
      const found = data.find(({ repo_id, path }) => isSamePlace(place, { libraryId: repo_id, path }))
      return found === undefined || found.is_dir !== place.isDir
        ? []
        : [{ ...place, libraryName: found.repo_name }]
    })
  )
}

/** Those of the places that exist and that the user may read. */
export function useItems(places: readonly ItemPlace[] | undefined) {
  return useQuery({
    queryKey: ['items', places?.map(({ libraryId, path }) => `${libraryId} ${path}`)],
    enabled: places !== undefined,
    queryFn: async ({ signal }) => {
      if (places === undefined || places.length === 0) return []
      const repo_ids = places.map(({ libraryId }) => libraryId)
      const paths = places.map(({ path }) => path)
      return (await api.post('api/v2.1/items/', { json: { repo_ids, paths }, signal })).items
    },
  })
}

/** Stores a place once it is shown. Undefined while it is loading. */
export function useRememberOpened(place: Omit<OpenedPlace, 'at'> | undefined): void {
  const text = place && JSON.stringify(place)
  useEffect(() => {
    if (text === undefined) return
    const opened = { ...(JSON.parse(text) as Omit<OpenedPlace, 'at'>), at: new Date().toISOString() }
    const others = storedPlaces().filter((one) => !isSamePlace(one, opened))
    localStorage.setItem(KEY, JSON.stringify([opened, ...others].slice(0, MAX_PLACES)))
  }, [text])
}

function readPlace(value: unknown): OpenedPlace[] {
  const place: Partial<Record<keyof OpenedPlace, unknown>> = Object(value)
  const { libraryId, libraryName, path, isDir, at } = place
  if (typeof libraryId !== 'string' || typeof libraryName !== 'string') return []
  if (typeof path !== 'string' || typeof isDir !== 'boolean') return []
  return [{ libraryId, libraryName, path, isDir, at: typeof at === 'string' ? at : '' }]
}

// The next user of this browser must not see them.
onSessionChange(() => {
  if (token() === undefined) localStorage.removeItem(KEY)
})

import { useCallback, useSyncExternalStore } from 'react'

export const NARROW = '(max-width: 640px)'
export const ONE_COLUMN = '(max-width: 700px)'
export const NO_ROOM_BESIDE = '(max-width: 1000px)'
export const COARSE = '(pointer: coarse)'

const lists = new Map<string, MediaQueryList>()

/** Cached, because a component asks again in each render, which is each frame while a list scrolls. */
function mediaList(query: string): MediaQueryList {
  const list = lists.get(query) ?? matchMedia(query)
  lists.set(query, list)
  return list
}

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  const listen = useCallback(
    (listener: () => void) => {
      const list = mediaList(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(listen, () => mediaList(query).matches)
}

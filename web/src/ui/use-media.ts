import { useCallback, useSyncExternalStore } from 'react'

export const NARROW = '(max-width: 640px)'
export const ONE_COLUMN = '(max-width: 700px)'
export const NO_ROOM_BESIDE = '(max-width: 1000px)'
export const COARSE = '(pointer: coarse)'

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  const listen = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(listen, () => matchMedia(query).matches)
}

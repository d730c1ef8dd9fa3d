import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 700px)')

/** Whether there is room for a phone's width only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener)
      return () => narrow.removeEventListener('change', listener)
    },
    () => narrow.matches,
  )
}

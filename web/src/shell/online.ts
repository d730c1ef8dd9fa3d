import { useSyncExternalStore } from 'react'
import { onReachability, reachable } from '../api/index.ts'

/** Whether the browser is online. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      addEventListener('online', listener)
      addEventListener('offline', listener)
      return () => {
        removeEventListener('online', listener)
        removeEventListener('offline', listener)
      }
    },
    () => navigator.onLine,
  )
}

/** Whether the server answers. */
export function useReachable(): boolean {
  return useSyncExternalStore(onReachability, reachable)
}

import { useEffect, useRef } from 'react'
import { onReachability, reachable } from '../api/index.ts'

/**
 * Saves what the user wanted to be saved while the server could not be reached: when it can be again, and once when the page is opened with a restored draft.
 * `save` is undefined if there is nothing to save.
 */
export function useWantedSave(save: (() => Promise<unknown>) | undefined, isRestored: boolean): void {
  const latest = useRef(save)
  latest.current = save
  const isWanted = save !== undefined
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isWanted) return
    // A save that failed just now is not repeated until something has changed.
    if (isRestored && isFirst.current) void latest.current?.()
    isFirst.current = false
    const again = () => {
      if (reachable()) void latest.current?.()
    }
    addEventListener('online', again)
    const stop = onReachability(again)
    return () => {
      removeEventListener('online', again)
      stop()
    }
  }, [isWanted, isRestored])
}

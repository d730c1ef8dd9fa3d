import { useEffect, useState } from 'react'

const DEFAULT_MS = 180

/** Debounces what is typed: the value once it has not changed for `waitMs`. An empty text passes at once. */
export function useDebounced<T>(value: T, waitMs = DEFAULT_MS): T {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    if (value === '') {
      setDebounced(value)
      return
    }
    const timer = setTimeout(() => setDebounced(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return debounced
}

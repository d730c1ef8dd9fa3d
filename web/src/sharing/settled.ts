import { useEffect, useState } from 'react'

const SETTLE_MS = 180

/** A value once it has stood still for a moment: what is typed, before it is searched for. */
export function useSettled<T>(value: T, waitMs = SETTLE_MS): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}

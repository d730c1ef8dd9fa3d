import { useEffect } from 'react'
import type { AroundNavHandler } from 'wouter'

type Guard = (proceed: () => void) => void

let guard: Guard | undefined

/** Intercepts navigation within the app, so that a page with unsaved changes can ask first. */
export const aroundNav: AroundNavHandler = (navigate, to, options) => {
  const proceed = () => navigate(to, options)
  if (guard === undefined) proceed()
  else guard(proceed)
}

/** While `active`, `ask` decides whether navigation proceeds. The browser itself asks before it closes the tab. */
export function useLeaveGuard(active: boolean, ask: Guard): void {
  useEffect(() => {
    if (!active) return
    const beforeUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    guard = ask
    addEventListener('beforeunload', beforeUnload)
    return () => {
      if (guard === ask) guard = undefined
      removeEventListener('beforeunload', beforeUnload)
    }
  }, [active, ask])
}

/** The API token of the signed-in account, in localStorage or, for one session, in sessionStorage. */

const KEY = 'carrel.token'
/** How the last session ended. In localStorage, because the other tabs are told by it, too. */
const ENDED_KEY = 'carrel.ended'
const listeners = new Set<() => void>()

export function token(): string | undefined {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? undefined
}

export function beginSession(value: string, { keep }: { keep: boolean }): void {
  ;(keep ? localStorage : sessionStorage).setItem(KEY, value)
  tell()
}

/** Whether the token outlives the session. */
export function isKept(): boolean {
  return sessionStorage.getItem(KEY) === null
}

/** Ends the session. `expired` if the server no longer accepts the token, without a sign-out by the user. */
export function endSession({ expired = false } = {}): void {
  localStorage.setItem(ENDED_KEY, expired ? 'expired' : 'signed-out')
  sessionStorage.removeItem(KEY)
  localStorage.removeItem(KEY)
  tell()
}

/** Whether the last session ended without a sign-out. */
export const hasExpired = () => localStorage.getItem(ENDED_KEY) === 'expired'

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}

// Sign-out in one tab applies to all.
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) tell()
})

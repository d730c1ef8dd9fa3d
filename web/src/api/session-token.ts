/** The API token of the signed-in account, in localStorage or, for one session, in sessionStorage. */

const KEY = 'carrel.token'
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

export function endSession(): void {
  sessionStorage.removeItem(KEY)
  localStorage.removeItem(KEY)
  tell()
}

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

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { api, beginSession, endSession, onSessionChange, token } from '../api/index.ts'

/** Whether someone is signed in. Clears the query cache at sign-out. */
export function useSignedIn(): boolean {
  const current = useSyncExternalStore(onSessionChange, token)
  const queries = useQueryClient()
  useEffect(() => {
    if (current === undefined) queries.clear()
  }, [current, queries])
  return current !== undefined
}

export async function signIn(sent: { username: string; password: string; keep: boolean }): Promise<void> {
  const { username, password, keep } = sent
  const form = { username, password, ...thisBrowser() }
  const { token } = await api.post('api2/auth-token/', { form })
  beginSession(token, { keep })
}

/** Signs in with the one-time token of a client, for this tab only. Its session ends with the one of the client. */
export async function signInByClient(given: string): Promise<void> {
  const { device_id, device_name } = thisBrowser()
  const form = { token: given, device_id, device_name }
  const { token } = await api.post('api/v2.1/client-login/', { form })
  beginSession(token, { keep: false })
}

/** Revokes the token of this browser, and deletes it even if the server cannot be reached. */
export async function signOut(): Promise<void> {
  try {
    await api.post('api2/logout-device/')
  } catch {
    // Unreachable or revoked already: the token is deleted either way.
  }
  endSession()
}

/** Revokes every token of the account, including that of this browser. */
export async function signOutEverywhere(): Promise<void> {
  await api.delete('api/v2.1/sessions/')
  endSession()
}

const DEVICE_KEY = 'carrel.device'

/** Device id and name of this browser, so that it can be signed out separately. */
function thisBrowser() {
  const known = localStorage.getItem(DEVICE_KEY)
  const id = known ?? Array.from(crypto.getRandomValues(new Uint8Array(20)), hex).join('')
  if (known === null) localStorage.setItem(DEVICE_KEY, id)
  return {
    platform: 'linux',
    device_id: id,
    device_name: browserName(),
    client_version: 'web',
    platform_version: '',
  }
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0')

function browserName(): string {
  const agent = navigator.userAgent
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? 'Browser'
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
  const system = /Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux/.exec(agent)?.[0]?.replace(' X', '')
  return `${names[browser] ?? browser}${system === undefined ? '' : ` (${system})`}`
}

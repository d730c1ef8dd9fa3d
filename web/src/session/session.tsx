import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { api, beginSession, call, endSession, onSessionChange, type SignedIn, token } from '../api/index.ts'

/** Whether someone is signed in. Clears the query cache at sign-out. */
export function useSignedIn(): boolean {
  const current = useSyncExternalStore(onSessionChange, token)
  const queries = useQueryClient()
  useEffect(() => {
    if (current === undefined) queries.clear()
  }, [current, queries])
  return current !== undefined
}

interface SignInRequest {
  readonly username: string
  readonly password: string
  readonly keep: boolean
  /** A code of the authenticator app, or a recovery code. */
  readonly code?: string
  /** Whether this browser needs no code from now on. */
  readonly trusts?: boolean
  /** Of an authenticator app that is set up with this sign-in. */
  readonly setup?: string
}

/** A session that begins once its user has seen what is in it. */
export interface GrantedSession {
  /** Of an authenticator app that was just set up. They are not shown again. */
  readonly recoveryCodes: readonly string[]
  /** When this account needs a second factor. */
  readonly dueAt: string | undefined
  readonly begin: () => void
}

export async function signIn(sent: SignInRequest): Promise<void> {
  const { begin } = await requestSession(sent)
  begin()
}

/** Throws `otp-needed` if a code is missing or wrong. */
export async function requestSession(sent: SignInRequest): Promise<GrantedSession> {
  const { username, password, keep, code, trusts = false, setup } = sent
  const form = { username, password, ...thisBrowser(), second_factor_setup: setup }
  const trust = code === undefined ? trustOf(username) : undefined
  const response = await call('POST', 'api2/auth-token/', {
    form,
    headers: {
      ...(code !== undefined && { 'X-Seafile-OTP': code.trim() }),
      ...(trust !== undefined && { 'X-Seafile-S2FA': trust }),
      ...(trusts && { 'X-Seafile-2FA-Trust-Device': '1' }),
    },
  })
  const granted = response.headers.get('X-Seafile-S2FA')
  if (granted !== null) keepTrust(username, granted)
  const { token, recovery_codes, second_factor_due_at } = (await response.json()) as SignedIn
  return {
    recoveryCodes: recovery_codes ?? [],
    dueAt: second_factor_due_at,
    begin: () => beginSession(token, { keep }),
  }
}

const TRUST_KEY = 'carrel.trusted'

/** What stands for a code of this account in this browser. It stays at sign-out, and opens nothing without the password. */
function trustOf(username: string): string | undefined {
  return trusts()[username.toLowerCase()]
}

function keepTrust(username: string, token: string): void {
  localStorage.setItem(TRUST_KEY, JSON.stringify({ ...trusts(), [username.toLowerCase()]: token }))
}

function trusts(): Record<string, string | undefined> {
  try {
    return JSON.parse(localStorage.getItem(TRUST_KEY) ?? '{}') as Record<string, string | undefined>
  } catch {
    return {}
  }
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

import { useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { visitedLink } from '../visited-link.ts'
import { api } from './http.ts'

/** When notifications are mailed. */
export type MailNotices = 'at-once' | 'daily' | 'off'

export type Profile = Records['Profile']

/** Somebody found by a part of their name or e-mail. */
type Person = Records['User']

export type TokenPermission = 'r' | 'rw' | 'upload'

export type PersonalToken = Records['PersonalTokens']['personal_tokens'][number]

export type Device = Records['Device']

/** A session, of a device or of a program without one. */
export type Session = Records['Session']

/** A program that used WebDAV in the last 90 days. */
export type WebdavClient = Records['WebdavClient']

/** The signed-in account and its storage. */
export function useAccount() {
  return useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => api.get('api2/account/info/', undefined, signal),
    staleTime: 30_000,
    enabled: visitedLink === undefined,
  })
}

export function useProfile() {
  return useQuery({
    queryKey: ['account', 'profile'],
    queryFn: ({ signal }) => api.get('api/v2.1/user/', undefined, signal),
  })
}

export function usePersonalTokens() {
  return useQuery({
    queryKey: ['account', 'tokens'],
    queryFn: async ({ signal }) => {
      const path = 'api/v2.1/personal-tokens/'
      const answer = await api.get(path, undefined, signal)
      return answer.personal_tokens
    },
  })
}

export function useDevices() {
  return useQuery({
    queryKey: ['account', 'devices'],
    queryFn: ({ signal }) => api.get('api2/devices/', undefined, signal),
  })
}

export function useSessions() {
  return useQuery({
    queryKey: ['account', 'sessions'],
    queryFn: ({ signal }) => api.get('api/v2.1/sessions/', undefined, signal),
  })
}

export const changeProfile = (changes: {
  name?: string
  contact_email?: string
  language?: string
  mail_notices?: MailNotices
  current_password?: string | undefined
}) => api.put('api/v2.1/user/', { form: changes })

export function putAvatar(picture: Blob): Promise<{ avatar_url: string }> {
  const body = new FormData()
  body.append('avatar', picture, 'avatar.png')
  return api.post('api/v2.1/user-avatar/', { body })
}

export const removeAvatar = () => api.delete('api/v2.1/user-avatar/')

/** Revokes every token of the account, including the current one. */
export const changePassword = (older: string, newer: string) =>
  api.post('api/v2.1/user/reset-password/', { form: { old_password: older, new_password: newer } })

/** Only this response contains the token. */
export const createToken = (options: {
  name: string
  permission: TokenPermission
  repo_id: string | undefined
  expire_days: number | undefined
  current_password: string | undefined
}) => api.post('api/v2.1/personal-tokens/', { form: options })

export const revokeToken = (id: number) => api.delete(`api/v2.1/personal-tokens/${id}/`)

/** A program that asks for access by a code. */
export type PendingDevice = Records['PendingDevice']

/** The program that shows a code. */
export const checkDevice = (code: string) =>
  api.post('api/v2.1/device-authorization/check/', { form: { user_code: code } })

export const approveDevice = (grant: {
  user_code: string
  name: string
  permission: PendingDevice['permission']
  expire_days: number | undefined
  current_password: string | undefined
}) => api.post('api/v2.1/device-authorization/approve/', { form: grant })

export const denyDevice = (code: string) =>
  api.post('api/v2.1/device-authorization/deny/', { form: { user_code: code } })

export const unlinkDevice = ({ platform, device_id }: Device, wipe: boolean) =>
  api.delete('api2/devices/', { form: { platform, device_id, wipe_device: wipe } })

/** Whether a WebDAV password is set. */
export function useWebdavPassword() {
  return useQuery({
    queryKey: ['account', 'webdav'],
    queryFn: ({ signal }) => api.get('api/v2.1/webdav-secret/', undefined, signal),
  })
}

/** '' removes the password. */
export const setWebdavPassword = (secret: string, currentPassword?: string) =>
  api.put('api/v2.1/webdav-secret/', { form: { secret, current_password: currentPassword } })

export type TotpOffer = Records['TotpOffer']

export type SecondFactors = Records['SecondFactors']

/** The response of a sign-in. */
export type SignedIn = Records['SignedIn']

type TrustedDevice = Records['TrustedDevice']

/** The second factors of the account. */
export function useSecondFactors() {
  return useQuery({
    queryKey: ['account', 'second-factors'],
    queryFn: ({ signal }) => api.get('api/v2.1/second-factors/', undefined, signal),
  })
}

/** A secret for an authenticator app, which takes effect with its first code. */
export const offerApp = () => api.post('api/v2.1/second-factors/totp/')

/** Only this response contains the recovery codes. */
export const addApp = (sent: { setup: string; code: string; current_password: string | undefined }) =>
  api.put('api/v2.1/second-factors/totp/', { form: sent })

/** Only this response contains the recovery codes. */
export const makeRecoveryCodes = (currentPassword: string | undefined) =>
  api.post('api/v2.1/second-factors/recovery-codes/', { form: { current_password: currentPassword } })

export const removeSecondFactors = (currentPassword: string | undefined) =>
  api.delete('api/v2.1/second-factors/', { form: { current_password: currentPassword } })

export const endTrust = ({ id }: TrustedDevice) =>
  api.delete(`api/v2.1/second-factors/trusted-devices/${id}/`)

export const endSessionOf = ({ id }: Session) => api.delete(`api/v2.1/sessions/${id}/`)

export async function searchPeople(part: string, signal?: AbortSignal): Promise<readonly Person[]> {
  const query = { q: part, include_self: 0 }
  return (await api.get('api2/search-user/', query, signal)).users
}

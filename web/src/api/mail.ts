import { api } from './http.ts'
import type { LinkKind } from './links.ts'

/** The fewest characters of a new password. The page says so, as it does whether the server sends mail. */
export const passwordLength = (): number =>
  Number(document.querySelector<HTMLMetaElement>('meta[name="password-length"]')?.content || 8)

/** Whether the server sends mail. The page says so, because the sign-in page asks before it can call anything. */
export const sendsMail = () => document.querySelector('meta[name="sends-mail"][content="yes"]') !== null

export const requestPasswordReset = (email: string) =>
  api.post('api/v2.1/password-reset/', { form: { email } })

export const checkMailToken = (token: string) =>
  api.post('api/v2.1/password-reset/check/', { form: { token } })

export const setPasswordByToken = (token: string, password: string) =>
  api.post('api/v2.1/password-reset/confirm/', { form: { token, new_password: password } })

export const confirmAddress = (token: string) =>
  api.post('api/v2.1/confirm-contact-email/', { form: { token } })

export const testMail = () => api.post('api/v2.1/admin/test-mail/')

export const mailLink = (kind: LinkKind, token: string, addresses: readonly string[], message: string) =>
  api.post(`api2/send-${kind}-link/`, {
    form: { email: addresses.join(','), token, extra_msg: message },
  })

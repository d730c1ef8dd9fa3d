import { api } from './http.ts'
import type { LinkKind } from './links.ts'

/** Whether the server sends mail. The page says so, because the sign-in page asks before it can call anything. */
export const sendsMail = () => document.querySelector('meta[name="sends-mail"][content="yes"]') !== null

export const requestPasswordReset = (email: string) =>
  api.post('api/v2.1/password-reset/', { form: { email } })

interface MailToken {
  readonly email: string
  readonly purpose: 'invitation' | 'password-reset' | 'contact'
}

export const checkMailToken = (token: string) =>
  api.post<MailToken>('api/v2.1/password-reset/check/', { form: { token } })

export const setPasswordByToken = (token: string, password: string) =>
  api.post('api/v2.1/password-reset/confirm/', { form: { token, new_password: password } })

export const confirmAddress = (token: string) =>
  api.post('api/v2.1/confirm-contact-email/', { form: { token } })

interface TestMail {
  readonly sent: boolean
  readonly to: string
  /** The answer of the mail server. */
  readonly error: string | null
}

export const testMail = () => api.post<TestMail>('api/v2.1/admin/test-mail/')

interface MailedLink {
  readonly success: readonly string[]
  readonly failed: readonly { readonly email: string }[]
}

export const mailLink = (kind: LinkKind, token: string, addresses: readonly string[], message: string) =>
  api.post<MailedLink>(`api2/send-${kind}-link/`, {
    form: { email: addresses.join(','), token, extra_msg: message },
  })

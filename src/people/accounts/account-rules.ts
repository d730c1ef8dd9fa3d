import { parseEmail } from './account.ts'

/** Why the value of an account field is rejected. */
export type AccountRule =
  | 'email-invalid'
  | 'password-empty'
  | 'password-too-short'
  | 'password-too-long'
  | 'password-too-common'
  | 'name-too-long'
  | 'name-has-slash'
  | 'name-invalid'
  | 'contact-email-invalid'
  | 'contact-email-taken'
  | 'login-id-empty'
  | 'login-id-invalid'
  | 'department-too-long'
  | 'department-invalid'
  | 'institution-invalid'
  | 'quota-invalid'
  | 'account-token-invalid'

/** A field of an account has an invalid value. The surface that read the field provides the message. */
export class AccountRuleError extends Error {
  readonly code: AccountRule
  /** The rejected value; '' for a secret, and the fewest characters for one that is too short. */
  readonly value: string
  constructor(code: AccountRule, value = '') {
    super(code)
    this.name = 'AccountRuleError'
    this.code = code
    this.value = value
  }
}

export const longestPassword = 1024
const longestName = 64
const longestDepartment = 512
const longestText = 255

export function checkedEmail(text: string): string {
  return parseEmail(text) ?? refuse('email-invalid', text)
}

/** `shortest` is the fewest characters of a password. */
export function checkedPassword(password: string, shortest: number): string {
  if (password === '') refuse('password-empty')
  if (lengthOf(password.normalize('NFC')) < shortest) refuse('password-too-short', String(shortest))
  if (password.length > longestPassword) refuse('password-too-long')
  return password
}

export function checkedName(text: string): string {
  const name = text.trim()
  if (lengthOf(name) > longestName) refuse('name-too-long', name)
  if (name.includes('/')) refuse('name-has-slash', name)
  return isPlainText(name) ? name : refuse('name-invalid', name)
}

/** '' removes the contact e-mail. */
export function checkedContactEmail(text: string): string {
  if (text.trim() === '') return ''
  return parseEmail(text) ?? refuse('contact-email-invalid', text)
}

/** Null removes the login id. */
export function checkedLoginId(text: string | null): string | null {
  if (text === null) return null
  const loginId = text.trim().normalize('NFC')
  if (loginId === '') refuse('login-id-empty')
  if (lengthOf(loginId) > longestText || !isPlainText(loginId)) refuse('login-id-invalid', loginId)
  return loginId
}

export function checkedDepartment(text: string): string {
  const department = text.trim()
  if (lengthOf(department) > longestDepartment) refuse('department-too-long', department)
  return isPlainText(department) ? department : refuse('department-invalid', department)
}

export function checkedInstitution(text: string): string {
  const institution = text.trim()
  const fits = lengthOf(institution) <= longestText && isPlainText(institution)
  return fits ? institution : refuse('institution-invalid', institution)
}

export function checkedQuota(bytes: number): number {
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : refuse('quota-invalid', String(bytes))
}

/** Whether both databases can store the text, and a terminal or a log can show it. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** Longer texts exceed every limit, and a body has megabytes of them. */
const LONGEST_COUNTED = 10_000

/** Approximate number of characters: code points. */
function lengthOf(text: string): number {
  return text.length > LONGEST_COUNTED ? text.length : Array.from(text).length
}

function refuse(code: AccountRule, value?: string): never {
  throw new AccountRuleError(code, value)
}

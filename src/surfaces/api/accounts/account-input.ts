import { type Account, AccountRuleError } from '../../../people/accounts/index.ts'
import { accepting, flag, map, type Reader, refuse } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'

/** The message for each broken account rule; `value` is the rejected value. */
export type RuleMessages = Partial<Record<AccountRuleError['code'], string | ((value: string) => string)>>

const defaultMessages: Required<RuleMessages> = {
  'email-invalid': (email) => `Email ${email} invalid.`,
  'password-empty': 'password invalid.',
  'password-too-short': (fewest) => `Password must have at least ${fewest} characters.`,
  'password-too-long': 'password invalid.',
  'password-too-common': 'Password is too common.',
  'name-too-long': 'Name is too long (maximum is 64 characters)',
  'name-has-slash': "Name should not include '/'.",
  'name-invalid': 'name invalid.',
  'contact-email-invalid': 'contact_email invalid.',
  'contact-email-taken': (email) => `Contact email ${email} already exists.`,
  'login-id-empty': "Login id can't be empty",
  'login-id-invalid': 'login_id invalid.',
  'department-too-long': 'Department is too long (maximum is 512 characters)',
  'department-invalid': 'department invalid.',
  'institution-invalid': 'institution invalid.',
  'account-token-invalid': 'This link has expired or was used already.',
  'quota-invalid': 'Must be an integer that is greater than or equal to 0.',
}

/** Awaits `work`. A broken account rule is answered with 400 and the message of the endpoint. */
export async function withRuleMessages<T>(work: Promise<T>, messages: RuleMessages = {}): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AccountRuleError)) throw error
    const text = messages[error.code] ?? defaultMessages[error.code]
    throw errorMessage(400, typeof text === 'string' ? text : text(error.value))
  }
}

/** As `flag`, but undefined if the value is missing or empty: a field that is not sent changes nothing. */
export const optionalFlag: Reader<boolean | undefined> = accepting({ type: 'boolean' }, (fields, name) =>
  fields.has(name) && fields.text(name) !== '' ? flag()(fields, name) : undefined,
)

/** As optionalFlag, but an empty value is rejected: a form that lost its value must not pass for one without the field. */
export const strictFlag: Reader<boolean | undefined> = accepting({ type: 'boolean' }, (fields, name) => {
  if (!fields.has(name)) return undefined
  return fields.text(name) === '' ? refuse(name) : flag()(fields, name)
})

/** A quota in MB, as bytes; undefined when nothing was sent. */
export function megabytes(messages: { empty?: string; tooLow: string }): Reader<number | undefined> {
  return accepting({ type: 'integer', minimum: 0, description: 'In MB.' }, (fields, name) => {
    const sent = fields.text(name)
    if (!fields.has(name)) return undefined
    if (sent === '') return messages.empty === undefined ? undefined : refuse(name, messages.empty)
    if (sent === undefined || !/^[+-]?\d{1,16}$/.test(sent)) refuse(name, INVALID_NUMBER)
    if (Number(sent) < 0) refuse(name, messages.tooLow)
    const bytes = Number(sent) * 1_000_000
    return Number.isSafeInteger(bytes) ? bytes : refuse(name, INVALID_NUMBER)
  })
}

const INVALID_NUMBER = 'Must be an integer that is greater than or equal to 0.'

/** The side length of avatars in the response, in pixels. An invalid one means the usual size. */
export const avatarSize: Reader<number | undefined> = accepting(
  { type: 'integer', lenient: true, description: 'In pixels.' },
  (fields, name) => {
    const sent = fields.text(name) ?? ''
    return /^[1-9]\d{0,3}$/.test(sent) ? Number(sent) : undefined
  },
)

/** An account id in the path of a URL, as sent. The endpoint rejects malformed ids. */
export const emailParam: Reader<string> = map(
  (fields, name) => fields.text(name),
  (text) => text,
)

/** The roles on the wire. Administrators are marked by `is_staff` instead. */
export const wireRoles = ['default', 'guest'] as const
export type WireRole = (typeof wireRoles)[number]

/** The role that results from `is_staff` and `role`, both optional. */
export function effectiveRole(
  current: Account['role'],
  isStaff: boolean | undefined,
  role: WireRole | undefined,
): Account['role'] {
  if (isStaff ?? current === 'admin') return role === 'guest' ? refuse('role') : 'admin'
  return role ?? (current === 'guest' ? 'guest' : 'default')
}

/** The object without its undefined values: fields that stay unchanged. */
export function withoutUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

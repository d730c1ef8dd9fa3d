import { errorMessage, flag, map, type Reader, refuse } from '../../http/index.ts'
import { type AccountRule, AccountRuleError, type Role } from '../../identity/index.ts'

/** How each broken rule of an account is worded; `value` is what was asked for. */
export type RuleWords = Partial<Record<AccountRule, string | ((value: string) => string)>>

const commonWords: Required<RuleWords> = {
  'email-invalid': (email) => `Email ${email} invalid.`,
  'password-empty': 'password invalid.',
  'password-too-long': 'password invalid.',
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
  'quota-invalid': 'Must be an integer that is greater than or equal to 0.',
}

/** What `work` resolves to; a rule it breaks is answered with 400 in the words of the endpoint. */
export async function worded<T>(work: Promise<T>, words: RuleWords = {}): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AccountRuleError)) throw error
    const text = words[error.code] ?? commonWords[error.code]
    throw errorMessage(400, typeof text === 'string' ? text : text(error.value))
  }
}

/** As flag; undefined when nothing, or nothing but an empty text, was sent: a wish left open changes nothing. */
export const optionalFlag: Reader<boolean | undefined> = (fields, name) =>
  fields.has(name) && fields.text(name) !== '' ? flag()(fields, name) : undefined

/** A quota in MB, as bytes; undefined when nothing was sent. */
export function megabytes(words: { empty?: string; tooLow: string }): Reader<number | undefined> {
  return (fields, name) => {
    const sent = fields.text(name)
    if (!fields.has(name)) return undefined
    if (sent === '') return words.empty === undefined ? undefined : refuse(name, words.empty)
    if (sent === undefined || !/^[+-]?\d{1,16}$/.test(sent)) refuse(name, notWhole)
    if (Number(sent) < 0) refuse(name, words.tooLow)
    const bytes = Number(sent) * 1_000_000
    return Number.isSafeInteger(bytes) ? bytes : refuse(name, notWhole)
  }
}

const notWhole = 'Must be an integer that is greater than or equal to 0.'

/** An account id in the path of a URL, as sent: what is none is answered by the endpoint. */
export const emailParam: Reader<string> = map(
  (fields, name) => fields.text(name),
  (text) => text,
)

/** The roles there are on the wire, where being an administrator is not one. */
export const wireRoles = ['default', 'guest'] as const
export type WireRole = (typeof wireRoles)[number]

/** The role an account gets from `is_staff` and `role`, either of which may be left out. */
export function roleAfter(current: Role, isStaff: boolean | undefined, role: WireRole | undefined): Role {
  if (isStaff ?? current === 'admin') return role === 'guest' ? refuse('role') : 'admin'
  return role ?? (current === 'guest' ? 'guest' : 'default')
}

/** The object without what is undefined, which is how changes say "stays as it is". */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

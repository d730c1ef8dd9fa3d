import { integer, map, optional, optionalText, type Reader, text } from '../../../platform/input/index.ts'

const MAX_NAME = 64
const MAX_LIFE_DAYS = 3650

/** The permissions of a personal token by their wire names. */
export const tokenAccesses = { r: 'read', rw: 'write', upload: 'upload' } as const

/** The name of a personal token. */
export const tokenName: Reader<string> = map(text(), parseTokenName)

/** Undefined if it is empty, longer than 64 characters or has control characters. */
export function parseTokenName(sent: string): string | undefined {
  const name = sent.trim()
  return name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name) ? undefined : name
}

/** The life of a personal token; undefined for no end. */
export const lifeInDays = optional(integer({ min: 1, max: MAX_LIFE_DAYS }))

/** The password of the account, which confirms the call; undefined if it was not sent. */
export const currentPassword = optionalText('current_password invalid.')

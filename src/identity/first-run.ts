import { randomInt } from 'node:crypto'
import { DomainError } from '../errors.ts'
import type { Accounts } from './accounts.ts'

/** What the first start made. A generated password is known only here and has to be shown once. */
export type FirstRun =
  | { readonly created: false }
  | { readonly created: true; readonly email: string; readonly generatedPassword?: string }

/** Makes the administrator if nobody has an account yet. */
export async function ensureAdministrator(
  accounts: Accounts,
  wanted: { email: string; password: string | undefined },
): Promise<FirstRun> {
  if ((await accounts.count()) > 0) return { created: false }
  const generatedPassword = wanted.password ? undefined : readablePassword()
  const password = wanted.password || generatedPassword || ''
  try {
    const { email } = await accounts.create({ email: wanted.email, password, role: 'admin' })
    return generatedPassword === undefined
      ? { created: true, email }
      : { created: true, email, generatedPassword }
  } catch (error) {
    // Another process of this server started at the same moment and was first.
    if (error instanceof DomainError && error.fault.code === 'account-exists') return { created: false }
    throw error
  }
}

// No letters or digits that look like one another.
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

/** 99 bits as `xxxxx-xxxxx-xxxxx-xxxxx`. */
export function readablePassword(): string {
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}

import { randomInt } from 'node:crypto'
import { DomainError } from '../errors.ts'
import { parseEmail } from './account.ts'
import type { Accounts } from './accounts.ts'
import type { InitialPasswordFile } from './initial-password.ts'

/** What the first start made. A generated password has to be shown once, unless it is in a file. */
export type FirstRun =
  | { readonly created: false }
  | {
      readonly created: true
      readonly email: string
      readonly generatedPassword?: string
      readonly passwordFile?: string
    }

/**
 * Makes the administrator if nobody has an account yet. A generated password goes into `file`, if there is one, before
 * the account is made: a crash in between must not leave an account that nobody can open.
 */
export async function ensureAdministrator(
  accounts: Accounts,
  wanted: { email: string; password: string | undefined },
  file?: InitialPasswordFile,
): Promise<FirstRun> {
  if ((await accounts.count()) > 0) return { created: false }
  const generatedPassword = wanted.password ? undefined : readablePassword()
  const password = wanted.password || generatedPassword || ''
  const id = parseEmail(wanted.email) ?? wanted.email
  if (generatedPassword !== undefined) await file?.write(id, generatedPassword)
  try {
    const { email } = await accounts.create({ email: wanted.email, password, role: 'admin' })
    if (generatedPassword === undefined) return { created: true, email }
    return { created: true, email, ...(file ? { passwordFile: file.file } : { generatedPassword }) }
  } catch (error) {
    if (generatedPassword !== undefined) await file?.forget(id)
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

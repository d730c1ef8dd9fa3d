import { randomInt } from 'node:crypto'
import { DomainError } from '../../base/errors.ts'
import { type Accounts, parseEmail } from '../accounts/index.ts'
import type { InitialPasswordFile } from './initial-password.ts'

/** The result of the first start. A generated password must be shown once unless it is in a file. */
export type FirstRun =
  | { readonly created: false }
  | {
      readonly created: true
      readonly email: string
      readonly generatedPassword?: string
      readonly passwordFile?: string
    }

/**
 * Creates the administrator if there are no accounts. A generated password is written to `file`, if given,
 * before the account is created: a crash in between must not leave an account without a known password.
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
    const isGenerated = generatedPassword !== undefined
    const administrator = {
      email: wanted.email,
      password,
      passwordAssigned: isGenerated,
      role: 'admin',
    } as const
    const { email } = await accounts.create(administrator, undefined)
    if (generatedPassword === undefined) return { created: true, email }
    return { created: true, email, ...(file ? { passwordFile: file.file } : { generatedPassword }) }
  } catch (error) {
    if (generatedPassword !== undefined) await file?.deleteFor(id)
    // Another process of this server started concurrently and was first.
    if (error instanceof DomainError && error.fault.code === 'account-exists') return { created: false }
    throw error
  }
}

// Without letters and digits that look alike.
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'

/** 99 bits as `xxxxx-xxxxx-xxxxx-xxxxx`. */
export function readablePassword(): string {
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}

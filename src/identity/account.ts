import type { Scope } from './scope.ts'

/** What an account may do on the server as a whole; permissions on libraries are another matter. */
export type Role = 'default' | 'guest' | 'admin'

/** A person (or a machine) that can sign in. Secrets are not part of it. */
export interface Account {
  readonly key: number
  /** The account id: lower-cased and e-mail-shaped. It never changes. */
  readonly email: string
  /** The nickname, or ''. What is shown is `displayName`. */
  readonly name: string
  /** As set, or ''. What is shown is `contactEmailOf`. */
  readonly contactEmail: string
  /** Whether an administrator vouched for the contact address. Only then can it be used to sign in. */
  readonly contactVerified: boolean
  /** A second name to sign in with, or ''. */
  readonly loginId: string
  readonly department: string
  readonly institution: string
  readonly listInAddressBook: boolean
  readonly role: Role
  readonly active: boolean
  /** Bytes; 0 means the default of the server. */
  readonly quota: number
  readonly defaultLibraryKey: number | null
  readonly createdAt: number
  readonly lastLoginAt: number | null
  /** The name of the picture, and since when it is; undefined for none. */
  readonly avatar?: string | undefined
  readonly avatarAt?: number | undefined
  /** Grows when everything derived from the account's sign-ins must end. */
  readonly epoch: number
  /** The API token this request came with; never stored, undefined for an account that was merely looked up. */
  readonly apiTokenKey?: number | undefined
  /** The bounds of the credential this request came with; never stored, undefined for none. */
  readonly scope?: Scope | undefined
}

/** What is shown of an account wherever somebody did something. */
export interface Person {
  readonly email: string
  readonly name: string
  readonly contactEmail: string
  /** The name of the picture; undefined for none. */
  readonly avatar?: string | undefined
}

/** The nickname, else what stands before the `@` of the contact e-mail. */
export function displayName(account: Pick<Account, 'email' | 'name' | 'contactEmail'>): string {
  return account.name || beforeAt(contactEmailOf(account))
}

/** The contact e-mail, else the account id. */
export function contactEmailOf(account: Pick<Account, 'email' | 'contactEmail'>): string {
  return account.contactEmail || account.email
}

/** Whether the contact address as shown can be used to sign in. */
export function isContactVerified(account: Pick<Account, 'contactEmail' | 'contactVerified'>): boolean {
  return account.contactEmail === '' || account.contactVerified
}

export function personOf(account: Pick<Account, 'email' | 'name' | 'contactEmail' | 'avatar'>): Person {
  return {
    email: account.email,
    name: displayName(account),
    contactEmail: contactEmailOf(account),
    ...(account.avatar && { avatar: account.avatar }),
  }
}

/** What is shown for an e-mail nobody here goes by: a former account, or a name in a synced commit. */
export function strangerCalled(email: string): Person {
  return { email, name: beforeAt(email), contactEmail: email }
}

export function isAdmin(account: Pick<Account, 'role'>): boolean {
  return account.role === 'admin'
}

const longestEmail = 255
// Quotes, brackets and separators never stand in a plain address, and a colon marks removed accounts.
const emailShape = /^[^\p{C}\p{Z}@/\\:;,"<>()[\]]+@[^\p{C}\p{Z}@/\\:;,"<>()[\]]+$/u

/** An account id out of outside text: lower-cased, e-mail-shaped, at most 255 characters. */
export function parseEmail(text: string): string | undefined {
  if (text.length > 2 * longestEmail) return undefined
  const email = text.trim().normalize('NFC').toLowerCase()
  return email.length <= longestEmail && emailShape.test(email) ? email : undefined
}

// The row of a removed account stays, because libraries in the trash refer to it. Its e-mail gets
// this mark, which no parsed e-mail can hold, so nothing finds it and the e-mail is free again.
export const removedMark = 'deleted:'

export function emailOnceRemoved(account: Pick<Account, 'key' | 'email'>): string {
  return `${removedMark}${account.key}:${account.email}`
}

export function isRemoved(storedEmail: string): boolean {
  return storedEmail.startsWith(removedMark)
}

/** The e-mail to show for an owner found in a row, who may have been removed since. */
export function emailAsShown(storedEmail: string): string {
  return isRemoved(storedEmail) ? storedEmail.replace(/^deleted:\d+:/, '') : storedEmail
}

function beforeAt(email: string): string {
  const at = email.indexOf('@')
  return at > 0 ? email.slice(0, at) : email
}

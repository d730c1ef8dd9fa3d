import type { Language } from '../../base/texts/index.ts'
import type { AuditActor } from '../audit/index.ts'
import type { Scope } from './scope.ts'

/** The role of an account on the server. Permissions on libraries are separate. */
export type Role = 'default' | 'guest' | 'admin'

/** When notifications are mailed: within minutes, once a day, or never. */
export const mailNoticesChoices = ['at-once', 'daily', 'off'] as const
export type MailNotices = (typeof mailNoticesChoices)[number]

/** A person or program that can sign in. Contains no secrets. */
export interface Account {
  readonly key: number
  /** The account id: lower-cased and e-mail-shaped. It never changes. */
  readonly email: string
  /** The nickname, or ''. `displayName` is what users see. */
  readonly name: string
  /** As set, or ''. `contactEmailOf` is what users see. */
  readonly contactEmail: string
  /** Whether an administrator verified the contact address. Only then can it be used to sign in. */
  readonly contactVerified: boolean
  /** An alternative login name, or ''. */
  readonly loginId: string
  readonly department: string
  readonly institution: string
  readonly listInAddressBook: boolean
  readonly role: Role
  readonly active: boolean
  /** Bytes; 0 for the server's default. */
  readonly quota: number
  readonly defaultLibraryKey: number | null
  readonly createdAt: number
  readonly lastLoginAt: number | null
  /** The name of the picture, and the time it was set; undefined for none. */
  readonly avatar?: string | undefined
  readonly avatarAt?: number | undefined
  /** The language of mails; undefined until it is known. */
  readonly language?: Language | undefined
  /** When notifications are mailed. */
  readonly mailNotices: MailNotices
  /** How long notifications are collected for one mail, with `at-once`; undefined for a minute. */
  readonly mailIntervalSeconds?: number | undefined
  /** How long changes in monitored libraries are collected for one mail; 0 sends none. */
  readonly updateMailSeconds: number
  /** Whether it signs in with a second factor. Its password alone then opens nothing. */
  readonly hasSecondFactor: boolean
  /** From when on it cannot sign in without a second factor, in Unix seconds; undefined until it first signs in while it needs one. */
  readonly secondFactorDueAt?: number | undefined
  /** Incrementing it revokes everything derived from the account's sessions. */
  readonly epoch: number
  /** The API token of this request. Not stored; undefined for an account that was only looked up. */
  readonly apiTokenKey?: number | undefined
  /** The scope of this request's credential. Not stored; undefined for none. */
  readonly scope?: Scope | undefined
}

/** The public part of an account. */
export interface Person {
  readonly email: string
  readonly name: string
  readonly contactEmail: string
  /** The name of the picture; undefined for none. */
  readonly avatar?: string | undefined
}

/** The nickname, or the local part of the contact e-mail. */
export function displayName(account: Pick<Account, 'email' | 'name' | 'contactEmail'>): string {
  return account.name || beforeAt(contactEmailOf(account))
}

/** The contact e-mail, or the account id. */
export function contactEmailOf(account: Pick<Account, 'email' | 'contactEmail'>): string {
  return account.contactEmail || account.email
}

/** Whether the shown contact address can be used to sign in. */
export function isContactVerified(account: Pick<Account, 'contactEmail' | 'contactVerified'>): boolean {
  return account.contactEmail === '' || account.contactVerified
}

/** Where mail to an account goes: the contact address if it is verified, else the account id. Nobody can so have mail sent to others. */
export function mailAddressOf(account: Pick<Account, 'email' | 'contactEmail' | 'contactVerified'>): string {
  return account.contactVerified ? contactEmailOf(account) : account.email
}

export function personOf(account: Pick<Account, 'email' | 'name' | 'contactEmail' | 'avatar'>): Person {
  return {
    email: account.email,
    name: displayName(account),
    contactEmail: contactEmailOf(account),
    ...(account.avatar && { avatar: account.avatar }),
  }
}

/** A person for an e-mail without an account: a former account, or an author of a synced commit. */
export function unknownPerson(email: string): Person {
  return { email, name: beforeAt(email), contactEmail: email }
}

export function isAdmin(account: Pick<Account, 'role'>): boolean {
  return account.role === 'admin'
}

const longestEmail = 255
// Quotes, brackets and separators do not occur in a plain address, and a colon marks removed accounts.
const emailShape = /^[^\p{C}\p{Z}@/\\:;,"<>()[\]]+@[^\p{C}\p{Z}@/\\:;,"<>()[\]]+$/u

/** Parses an account id: lower-cased, e-mail-shaped, at most 255 characters. */
export function parseEmail(text: string): string | undefined {
  if (text.length > 2 * longestEmail) return undefined
  const email = loginName(text)
  return email.length <= longestEmail && emailShape.test(email) ? email : undefined
}

// The row of a removed account stays, because libraries in the trash refer to it. Its e-mail gets this
// prefix, which no parsed e-mail contains, so that the row is never found and the e-mail is free again.
export const removedMark = 'deleted:'

export function emailOnceRemoved(account: Pick<Account, 'key' | 'email'>): string {
  return `${removedMark}${account.key}:${account.email}`
}

export function isRemoved(storedEmail: string): boolean {
  return storedEmail.startsWith(removedMark)
}

/** The e-mail to show for a stored one, whose account may have been removed. */
export function emailAsShown(storedEmail: string): string {
  return isRemoved(storedEmail) ? storedEmail.replace(/^deleted:\d+:/, '') : storedEmail
}

function beforeAt(email: string): string {
  const at = email.indexOf('@')
  return at > 0 ? email.slice(0, at) : email
}

/**
 * The normal form of a name typed at a sign-in: trimmed, NFC, lower case. Accounts are found by it and attempts are counted by it, so that another
 * spelling of a name is neither another account nor another budget of guesses.
 */
export function loginName(typed: string): string {
  return typed.trim().normalize('NFC').toLowerCase()
}

/** The account as the actor of audited actions that it asks for from an address. */
export function auditActor(account: Account, { address }: { readonly address: string }): AuditActor {
  return { actor: account.email, address, isUnlimited: isAdmin(account) }
}

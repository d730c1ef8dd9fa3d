import type { Transaction } from '../database.ts'
import type { Migration } from './types.ts'

export const signIn: Migration = {
  version: 13,
  name: 'sign-in',
  async up(tx, { int }) {
    // 1 once an administrator vouched for the contact address, which can then be used to sign in.
    await tx.run(`alter table account add column contact_verified ${int} not null default 0`)
    await verifyContactsSetByAdministrators(tx)
    await tx.run('drop index account_by_contact')
    // Addresses that nobody verified may be claimed by several accounts; they reserve nothing.
    await tx.run(
      'create unique index account_by_verified_contact on account (contact_email) where contact_verified = 1',
    )
    await removeTypedNames(tx)
  },
}

/**
 * The audit log names the address of every contact that an administrator set. Holders' own changes are not in it,
 * so what it does not confirm stays unverified.
 */
async function verifyContactsSetByAdministrators(tx: Transaction): Promise<void> {
  const accounts = await tx.all<{ key: number; email: string; contact_email: string }>(
    "select key, email, contact_email from account where contact_email <> '' order by key",
  )
  const verified = new Set<string>()
  for (const { key, email, contact_email: contact } of accounts) {
    if (verified.has(contact)) continue
    const changes = await tx.all<{ detail: string }>(
      `select detail from audit_entry
       where object_id = ? and action in ('account-made', 'account-changed')`,
      email,
    )
    if (!changes.some(({ detail }) => contactIn(detail) === contact)) continue
    verified.add(contact)
    await tx.run('update account set contact_verified = 1 where key = ?', key)
  }
}

function contactIn(detail: string): string | undefined {
  const { contactEmail } = JSON.parse(detail) as Record<string, unknown>
  return typeof contactEmail === 'string' ? contactEmail.trim().normalize('NFC').toLowerCase() : undefined
}

/**
 * Failed sign-ins were recorded with the name as typed, and people type passwords there. Names that are or were an
 * account's stay. All others are removed: the secret that would hash them is not known here.
 */
async function removeTypedNames(tx: Transaction): Promise<void> {
  await tx.run(
    `update audit_entry set actor = 'unknown', object_id = 'unknown'
     where action = 'login-failed' and lower(trim(actor)) not in (
       select email from account
       union select substr(email, length('deleted:' || key || ':') + 1) from account where email like 'deleted:%'
       union select contact_email from account
       union select lower(login_id) from account where login_id is not null
     )`,
  )
}

import { isDeepStrictEqual } from 'node:util'
import { fail } from '../../base/errors.ts'
import type { Language } from '../../base/texts/index.ts'
import { type Database, DatabaseError, type Reader, type Transaction } from '../../platform/database/index.ts'
import { type Audit, type AuditActor, accountAction } from '../audit/index.ts'
import { type Account, type MailNotices, parseEmail, type Role } from './account.ts'
import {
  AccountRuleError,
  checkedContactEmail,
  checkedDepartment,
  checkedEmail,
  checkedInstitution,
  checkedLoginId,
  checkedName,
  checkedPassword,
  checkedQuota,
  isPlainText,
} from './account-rules.ts'
import {
  type AccountQuery,
  type AccountValues,
  type Credentials,
  countAccounts,
  findAccount,
  findAccountByKey,
  findCredentialsByLogin,
  incrementEpoch,
  insertAccount,
  isContactTaken,
  listAccounts,
  lockActiveAdministrators,
  markRemoved,
  searchAccounts,
  selectAccounts,
  updateAccount,
} from './account-store.ts'
import { deleteAvatar } from './avatar-store.ts'
import type { AccountDependent, AccountSecrets, GroupDependent } from './dependents.ts'
import type { Directory } from './directory.ts'
import { leaveGroups } from './groups.ts'

/** Changes of an account. Omitted fields stay as they are. */
export interface AccountChanges {
  readonly password?: string
  /** Whether the password was assigned by another person or by the server. True by default. One that the owner chooses must not be a common one. */
  readonly passwordAssigned?: boolean
  readonly name?: string
  /** '' removes it, so that the account id is shown again. */
  readonly contactEmail?: string
  /** Set together with a verified contact address. Otherwise a new address is unverified. */
  readonly contactVerified?: true
  /** Null removes it. */
  readonly loginId?: string | null
  readonly department?: string
  readonly institution?: string
  readonly listInAddressBook?: boolean
  readonly role?: Role
  readonly active?: boolean
  /** Bytes; 0 for the default of the server. */
  readonly quota?: number
  readonly defaultLibraryKey?: number | null
  readonly language?: Language
  /** Ends an interval that was set before. */
  readonly mailNotices?: MailNotices
  /** Seconds that notifications are collected for one mail; 0 sends none. */
  readonly mailIntervalSeconds?: number
  /** Seconds that changes in monitored libraries are collected for one mail; 0 sends none. */
  readonly updateMailSeconds?: number
}

interface NewAccount extends AccountChanges {
  readonly email: string
  readonly password: string
}

interface AccountsOptions {
  readonly db: Database
  readonly audit: Audit
  readonly secrets: AccountSecrets
  /** The fewest characters of a new password. Default: 8. */
  readonly shortestPassword?: number | undefined
  /** Unix seconds. */
  readonly now: () => number
  /** Invalidated by every change, so that this process shows new names at once. */
  readonly directory?: Directory
  /** The modules with rows that refer to accounts, highest in the import order first. */
  readonly dependents: readonly AccountDependent[]
  readonly groupDependents: readonly GroupDependent[]
  /** Called after commit when all credentials of an account were revoked. */
  readonly onSignOut?: (account: Account) => void | Promise<void>
}

const SHORTEST_PASSWORD = 8

/** The hash queue source of all new accounts, so that an import does not delay sign-ins. */
const NEW_ACCOUNTS = 'new accounts'

/** Writes further rows in the transaction that creates or changes an account, for example of a mail to it. */
type AccountHook = (tx: Transaction, account: Account) => Promise<void>

/** All accounts. E-mails are untrusted text: an invalid one is just not found. What `by` asks for is audited. */
export class Accounts {
  readonly #options: AccountsOptions
  readonly #db: Database

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#db = options.db
  }

  /** Throws account-exists, login-id-taken, or AccountRuleError. `also` is written in the same transaction. */
  async create(wanted: NewAccount, by: AuditActor | undefined, also?: AccountHook): Promise<Account> {
    const { email: _email, password: _password, ...audited } = wanted
    const email = checkedEmail(wanted.email)
    const values = await this.#valuesOf(wanted, NEW_ACCOUNTS)
    const row = {
      role: 'default' as const,
      active: 1,
      password_hash: '',
      ...values,
      email,
      created_at: this.#options.now(),
    }
    const created = await this.#db.write(async (tx) => {
      await this.#checkContact(tx, email, values)
      const made = await insertAccount(tx, row)
      const account = await findAccount(tx, email)
      if (made && account) {
        await this.#options.audit.record(tx, by, accountAction('account-made', email, audited))
        await also?.(tx, account)
        return account
      }
      if (account) return fail({ code: 'account-exists', email })
      await this.#checkContact(tx, email, values)
      if (!row.login_id) return fail({ code: 'account-exists', email })
      return fail({ code: 'login-id-taken', loginId: row.login_id })
    })
    this.#options.directory?.invalidate(email)
    return created
  }

  async find(email: string): Promise<Account | undefined> {
    const parsed = parseEmail(email)
    return parsed === undefined ? undefined : findAccount(this.#db, parsed)
  }

  /** Throws account-not-found. */
  async get(email: string): Promise<Account> {
    return (await this.find(email)) ?? fail({ code: 'account-not-found', email })
  }

  async findByKey(key: number): Promise<Account | undefined> {
    return findAccountByKey(this.#db, key)
  }

  /** By account id, login id or verified contact address. */
  async findByLogin(text: string): Promise<Account | undefined> {
    return (await this.findCredentials(text))?.account
  }

  /** As findByLogin, with the hash that PasswordChecks compares the password with. */
  async findCredentials(login: string): Promise<Credentials | undefined> {
    const text = login.trim()
    if (text === '' || !isPlainText(text)) return undefined
    return findCredentialsByLogin(this.#db, text, parseEmail(text))
  }

  /** The accounts among `emails`, by account id. */
  async findMany(emails: Iterable<string>): Promise<Map<string, Account>> {
    const wanted = new Set<string>()
    for (const email of emails) {
      const parsed = parseEmail(email)
      if (parsed !== undefined) wanted.add(parsed)
    }
    const found = await selectAccounts(this.#db, 'email', [...wanted])
    return new Map(found.map((account) => [account.email, account]))
  }

  async findManyByKey(keys: Iterable<number>): Promise<Map<number, Account>> {
    const found = await selectAccounts(this.#db, 'key', [...new Set(keys)])
    return new Map(found.map((account) => [account.key, account]))
  }

  /** One page, by default in order of creation, and the total. */
  async list(query: AccountQuery): Promise<{ accounts: Account[]; total: number }> {
    return {
      accounts: await listAccounts(this.#db, query),
      total: await countAccounts(this.#db, query),
    }
  }

  /**
   * Accounts that contain `text` in id, nickname, contact e-mail or login id. An exact id comes first. `among` limits them to these keys.
   */
  async search(
    text: string,
    options: { limit?: number; onlyActive?: boolean; among?: readonly number[] | undefined } = {},
  ): Promise<Account[]> {
    if (!isPlainText(text)) return []
    return searchAccounts(this.#db, text, { limit: 10, onlyActive: true, ...options })
  }

  async count(query: Pick<AccountQuery, 'active' | 'roles'> = {}): Promise<number> {
    return countAccounts(this.#db, query)
  }

  /**
   * Changes the given fields. A new password and a deactivation revoke all sessions. Accounts change their own profile without an entry in
   * the audit log, so without `by`. `also` is written in the same transaction. Throws account-not-found, login-id-taken, last-administrator,
   * or AccountRuleError.
   */
  update(
    email: string,
    changes: AccountChanges,
    by: AuditActor | undefined,
    also?: AccountHook,
  ): Promise<Account> {
    return this.#change(email, changes, async (tx, account, isChanged) => {
      await also?.(tx, account)
      if (!isChanged) return
      const action = accountAction('account-changed', account.email, auditableChanges(changes))
      await this.#options.audit.record(tx, by, action)
    })
  }

  /**
   * Sets the password, which revokes all sessions. One that the owner chose must not be a common one. `also` is written in the same
   * transaction. Throws as update.
   */
  setPassword(
    email: string,
    { password, chosenByOwner }: { readonly password: string; readonly chosenByOwner: boolean },
    by: AuditActor | undefined,
    also?: AccountHook,
  ): Promise<Account> {
    return this.#change(email, { password, passwordAssigned: !chosenByOwner }, async (tx, account) => {
      await also?.(tx, account)
      await this.#options.audit.record(tx, by, accountAction('password-changed', account.email))
    })
  }

  async #change(
    email: string,
    changes: AccountChanges,
    also: (tx: Transaction, account: Account, isChanged: boolean) => Promise<void>,
  ): Promise<Account> {
    const id = parseEmail(email) ?? fail({ code: 'account-not-found', email })
    if (changes.password !== undefined && changes.passwordAssigned === false) {
      const names = namesOf(await this.get(id))
      const isCommon = await this.#options.secrets.isCommon(this.#checkedPassword(changes.password), names)
      if (isCommon) throw new AccountRuleError('password-too-common')
    }
    const values = await this.#valuesOf(changes, id)
    if (Object.keys(values).length === 0) return this.get(id)
    const signsOut = changes.password !== undefined || changes.active === false
    const { secrets } = this.#options
    const stepsDown = changes.active === false || (changes.role ?? 'admin') !== 'admin'
    try {
      const updated = await this.#db.write(async (tx) => {
        await this.#checkContact(tx, id, values)
        if (stepsDown) await checkNotLastAdministrator(tx, id)
        const before = await findAccount(tx, id)
        const changed = await updateAccount(tx, id, await withContactUnchanged(tx, id, values))
        if (!changed) fail({ code: 'account-not-found', email: id })
        const account = signsOut ? await this.#revokeAll(tx, id) : await findAccount(tx, id)
        if (!account) return fail({ code: 'account-not-found', email: id })
        const isChanged = changes.password !== undefined || !isSameAccount(before, account)
        await also(tx, account, isChanged)
        // Links in earlier mails end with the password or the address they were sent to.
        if (signsOut) await secrets.onMailedLinksEnded(tx, account.key, 'all')
        else if (changes.contactEmail !== undefined) {
          await secrets.onMailedLinksEnded(tx, account.key, 'password')
        }
        return account
      })
      if (signsOut) await this.#options.onSignOut?.(updated)
      return updated
    } catch (error) {
      if (!isTaken(error)) throw error
      // Another process took one of them after the check. Only these two are both unique and changeable.
      await this.#checkContact(this.#db, id, values)
      if (values.login_id) fail({ code: 'login-id-taken', loginId: values.login_id })
      throw error
    } finally {
      this.#options.directory?.invalidate(id)
    }
  }

  /**
   * Revokes every session and every personal, library and sync token of the account, with all derived
   * credentials. Throws account-not-found.
   */
  async signOutEverywhere({ email }: Pick<Account, 'email'>, by: AuditActor | undefined): Promise<void> {
    const account = await this.#db.write(async (tx) => {
      const found = await this.#revokeAll(tx, email)
      if (!found) return fail({ code: 'account-not-found', email })
      await this.#options.audit.record(tx, by, accountAction('logout', found.email, { everywhere: true }))
      await this.#options.secrets.onMailedLinksEnded(tx, found.key, 'all')
      return found
    })
    await this.#options.onSignOut?.(account)
  }

  /**
   * Removes the account and frees its e-mail and login id. The row stays, without credentials, because
   * libraries in the trash refer to it. Throws account-not-found, last-administrator.
   */
  async remove(email: string, by: AuditActor | undefined): Promise<void> {
    const id = parseEmail(email) ?? fail({ code: 'account-not-found', email })
    const removed = await this.#db.write(async (tx) => {
      await checkNotLastAdministrator(tx, id)
      const account = await findAccount(tx, id)
      if (!account || !(await markRemoved(tx, account))) return fail({ code: 'account-not-found', email: id })
      for (const dependent of this.#options.dependents) await dependent.onAccountRemoved(tx, account)
      await leaveGroups(tx, account.key, this.#options.groupDependents)
      await deleteAvatar(tx, account.key)
      await this.#options.secrets.onAccountRemoved(tx, account.key)
      await this.#options.audit.record(tx, by, accountAction('account-deleted', account.email))
      return account
    })
    await this.#options.onSignOut?.(removed)
    this.#options.directory?.invalidate(id)
  }

  /** Validates each field and hashes the password, so that slow work happens before the transaction. */
  async #valuesOf(changes: AccountChanges, queue: string): Promise<AccountValues> {
    const { password, name, contactEmail, loginId, department, institution, quota } = changes
    const values: AccountValues = {}
    if (name !== undefined) values.name = checkedName(name)
    if (contactEmail !== undefined) {
      values.contact_email = checkedContactEmail(contactEmail)
      values.contact_verified = changes.contactVerified && values.contact_email !== '' ? 1 : 0
    }
    if (loginId !== undefined) values.login_id = checkedLoginId(loginId)
    if (department !== undefined) values.department = checkedDepartment(department)
    if (institution !== undefined) values.institution = checkedInstitution(institution)
    if (quota !== undefined) values.quota = checkedQuota(quota)
    if (changes.listInAddressBook !== undefined) {
      values.list_in_address_book = changes.listInAddressBook ? 1 : 0
    }
    if (changes.role !== undefined) values.role = changes.role
    if (changes.active !== undefined) values.active = changes.active ? 1 : 0
    if (changes.language !== undefined) values.language = changes.language
    Object.assign(values, mailValues(changes))
    if (changes.defaultLibraryKey !== undefined) values.default_library_key = changes.defaultLibraryKey
    if (password !== undefined) {
      values.password_assigned = (changes.passwordAssigned ?? true) ? 1 : 0
      values.password_hash = await this.#options.secrets.hash(this.#checkedPassword(password), queue)
    }
    return values
  }

  #checkedPassword(password: string): string {
    return checkedPassword(password, this.#options.shortestPassword ?? SHORTEST_PASSWORD)
  }

  /**
   * Revokes all credentials of an account. The epoch covers those without a row, and those being issued
   * concurrently.
   */
  async #revokeAll(tx: Transaction, email: string): Promise<Account | undefined> {
    await incrementEpoch(tx, email)
    const account = await findAccount(tx, email)
    if (account !== undefined) await this.#options.secrets.onSignedOut(tx, account.key)
    return account
  }

  // A unique index rejects concurrent changes of two processes.
  async #checkContact(reader: Reader, email: string, { contact_email: contact }: AccountValues) {
    if (contact && (await isContactTaken(reader, contact, email))) {
      throw new AccountRuleError('contact-email-taken', contact)
    }
  }
}

/** Without secrets. */
function auditableChanges({ password, ...shown }: AccountChanges): Record<string, unknown> {
  return { ...shown, ...(password !== undefined && { password: 'changed' }) }
}

/** A contact address that is set to its current value keeps its verification. */
async function withContactUnchanged(
  tx: Transaction,
  email: string,
  values: AccountValues,
): Promise<AccountValues> {
  if (values.contact_email === undefined || values.contact_verified === 1) return values
  const account = await findAccount(tx, email)
  if (account?.contactEmail !== values.contact_email) return values
  const { contact_verified: _unchanged, ...others } = values
  return others
}

/** Reads the account after locking, so that two administrators cannot remove each other concurrently. */
async function checkNotLastAdministrator(tx: Transaction, email: string): Promise<void> {
  if ((await lockActiveAdministrators(tx)) > 1) return
  const account = await findAccount(tx, email)
  if (account?.role === 'admin' && account.active) fail({ code: 'last-administrator', email })
}

/** What a guess begins with. */
function namesOf({ email, contactEmail, loginId, name }: Account): string[] {
  return [email, contactEmail].map((address) => address.split('@', 1)[0] ?? '').concat(loginId, name)
}

const DAY_SECONDS = 86_400

/** An interval of a day is the daily mail, which has a fixed time. */
function mailValues(changes: AccountChanges): AccountValues {
  const { mailNotices, mailIntervalSeconds: interval, updateMailSeconds: updates } = changes
  const isOwn = interval !== undefined && interval !== 0 && interval !== DAY_SECONDS
  const ofInterval = interval === 0 ? 'off' : interval === DAY_SECONDS ? 'daily' : 'at-once'
  return {
    ...(mailNotices !== undefined && { mail_notices: mailNotices, mail_interval: null }),
    ...(interval !== undefined && { mail_notices: ofInterval, mail_interval: isOwn ? interval : null }),
    ...(updates !== undefined && { update_mail_interval: updates }),
  }
}

/** The epoch counts sign-outs. It is no field that callers set. */
function isSameAccount(before: Account | undefined, after: Account): boolean {
  return isDeepStrictEqual({ ...before, epoch: 0 }, { ...after, epoch: 0 })
}

function isTaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.reason === 'unique'
}

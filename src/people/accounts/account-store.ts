import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import { isLanguage, type Language } from '../../base/texts/index.ts'
import type { Dialect, Reader, Transaction, Value } from '../../platform/database/index.ts'
import {
  type Account,
  emailOnceRemoved,
  isRemoved,
  type MailNotices,
  mailNoticesChoices,
  type Role,
  removedMark,
} from './account.ts'

/** The columns of an `Account`, without `password_hash`. */
export const accountColumns = [
  'key',
  'email',
  'name',
  'contact_email',
  'contact_verified',
  'login_id',
  'department',
  'institution',
  'list_in_address_book',
  'role',
  'active',
  'quota',
  'default_library_key',
  'created_at',
  'last_login_at',
  'avatar',
  'avatar_at',
  'epoch',
  'language',
  'mail_notices',
  'mail_interval',
  'update_mail_interval',
  'second_factor',
  'second_factor_due_at',
]
  .map((column) => `account.${column}`)
  .join(', ')

export interface AccountRow {
  key: number
  email: string
  name: string
  contact_email: string
  contact_verified: number
  login_id: string | null
  department: string
  institution: string
  list_in_address_book: number
  role: Role
  active: number
  quota: number
  default_library_key: number | null
  created_at: number
  last_login_at: number | null
  avatar: string
  avatar_at: number
  epoch: number
  language: string
  mail_notices: string
  mail_interval: number | null
  update_mail_interval: number
  second_factor: number
  second_factor_due_at: number | null
}

export function accountFromRow(row: AccountRow): Account {
  return {
    key: row.key,
    email: row.email,
    name: row.name,
    contactEmail: row.contact_email,
    contactVerified: row.contact_verified === 1,
    loginId: row.login_id ?? '',
    department: row.department,
    institution: row.institution,
    listInAddressBook: row.list_in_address_book === 1,
    role: row.role,
    active: row.active === 1,
    quota: row.quota,
    defaultLibraryKey: row.default_library_key,
    createdAt: row.created_at,
    lastLoginAt: row.last_login_at,
    epoch: row.epoch,
    mailNotices: mailNoticesChoices.find((choice) => choice === row.mail_notices) ?? 'at-once',
    updateMailSeconds: row.update_mail_interval,
    hasSecondFactor: row.second_factor === 1,
    ...(row.second_factor_due_at !== null && { secondFactorDueAt: row.second_factor_due_at }),
    ...(row.mail_interval !== null && { mailIntervalSeconds: row.mail_interval }),
    ...(isLanguage(row.language) && { language: row.language }),
    ...(row.avatar !== '' && { avatar: row.avatar, avatarAt: row.avatar_at }),
  }
}

/** An account with its password hash, for password checks. */
export interface Credentials {
  readonly account: Account
  readonly passwordHash: string
}

const notRemoved = `substr(account.email, 1, ${removedMark.length}) <> '${removedMark}'`

export async function findAccount(reader: Reader, email: string): Promise<Account | undefined> {
  return (await findCredentials(reader, email))?.account
}

async function findCredentials(reader: Reader, email: string): Promise<Credentials | undefined> {
  const [found] = await selectCredentials(reader, 'email = ?', email)
  return found
}

/**
 * Account ids take precedence over login ids, and those over verified contact addresses. A single statement,
 * so that an unknown name takes no more queries than a known one.
 */
export async function findCredentialsByLogin(
  reader: Reader,
  text: string,
  email: string | undefined,
): Promise<Credentials | undefined> {
  // Login ids are stored in NFC. Earlier versions and imports stored them as they were typed.
  const composed = text.normalize('NFC')
  const condition = 'email = ? or login_id in (?, ?) or (contact_email = ? and contact_verified = 1)'
  const found = await selectCredentials(reader, condition, email ?? null, text, composed, email ?? null)
  return (
    found.find(({ account }) => account.email === email) ??
    found.find(({ account }) => account.loginId === text) ??
    found.find(({ account }) => account.loginId === composed) ??
    found[0]
  )
}

async function selectCredentials(reader: Reader, condition: string, ...parameters: Value[]) {
  const rows = await reader.all<AccountRow & { password_hash: string }>(
    `select ${accountColumns}, account.password_hash from account where ${condition}`,
    ...parameters,
  )
  return rows.map((row) => ({ account: accountFromRow(row), passwordHash: row.password_hash }))
}

export function findAccountByKey(reader: Reader, key: number): MaybePromise<Account | undefined> {
  return whenReady(reader.get<AccountRow>(BY_KEY, key), (row) => row && convertedFrom(row))
}

function convertedFrom(row: AccountRow): Account {
  const known = converted.get(row)
  if (known !== undefined) return known
  const account = accountFromRow(row)
  converted.set(row, account)
  return account
}

/** The row cache may return the same row object again. Its Account is then reused. */
const converted = new WeakMap<AccountRow, Account>()

const BY_KEY = `select ${accountColumns} from account where key = ? and ${notRemoved}`

const mostAtOnce = 512

/** The accounts whose column has one of the values, without removed ones. */
export async function selectAccounts(
  reader: Reader,
  column: 'key' | 'email',
  values: readonly Value[],
): Promise<Account[]> {
  const found: Account[] = []
  for (let start = 0; start < values.length; start += mostAtOnce) {
    const some = padded(values.slice(start, start + mostAtOnce))
    const marks = some.map(() => '?').join(', ')
    const rows = await reader.all<AccountRow>(
      `select ${accountColumns} from account where ${column} in (${marks}) and ${notRemoved}`,
      ...some,
    )
    for (const row of rows) found.push(accountFromRow(row))
  }
  return found
}

/** Repeats the first value up to a power of two, so that ten prepared statements cover every length. */
function padded(values: readonly Value[]): Value[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, index) => values[index] ?? values[0] ?? null)
}

/** The sort orders of account lists. Ties are ordered by creation. */
const orders = {
  created: 'key',
  email: 'email',
  name: 'name',
  quota: 'quota',
  'last-login': 'coalesce(last_login_at, 0)',
}

export interface AccountQuery {
  readonly offset?: number
  readonly limit: number
  readonly orderBy?: keyof typeof orders
  readonly descending?: boolean
  readonly active?: boolean
  /** Only accounts with one of these roles. */
  readonly roles?: readonly Role[]
}

export async function listAccounts(reader: Reader, query: AccountQuery): Promise<Account[]> {
  const { condition, parameters } = conditionOf(query)
  const order = orders[query.orderBy ?? 'created']
  const direction = query.descending ? 'desc' : 'asc'
  const rows = await reader.all<AccountRow>(
    `select ${accountColumns} from account where ${condition}
     order by ${order} ${direction}, key limit ? offset ?`,
    ...parameters,
    query.limit,
    query.offset ?? 0,
  )
  return rows.map(accountFromRow)
}

export async function countAccounts(
  reader: Reader,
  query: Pick<AccountQuery, 'active' | 'roles'> = {},
): Promise<number> {
  const { condition, parameters } = conditionOf(query)
  const row = await reader.get<{ total: number }>(
    `select count(*) as total from account where ${condition}`,
    ...parameters,
  )
  return row?.total ?? 0
}

function conditionOf({ active, roles }: Pick<AccountQuery, 'active' | 'roles'>) {
  const conditions = [notRemoved]
  const parameters: Value[] = []
  if (active !== undefined) {
    conditions.push('active = ?')
    parameters.push(active ? 1 : 0)
  }
  if (roles !== undefined) {
    conditions.push(`role in (${roles.map(() => '?').join(', ')})`)
    parameters.push(...roles)
  }
  return { condition: conditions.join(' and '), parameters }
}

/** Accounts that contain `text` in id, nickname, contact e-mail or login id. An exact id comes first. */
export async function searchAccounts(
  reader: Reader,
  text: string,
  { limit, onlyActive, among }: { limit: number; onlyActive: boolean; among?: readonly number[] | undefined },
): Promise<Account[]> {
  const lower = text.toLowerCase()
  const inEmail = `%${escapeLike(lower)}%`
  // In both databases lower() converts ASCII letters only, so the text is converted in the same way.
  const inText = `%${escapeLike(text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))}%`
  const rows = await reader.all<AccountRow>(
    `select ${accountColumns} from account
     where (email like ? escape '!' or contact_email like ? escape '!'
       or lower(name) like ? escape '!' or lower(coalesce(login_id, '')) like ? escape '!')
       and ${notRemoved} ${onlyActive ? 'and active = 1' : ''}
       ${among === undefined ? '' : `and key in (${among.map(() => '?').join(', ') || 'null'})`}
     order by case when email = ? then 0 else 1 end, email limit ?`,
    inEmail,
    inEmail,
    inText,
    inText,
    ...(among ?? []),
    lower,
    limit,
  )
  return rows.map(accountFromRow)
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}

/** The changeable columns of an account. */
export interface AccountValues {
  name?: string
  contact_email?: string
  contact_verified?: number
  login_id?: string | null
  department?: string
  institution?: string
  list_in_address_book?: number
  password_hash?: string
  password_assigned?: number
  role?: Role
  active?: number
  quota?: number
  default_library_key?: number | null
  language?: Language
  mail_notices?: MailNotices
  mail_interval?: number | null
  update_mail_interval?: number
}

/** The active accounts of these, by their keys. */
async function findActive(reader: Reader, keys: readonly number[]): Promise<ReadonlyMap<number, Account>> {
  const found = await selectAccounts(reader, 'key', keys)
  return new Map(found.filter(({ active }) => active).map((account) => [account.key, account]))
}

/** False if its e-mail or login id is taken. */
export async function insertAccount(
  tx: Transaction,
  values: AccountValues & { email: string; created_at: number },
): Promise<boolean> {
  const columns = Object.keys(values)
  return (await tx.insertNew('account', columns, [Object.values(values)])) === 1
}

/** False if there is no such account. */
export async function updateAccount(tx: Transaction, email: string, values: AccountValues): Promise<boolean> {
  const assignments = Object.keys(values).map((column) => `${column} = ?`)
  const sql = `update account set ${assignments.join(', ')} where email = ?`
  return (await tx.run(sql, ...(Object.values(values) as Value[]), email)) === 1
}

/** Revokes everything derived from the account's sessions so far. */
export async function incrementEpoch(tx: Transaction, email: string): Promise<void> {
  await tx.run('update account set epoch = epoch + 1 where email = ?', email)
}

/**
 * Whether another account has this address as its id or as its verified contact. An unverified contact
 * reserves nothing.
 */
export async function isContactTaken(
  reader: Reader,
  contactEmail: string,
  exceptEmail: string,
): Promise<boolean> {
  const sql = `select key from account
    where (email = ? or (contact_email = ? and contact_verified = 1)) and email <> ? limit 1`
  return (await reader.get(sql, contactEmail, contactEmail, exceptEmail)) !== undefined
}

export async function isLoginIdTaken(reader: Reader, loginId: string): Promise<boolean> {
  return (await reader.get('select key from account where login_id = ?', loginId)) !== undefined
}

/**
 * Records a login if the account is still active and its password is still the checked one. The row stays
 * locked until the transaction ends, so that a concurrent password change cannot come in between. The language of the client is the one of mails
 * until the user chooses another.
 */
async function recordLogin(
  tx: Transaction,
  { account, passwordHash }: Credentials,
  at: number,
  language = '',
): Promise<boolean> {
  const sql = `update account set last_login_at = ?, language = case when language = '' then ? else language end
    where key = ? and password_hash = ? and active = 1`
  return (await tx.run(sql, at, language, account.key, passwordHash)) === 1
}

/** Replaces the hash of a password by a newer one of the same password. */
async function replacePasswordHash(tx: Transaction, { account, passwordHash }: Credentials, newer: string) {
  const sql = 'update account set password_hash = ? where key = ? and password_hash = ?'
  await tx.run(sql, newer, account.key, passwordHash)
}

/** Number of administrators that can sign in. Their rows stay locked until the transaction ends. */
export async function lockActiveAdministrators(tx: Transaction): Promise<number> {
  return tx.run("update account set active = active where role = 'admin' and active = 1")
}

/** Clears all personal data of the row except the marked e-mail. False if it was already removed. */
export async function markRemoved(tx: Transaction, account: Account): Promise<boolean> {
  const changed = await tx.run(
    `update account set email = ?, name = '', contact_email = '', contact_verified = 0, login_id = null, department = '',
       institution = '', list_in_address_book = 0, password_hash = '', role = 'guest', active = 0, quota = 0,
       default_library_key = null, last_login_at = null,
       avatar = '', avatar_at = 0, language = '', mail_interval = null, update_mail_interval = 0, second_factor = 0,
       second_factor_due_at = null, epoch = epoch + 1
     where key = ? and email = ?`,
    emailOnceRemoved(account),
    account.key,
    account.email,
  )
  return changed === 1
}

/** The key of an account's default library, which may have been deleted since. */
async function findDefaultLibraryKey(reader: Reader, accountKey: number): Promise<number | null> {
  const row = await reader.get<{ default_library_key: number | null }>(
    'select default_library_key from account where key = ?',
    accountKey,
  )
  return row?.default_library_key ?? null
}

/** False if the default library changed since `before` was read. */
async function setDefaultLibraryKey(
  tx: Transaction,
  accountKey: number,
  libraryKey: number,
  before: number | null,
): Promise<boolean> {
  const sql =
    'update account set default_library_key = ? where key = ? and coalesce(default_library_key, 0) = ?'
  return (await tx.run(sql, libraryKey, accountKey, before ?? 0)) === 1
}

/** Clears the default library of an account if it is one of these. */
async function releaseDefaultLibrary(
  tx: Transaction,
  accountKey: number,
  libraryKeys: readonly number[],
): Promise<void> {
  await tx.run(
    `update account set default_library_key = null
     where key = ? and default_library_key in (${libraryKeys.map(() => '?').join(', ')})`,
    accountKey,
    ...libraryKeys,
  )
}

/** Serializes transactions that add bytes for one owner. On SQLite, transactions are serialized anyway. */
export async function lockAccount(tx: Transaction, dialect: Dialect, key: number): Promise<void> {
  if (dialect === 'postgres') await tx.get('select key from account where key = ? for no key update', key)
}

/** Whether the account may have credentials. Its row stays locked until the transaction ends. */
async function lockActiveAccount(tx: Transaction, account: Pick<Account, 'key'>): Promise<boolean> {
  return (await tx.run('update account set active = active where key = ? and active = 1', account.key)) === 1
}

/** Records that an account has a second factor, or has none any more. False if that was recorded already. */
async function setSecondFactor(tx: Transaction, key: number, hasOne: boolean): Promise<boolean> {
  const sql = 'update account set second_factor = ? where key = ? and second_factor <> ?'
  return (await tx.run(sql, hasOne ? 1 : 0, key, hasOne ? 1 : 0)) === 1
}

/** Sets when an account needs a second factor, unless that is set already. */
async function setSecondFactorDue(tx: Transaction, key: number, at: number): Promise<void> {
  const sql = 'update account set second_factor_due_at = ? where key = ? and second_factor_due_at is null'
  await tx.run(sql, at, key)
}

/** The rows of accounts, for stores and transactions of other modules. */
export const accountRows = {
  /** All columns that `read` needs, as a subquery to be joined as `account`. */
  relation: `(select ${accountColumns} from account)`,
  /** Accounts, including removed ones, in brief. */
  briefRelation: '(select key, email, active, quota from account)',
  columns: accountColumns,
  read: accountFromRow,
  /** SQL condition for the accounts of a query, without removed ones. */
  condition: conditionOf,
  /** Of a stored e-mail. */
  isRemoved,
  findByKey: findAccountByKey,
  findDefaultLibraryKey,
  setDefaultLibraryKey,
  releaseDefaultLibrary,
  findActive,
  lock: lockAccount,
  lockActive: lockActiveAccount,
  recordLogin,
  replacePasswordHash,
  setSecondFactor,
  setSecondFactorDue,
}

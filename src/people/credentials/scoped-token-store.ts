import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import { type Account, accountRows, type Scope } from '../accounts/index.ts'

/** A scoped token as stored, without its library. Times are Unix seconds. */
interface ScopedToken {
  readonly key: number
  readonly name: string
  readonly access: Scope['access']
  readonly libraryKey: number | undefined
  /** The sub-library, if access is restricted to one. */
  readonly subKey: number | undefined
  readonly createdAt: number
  readonly lastUsedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** A personal token in a list, with the current name of its library. */
export interface PersonalToken extends ScopedToken {
  readonly library: { readonly id: string; readonly name: string } | undefined
}

/** A library token in a list, with its encrypted copy and its creator. */
interface StoredLibraryToken extends ScopedToken {
  /** The session it ends with; undefined if it belongs to the library. */
  readonly apiTokenKey: number | undefined
  readonly sealed: Uint8Array
  readonly madeBy: string
}

interface NewScopedToken {
  readonly hash: Uint8Array
  readonly kind: 'personal' | 'library'
  readonly accountKey: number
  /** The epoch of the account when it was issued. A different one invalidates the token. */
  readonly epoch: number
  /** The API token it ends with; undefined for none. */
  readonly apiTokenKey: number | undefined
  readonly libraryKey: number | undefined
  /** The sub-library, if access is restricted to one. */
  readonly subKey: number | undefined
  readonly name: string
  readonly access: Scope['access']
  readonly sealed: Uint8Array | undefined
  readonly createdAt: number
  readonly expiresAt: number | undefined
}

/** An account within the scope of a token, and the use of the token. */
export interface ScopedAccount {
  readonly account: Account & { readonly scope: Scope }
  readonly removed: boolean
  readonly name: string
  readonly lastUsedAt: number | undefined
}

const TOKEN_COLUMNS = [
  'key',
  'name',
  'access',
  'library_key',
  'sub_key',
  'created_at',
  'last_used_at',
  'expires_at',
].map((column) => `scoped_token.${column} as token_${column}`)

interface TokenRow {
  token_key: number
  token_name: string
  token_access: Scope['access']
  token_library_key: number | null
  token_sub_key: number | null
  token_created_at: number
  token_last_used_at: number | null
  token_expires_at: number | null
}

/** Undefined if the library already has a token for an app of that name. */
export async function insertScopedToken(tx: Transaction, token: NewScopedToken): Promise<number | undefined> {
  const row = await tx.get<{ key: number }>(
    `insert into scoped_token (hash, kind, account_key, epoch, library_key, sub_key, name, access, sealed, created_at,
       expires_at, api_token_key) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning key`,
    token.hash,
    token.kind,
    token.accountKey,
    token.epoch,
    token.libraryKey ?? null,
    token.subKey ?? null,
    token.name,
    token.access,
    token.sealed ?? null,
    token.createdAt,
    token.expiresAt ?? null,
    token.apiTokenKey ?? null,
  )
  return row?.key
}

/** The statements that join the library of a token. */
export interface ScopedTokenQueries {
  readonly byHash: string
  readonly byKey: string
  readonly personal: string
}

/** Relations of the library module. It is above `credentials` in the import order, so `server` passes them. */
export interface LibraryRelations {
  /** Columns `key`, `id`, `name`, `owner_key` and `deleted_at`. */
  readonly libraryRelation: string
  /** Views of shared folders, with columns `key`, `id` and `path`. */
  readonly viewRelation: string
}

export function scopedTokenQueries({ libraryRelation, viewRelation }: LibraryRelations): ScopedTokenQueries {
  const bound = `left join ${libraryRelation} library on library.key = scoped_token.library_key
    left join ${viewRelation} v on v.key = scoped_token.sub_key`
  // A transfer of the library invalidates its tokens, because the new owner did not issue them.
  const acting = `select ${accountRows.columns}, ${TOKEN_COLUMNS.join(', ')}, scoped_token.kind,
      coalesce(v.id, library.id) as library_id
    from scoped_token join ${accountRows.relation} account on account.key = scoped_token.account_key ${bound}
    where scoped_token.epoch = account.epoch and (scoped_token.expires_at is null or scoped_token.expires_at > ?)
      and (scoped_token.kind = 'personal'
        or (library.owner_key = scoped_token.account_key and library.deleted_at is null))`
  return {
    byHash: `${acting} and scoped_token.kind = ? and scoped_token.hash = ?`,
    byKey: `${acting} and scoped_token.key = ?`,
    personal: `select ${TOKEN_COLUMNS.join(', ')}, coalesce(v.id, library.id) as library_id,
        library.name as library_name, v.path as sub_path
      from scoped_token ${bound}
      where account_key = ? and kind = 'personal' order by scoped_token.key desc`,
  }
}

export function findScopedAccount(
  reader: Reader,
  { byHash }: ScopedTokenQueries,
  kind: 'personal' | 'library',
  hash: Uint8Array,
  now: number,
): Promise<ScopedAccount | undefined> {
  return oneAccount(reader, byHash, now, kind, hash)
}

export function findScopedAccountByKey(
  reader: Reader,
  { byKey }: ScopedTokenQueries,
  key: number,
  now: number,
): Promise<ScopedAccount | undefined> {
  return oneAccount(reader, byKey, now, key)
}

async function oneAccount(
  reader: Reader,
  sql: string,
  ...parameters: Value[]
): Promise<ScopedAccount | undefined> {
  const row = await reader.get<
    Parameters<typeof accountRows.read>[0] & TokenRow & { kind: string; library_id: string | null }
  >(sql, ...parameters)
  if (row === undefined) return undefined
  const account = accountRows.read(row)
  const scope: Scope = {
    access: row.token_access,
    libraryKey: row.token_library_key ?? undefined,
    subKey: row.token_sub_key ?? undefined,
    libraryId: row.library_id ?? undefined,
    tokenKey: row.token_key,
  }
  return {
    // Changes by an app are recorded under the name of the app.
    account: { ...account, scope, ...(row.kind === 'library' && { email: row.token_name }) },
    removed: accountRows.isRemoved(row.email),
    name: row.token_name,
    lastUsedAt: row.token_last_used_at ?? undefined,
  }
}

export async function setScopedTokenUse(tx: Transaction, key: number, now: number): Promise<void> {
  await tx.run('update scoped_token set last_used_at = ? where key = ?', now, key)
}

/** Whether the token exists. Its row stays locked until the transaction ends. */
export async function lockScopedToken(tx: Transaction, key: number): Promise<boolean> {
  return (await tx.run('update scoped_token set access = access where key = ?', key)) === 1
}

/** Newest first. */
export async function listPersonalTokens(
  reader: Reader,
  { personal }: ScopedTokenQueries,
  accountKey: number,
): Promise<PersonalToken[]> {
  const rows = await reader.all<
    TokenRow & { library_id: string | null; library_name: string | null; sub_path: string | null }
  >(personal, accountKey)
  return rows.map((row) => ({
    ...tokenFromRow(row),
    // For a sub-library, only the name of its folder is revealed.
    library:
      row.library_id === null
        ? undefined
        : { id: row.library_id, name: row.sub_path?.split('/').at(-1) ?? row.library_name ?? '' },
  }))
}

export async function countPersonalTokens(reader: Reader, accountKey: number): Promise<number> {
  const sql = "select count(*) as count from scoped_token where account_key = ? and kind = 'personal'"
  return (await reader.get<{ count: number }>(sql, accountKey))?.count ?? 0
}

/** The number of tokens of a library; `most` at most. */
export async function countLibraryTokens(reader: Reader, libraryKey: number, most: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    `select count(*) as count from (
       select 1 as one from scoped_token where library_key = ? and kind = 'library' limit ?) counted`,
    libraryKey,
    most,
  )
  return row?.count ?? 0
}

/** Returns the name of the token; undefined if the account has no such token. */
export async function deletePersonalToken(
  tx: Transaction,
  accountKey: number,
  key: number,
): Promise<string | undefined> {
  const row = await tx.get<{ name: string }>(
    "delete from scoped_token where key = ? and account_key = ? and kind = 'personal' returning name",
    key,
    accountKey,
  )
  return row?.name
}

/** Newest first. */
export async function listLibraryTokens(reader: Reader, libraryKey: number): Promise<StoredLibraryToken[]> {
  const rows = await reader.all<
    TokenRow & { sealed: Uint8Array; api_token_key: number | null; made_by: string }
  >(
    `select ${TOKEN_COLUMNS.join(', ')}, scoped_token.sealed, scoped_token.api_token_key, account.email as made_by
     from scoped_token join ${accountRows.relation} account on account.key = scoped_token.account_key
     where library_key = ? and kind = 'library' order by scoped_token.key desc`,
    libraryKey,
  )
  return rows.map((row) => ({
    ...tokenFromRow(row),
    sealed: row.sealed,
    apiTokenKey: row.api_token_key ?? undefined,
    madeBy: row.made_by,
  }))
}

/** False if there is no such token. */
export async function setLibraryTokenAccess(
  tx: Transaction,
  libraryKey: number,
  name: string,
  access: Scope['access'],
): Promise<boolean> {
  const sql = "update scoped_token set access = ? where library_key = ? and name = ? and kind = 'library'"
  return (await tx.run(sql, access, libraryKey, name)) === 1
}

/** False if there is no such token. */
export async function deleteLibraryToken(
  tx: Transaction,
  libraryKey: number,
  name: string,
): Promise<boolean> {
  const sql = "delete from scoped_token where library_key = ? and name = ? and kind = 'library'"
  return (await tx.run(sql, libraryKey, name)) === 1
}

/** The library tokens of the given libraries. */
export async function deleteLibraryTokens(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
  const marks = libraryKeys.map(() => '?').join(', ')
  await tx.run(
    `delete from scoped_token where kind = 'library' and library_key in (${marks})`,
    ...libraryKeys,
  )
}

/** Tokens of both kinds that are restricted to a library. */
export async function deleteScopedTokensFor(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from scoped_token where library_key = ?', libraryKey)
}

/** The personal tokens of an account, and the library tokens it issued. */
export async function deleteScopedTokensOf(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from scoped_token where account_key = ?', accountKey)
}

/** The tokens that end with one of these API tokens. */
export async function deleteScopedTokensDerivedFrom(
  tx: Transaction,
  apiTokenKeys: readonly number[],
): Promise<void> {
  if (apiTokenKeys.length === 0) return
  const marks = apiTokenKeys.map(() => '?').join(', ')
  await tx.run(`delete from scoped_token where api_token_key in (${marks})`, ...apiTokenKeys)
}

export async function deleteScopedTokensBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from scoped_token where expires_at <= ?', time)
}

function tokenFromRow(row: TokenRow): ScopedToken {
  return {
    key: row.token_key,
    name: row.token_name,
    access: row.token_access,
    libraryKey: row.token_library_key ?? undefined,
    subKey: row.token_sub_key ?? undefined,
    createdAt: row.token_created_at,
    lastUsedAt: row.token_last_used_at ?? undefined,
    expiresAt: row.token_expires_at ?? undefined,
  }
}

/** The encrypted tokens of all libraries. */
export async function listSealed(reader: Reader): Promise<{ key: number; sealed: Uint8Array }[]> {
  return reader.all('select key, sealed from scoped_token where sealed is not null order by key')
}

export async function setSealed(tx: Transaction, key: number, sealed: Uint8Array): Promise<void> {
  await tx.run('update scoped_token set sealed = ? where key = ?', sealed, key)
}

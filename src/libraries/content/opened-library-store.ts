import type { LibraryId } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A sealed data key. */
interface OpenedLibrary {
  readonly sealedKey: Uint8Array
  /** Unix seconds. */
  readonly expiresAt: number
}

/** Stores a sealed key, in place of an earlier one of the same name. */
export async function putOpenedLibrary(
  tx: Transaction,
  row: OpenedLibrary & {
    readonly name: string
    /** The name of the credential with which the library was opened. */
    readonly opened: string
    readonly libraryId: LibraryId
    readonly accountKey: number
    readonly apiTokenKey: number | undefined
    readonly scopedTokenKey: number | undefined
  },
): Promise<void> {
  await tx.run(
    `insert into opened_library (name, opened, library_id, account_key, api_token_key, scoped_token_key, sealed_key, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (name) do update set sealed_key = excluded.sealed_key, expires_at = excluded.expires_at`,
    row.name,
    row.opened,
    row.libraryId,
    row.accountKey,
    row.apiTokenKey ?? null,
    row.scopedTokenKey ?? null,
    row.sealedKey,
    row.expiresAt,
  )
}

export async function findOpenedLibrary(
  reader: Reader,
  name: string,
  now: number,
): Promise<OpenedLibrary | undefined> {
  const row = await reader.get<{ sealed_key: Uint8Array; expires_at: number }>(
    'select sealed_key, expires_at from opened_library where name = ?',
    name,
  )
  return row === undefined || row.expires_at <= now
    ? undefined
    : { sealedKey: row.sealed_key, expiresAt: row.expires_at }
}

/** Deletes the key of a credential, and those of the tickets that it was passed to. */
export async function deleteOpened(tx: Transaction, opened: string): Promise<void> {
  await tx.run('delete from opened_library where opened = ?', opened)
}

export async function deleteOpenedLibrary(tx: Transaction, id: LibraryId): Promise<void> {
  await tx.run('delete from opened_library where library_id = ?', id)
}

export async function deleteOpenedOfAccount(
  tx: Transaction,
  accountKey: number,
  id: LibraryId | undefined,
): Promise<void> {
  if (id === undefined) await tx.run('delete from opened_library where account_key = ?', accountKey)
  else await tx.run('delete from opened_library where account_key = ? and library_id = ?', accountKey, id)
}

export function deleteOpenedBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from opened_library where expires_at <= ?', time)
}

// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Accounts, removed ones too. */
export const accountRelation = '(select key, email, active, quota from account)'

/** Who is in which group. */
export const memberRelation = '(select group_key, account_key, is_admin from group_member)'

/** Relations of the library module. It is above `identity` in the import order, so `server` passes them. */
export interface LibraryRelations {
  /** Columns `key`, `id`, `name`, `owner_key` and `deleted_at`. */
  readonly libraryRelation: string
  /** Views of shared folders, with columns `key`, `id` and `path`. */
  readonly viewRelation: string
  /** Bytes of the libraries of an account, as an expression over the column with its key. */
  readonly ownedBytes: (owner: string) => string
}

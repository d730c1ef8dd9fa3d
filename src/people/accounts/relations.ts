// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Accounts, including removed ones. */
export const accountRelation = '(select key, email, active, quota from account)'

/** Group memberships in effect. */
export const memberRelation =
  '(select group_key, account_key, is_admin from group_member where held_by is null)'

/** Relations of the library module. It is above `identity` in the import order, so `server` passes them. */
export interface LibraryRelations {
  /** Columns `key`, `id`, `name`, `owner_key` and `deleted_at`. */
  readonly libraryRelation: string
  /** Views of shared folders, with columns `key`, `id` and `path`. */
  readonly viewRelation: string
  /** SQL expression for the bytes of an account's libraries, given the column with its key. */
  readonly ownedBytes: (owner: string) => string
}

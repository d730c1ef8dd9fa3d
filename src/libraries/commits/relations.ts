// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Libraries, including deleted ones, whose `deleted_at` is set. */
export const libraryRelation = `(select key, id, name, owner_key, size, head, head_seq, updated_at, deleted_at
  from library)`

/** All columns of libraries, for `libraryFromRow`. */
export const libraryRowRelation = '(select * from library)'

/** Commits. `received_at` is set for those that clients sent and that are not part of the history. */
export const commitRelation = '(select library_key, description, received_at from commit_object)'

/** Positions of consumers: the number of the last commit a consumer has processed in a library. */
export const positionRelation = '(select library_key, name, seq from follower)'

/**
 * SQL expression for the file size of libraries: the bytes of their current files. Deleted libraries do not count. Every figure of that name is this
 * sum, so that equal labels show equal numbers. Null for no rows; PostgreSQL sums bigint as numeric, which arrives as text.
 */
export const fileSizeSum = 'sum(case when deleted_at is null then size else 0 end)'

/** SQL expression for the file size of an account's libraries. `owner` is a column or a placeholder. */
export function ownedBytes(owner: string): string {
  return `(select coalesce(${fileSizeSum}, 0) from library where owner_key = ${owner} and deleted_at is null)`
}

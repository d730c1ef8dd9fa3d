// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Views of shared folders. */
export const viewRelation =
  '(select key, id, library_key, path, path_key, since_seq, is_file from sub_library)'

/** Commits that clients sent to views. Those not pushed yet have `received_at`. */
export const viewCommitRelation = '(select sub_key, description, received_at from sub_commit)'

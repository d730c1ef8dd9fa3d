// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Dirs and files, without their content. */
export const objectRelation = '(select library_key, id, kind, size, file_count, dir_count from fs_object)'

// Subqueries that other modules join instead of naming the tables. Their columns are part of the public interface.

/** Dirs and files, without their content. */
export const objectRelation = '(select library_key, id, kind, size, file_count, dir_count from fs_object)'

/** As objectRelation, without condemned objects: what may be relied on without storing it again. */
export const keptObjectRelation = `(select f.library_key, f.id, f.kind, f.size, f.file_count, f.dir_count from fs_object f
  where not exists (select 1 from condemned_object c where c.library_key = f.library_key and c.id = f.id))`

// Subqueries that other files join instead of naming the tables.

/** Which library holds which block. */
export const referenceRelation = '(select library_key, block_id, size from library_block)'

/** As referenceRelation, without condemned references: what a new file may refer to. */
export const keptReferenceRelation = `(select h.library_key, h.block_id, h.size from library_block h where not exists
  (select 1 from condemned_reference c where c.library_key = h.library_key and c.block_id = h.block_id))`

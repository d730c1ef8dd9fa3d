import { libraryRows } from '../../libraries/registry/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'

/** The relations of libraries that `credentials` joins to find the library of a token in the statement that finds the token. */
export const libraryRelations = {
  libraryRelation: libraryRows.relation,
  viewRelation,
}

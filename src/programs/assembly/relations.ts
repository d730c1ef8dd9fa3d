import { libraryRows, librarySizes } from '../../libraries/registry/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations = {
  libraryRelation: libraryRows.relation,
  viewRelation,
  ownedBytes: librarySizes.ownedBytes,
}

import { libraryRelation, ownedBytes } from '../../libraries/commits/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations = { libraryRelation, viewRelation, ownedBytes }

import { libraryRelation, ownedBytes } from '../../libraries/commits/index.ts'
import { viewRelation } from '../../libraries/views/index.ts'
import type { LibraryRelations } from '../../people/accounts/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations: LibraryRelations = { libraryRelation, viewRelation, ownedBytes }

import { libraryRelation, ownedBytes, viewRelation } from '../commits/index.ts'
import type { LibraryRelations } from '../identity/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations: LibraryRelations = { libraryRelation, viewRelation, ownedBytes }

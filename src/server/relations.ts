import type { LibraryRelations } from '../identity/index.ts'
import { libraryRelation, ownedBytes, viewRelation } from '../library/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations: LibraryRelations = { libraryRelation, viewRelation, ownedBytes }

import { libraryRelation, ownedBytes } from '../commits/index.ts'
import type { LibraryRelations } from '../identity/index.ts'
import { viewRelation } from '../views/index.ts'

/** The relations of the library module that `identity` joins. */
export const libraryRelations: LibraryRelations = { libraryRelation, viewRelation, ownedBytes }

import type { Entry } from '../api/index.ts'
import { join } from '../paths.ts'

/** The folder that is shown. */
export interface CurrentFolder {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
  /** Whether what is in it may be changed. */
  readonly editable: boolean
  /** Whether the caller owns the library, and may take away the locks of others. */
  readonly owned: boolean
  readonly encrypted: boolean
}

export const entryPath = (here: CurrentFolder, { name }: Pick<Entry, 'name'>) => join(here.path, name)

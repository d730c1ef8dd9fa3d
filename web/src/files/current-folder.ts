import type { Entry } from '../api/index.ts'
import { join } from '../paths.ts'

/** The folder that the page shows. */
export interface CurrentFolder {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
  /** Whether the user may change its entries. */
  readonly editable: boolean
  /** Whether the user owns the library and may remove locks of others. */
  readonly owned: boolean
  readonly encrypted: boolean
}

export const entryPath = (here: CurrentFolder, { name }: Pick<Entry, 'name'>) => join(here.path, name)

/** Whether several entries can be shared at once: by the owner, and not out of an encrypted library. */
export const canShareMany = ({ owned, encrypted }: CurrentFolder) => owned && !encrypted

// The server takes 200 in one call.
const MAX_TAGGED = 2000

/** Whether entries can be tagged: files in a folder that may be changed. */
export const canTag = ({ editable }: CurrentFolder, entries: readonly Entry[]) =>
  editable && entries.length <= MAX_TAGGED && entries.every(({ type }) => type === 'file')

/** Entries of one folder to be downloaded as one archive. */
export interface ArchiveWish {
  readonly libraryId: string
  readonly parent: string
  readonly names: readonly string[]
}

/** Has an archive made, shows how far it is, and has the browser save it. */
export function startArchive(_wish: ArchiveWish): void {}

export interface Library {
  readonly id: string
  readonly name: string
  /** How the caller has access. */
  readonly relation: 'mine' | 'shared' | 'group' | 'public'
  /** E-mail of the owner, or the name of the group. */
  readonly owner: string
  readonly permission: string
  readonly encrypted: boolean
  /** Bytes. */
  readonly size: number
  readonly modifiedAt: Date
}

/** A file or folder. */
export interface Entry {
  /** Path in the library, with a leading slash. The server chooses names: check them before using them as local names. */
  readonly path: string
  readonly name: string
  readonly kind: 'file' | 'dir'
  /** Changes exactly if the content changes. Empty if the server did not say it. */
  readonly id: string
  /** Bytes; 0 for folders. */
  readonly size: number
  readonly modifiedAt: Date
}

/** Selects an earlier state of a library. Default: the current one. */
export type State = { readonly commit?: string; readonly at?: string }

export interface Commit {
  readonly id: string
  readonly time: Date
  readonly author: string
  readonly description: string
}

/** One path that a commit changed. */
export interface Change {
  readonly operation: 'new' | 'newdir' | 'removed' | 'deldir' | 'modified' | 'renamed'
  readonly path: string
  /** After a rename. */
  readonly newPath: string
}

/** A revision of a file. */
export interface Revision {
  readonly commit: string
  readonly time: Date
  readonly author: string
  readonly fileId: string
  readonly path: string
  /** Bytes. */
  readonly size: number
}

export interface DeletedEntry {
  readonly path: string
  readonly kind: 'file' | 'dir'
  readonly deletedAt: Date
  /** The last commit that has it. */
  readonly commit: string
  readonly size: number
}

export interface SearchResult {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
  readonly kind: 'file' | 'dir'
  readonly size: number
  readonly modifiedAt: Date
  /** Excerpt with HTML marks around the words found; empty if only the name matches. */
  readonly excerpt: string
}

export interface Share {
  readonly to: 'user' | 'group'
  /** E-mail of the user, or id of the group. */
  readonly recipient: string
  readonly permission: string
}

export interface ShareLink {
  readonly token: string
  readonly url: string
  readonly path: string
  readonly expiresAt: Date | undefined
}

/** A file as stored by an upload. */
export interface Uploaded {
  readonly name: string
  readonly id: string
  readonly size: number
}

/** Reports bytes transferred so far, of the bytes in total. */
export type OnProgress = (done: number, total: number) => void

// The fields of responses that the client reads, as the server sends them.

export interface Library {
  readonly type: 'mine' | 'shared' | 'group' | 'public'
  readonly repo_id: string
  readonly repo_name: string
  readonly owner_email?: string
  readonly group_name?: string
  readonly permission: string
  readonly encrypted: boolean
  readonly size: number
  readonly last_modified: string
}

export interface Dirent {
  readonly type: 'file' | 'dir'
  readonly id: string
  readonly name: string
  readonly size?: number
  /** Unix seconds. */
  readonly mtime: number
}

export interface FileInfo {
  readonly obj_id: string
  readonly size: number
  readonly mtime: string
}

export interface Failed {
  readonly path?: string
  readonly error_msg: string
}

export interface Progress {
  readonly successful: boolean
  readonly failed: boolean
  readonly canceled: boolean
  readonly failed_reason: string
}

export interface Search {
  readonly has_more: boolean
  readonly results: readonly {
    readonly repo_id: string
    readonly repo_name: string
    readonly fullpath: string
    readonly is_dir: boolean
    readonly size: number
    readonly last_modified: number
    readonly content_highlight: string
  }[]
}

export interface History {
  readonly more: boolean
  readonly data: readonly {
    readonly commit_id: string
    readonly time: string
    readonly email: string
    readonly description: string
  }[]
}

export interface CommitDetail {
  readonly commit_diffs: readonly {
    readonly op_type: 'new' | 'newdir' | 'removed' | 'deldir' | 'modified' | 'renamed'
    readonly path: string
    readonly new_path: string
  }[]
}

export interface Revisions {
  readonly next_start_commit: string | false
  readonly data: readonly {
    readonly commit_id: string
    readonly ctime: string
    readonly creator_email: string
    readonly rev_file_id: string
    readonly path: string
    readonly size: number
  }[]
}

export interface Trash {
  readonly parent_dir: string
  readonly obj_name: string
  readonly deleted_time: string
  readonly commit_id: string
  readonly is_dir: boolean
  readonly size: number
}

export interface SharedItem {
  readonly share_type: 'user' | 'group'
  readonly user_info?: { readonly name: string }
  readonly group_info?: { readonly id: number }
  readonly permission: string
}

export interface Link {
  readonly token: string
  readonly link: string
  readonly path: string
  readonly expire_date: string
}

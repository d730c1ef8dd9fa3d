// Generated from the API description by bin/sdk-types.ts. Changes belong in the schemas of the routes.

/** The records of responses, by their names in the API description. */
export interface Records {
  AccessExplanation: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** A path in the library, from its root. */
    readonly path: string
    readonly permission: 'rw' | 'r' | null
    /** Whether the user may manage shares. */
    readonly is_admin: boolean
    /** Whether the user owns the library. */
    readonly is_owner: boolean
    /** Whether the account is active. */
    readonly is_active: boolean
    /** The status of the library. */
    readonly status: 'normal' | 'read-only'
    readonly open_as: string | null
    /** One sentence in English. */
    readonly reason: string
    readonly grants: readonly {
      readonly share_type: 'personal' | 'group' | 'public'
      /** The id of the group. */
      readonly group_id?: number
      /** The name of the group. */
      readonly group_name?: string
      /** The path that is shared. */
      readonly path: string
      /** Whether the caller may write, or only read. */
      readonly permission: 'rw' | 'r'
      /** Whether it lets the user manage shares. */
      readonly is_admin: boolean
      /** Whether it applies to the path. */
      readonly reaches: boolean
      /** Whether the permission is that of this share. */
      readonly decides: boolean
    }[]
  }
  AccessList: {
    readonly owner: {
      /** The id of an account, in the form of an e-mail address. */
      readonly email: string
      /** A name to show. */
      readonly name: string
    }
    /** Whether some are left out because there are too many. */
    readonly is_cut: boolean
    readonly shares: readonly Records['SharedAccess'][]
    readonly links: readonly Records['LinkAccess'][]
  }
  AccessSummaries: {
    readonly libraries: readonly Records['AccessSummary'][]
  }
  AccessSummary: {
    /** The id of a library. */
    readonly repo_id: string
    /** Shares of the whole library. */
    readonly shares: number
    /** Shares of folders and files in it. */
    readonly shares_inside: number
    /** Links that work, to it or to something in it, of any account. */
    readonly links: number
  }
  AccountId: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    readonly source: 'DB'
  }
  AccountInfo: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    readonly contact_email_verified: boolean
    /** The login id, or empty. */
    readonly login_id: string
    readonly department: string
    readonly institution: string
    /** In bytes. */
    readonly usage: number
    /** The quota in bytes. A negative number is no limit. */
    readonly total: number
    /** The used part of the quota, in percent. */
    readonly space_usage: string
    /** A URL. */
    readonly avatar_url: string
    /** Whether it is an administrator. */
    readonly is_staff: boolean
    readonly enable_subscription: false
    /** Seconds between mails about changes in monitored libraries. 0 is never. */
    readonly file_updates_email_interval: number
    /** Seconds between mails about notifications. 0 is never. */
    readonly collaborate_email_interval: number
  }
  AccountTokenPurpose: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    readonly purpose: 'invitation' | 'password-reset' | 'contact'
  }
  AccountUsage: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The number of libraries. */
    readonly repos_count: number
    /** The size of their files in bytes, as quotas count it. */
    readonly file_size: number
    /** Bytes of the current content. */
    readonly current: number
    /** Bytes that only the trash needs. */
    readonly trash: number
    /** Bytes that only the history needs. */
    readonly history: number
    /** Bytes that nothing needs any more. Garbage collection frees them. */
    readonly unreferenced: number
    /** Bytes of those above that other libraries need too. */
    readonly shared: number
    /** The sum of the first four. */
    readonly total: number
    /** Bytes of deleted libraries. */
    readonly deleted: number
    /** The number of libraries that were not counted yet. */
    readonly uncounted_repos: number
  }
  AccountUsages: {
    readonly page_info: Records['PageInfo']
    readonly stored?: Records['StoredOnDisk']
    readonly accounts: readonly Records['AccountUsage'][]
  }
  Activities: {
    readonly events: readonly Records['Activity'][]
  }
  Activity: {
    readonly op_type: 'create' | 'delete' | 'edit' | 'rename' | 'move' | 'recover' | 'clean-up-trash'
    readonly obj_type: 'repo' | 'dir' | 'file'
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** 40 hexadecimal digits, or empty. */
    readonly commit_id: string
    /** A path in the library, from its root. */
    readonly path: string
    /** The name of a file or folder. */
    readonly name: string
    /** The path before the rename or move. */
    readonly old_path?: string
    /** The name before the rename or move. */
    readonly old_name?: string
    /** The previous name of a renamed library. */
    readonly old_repo_name?: string
    /** The days that were kept when the trash was emptied. */
    readonly days?: number
    /** The id of an account, in the form of an e-mail address. */
    readonly author_email: string
    /** A name to show. */
    readonly author_name: string
    /** The address for mail. */
    readonly author_contact_email: string
    /** A visitor of a link made the change. The author created the link. */
    readonly via_link?: true
    /** An unused constant. */
    readonly login_id: ''
    /** A URL. */
    readonly avatar_url: string
    /** ISO 8601 with the offset from UTC. */
    readonly time: string
    /** Always empty: activities are not grouped. */
    readonly details: readonly string[]
    /** Always 0: activities are not grouped. */
    readonly count: 0
  }
  AddedFileTag: {
    readonly file_tag: Records['FileTag']
  }
  AddedMembers: {
    readonly failed: readonly {
      /** The id of an account, in the form of an e-mail address. */
      readonly email: string
      /** A name to show. */
      readonly email_name: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly success: readonly Records['GroupMember'][]
  }
  AddedParticipants: {
    readonly success: readonly Records['User'][]
    readonly failed: readonly {
      /** The id of an account, in the form of an e-mail address. */
      readonly email: string
      readonly error_code: number
      /** Why it failed. */
      readonly error_msg: string
    }[]
  }
  AdminDeletedLibraries: {
    readonly page_info: Records['PageInfo']
    readonly repos: readonly Records['AdminDeletedLibrary'][]
  }
  AdminDeletedLibrary: {
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** A name to show. */
    readonly owner_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly delete_time: string
  }
  AdminDevice: {
    /** The id of an account, in the form of an e-mail address. */
    readonly user: string
    readonly platform: 'windows' | 'linux' | 'mac' | 'android' | 'ios'
    /** The id that the client chose. */
    readonly device_id: string
    /** The name of the device. */
    readonly device_name: string
    /** The version of the client, or empty. */
    readonly client_version: string
    /** The version of the platform, or empty. */
    readonly platform_version: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_accessed: string
    /** The address of the last sign-in. */
    readonly last_login_ip: string
    readonly wiped_at: string | null
    readonly is_desktop_client: boolean
    /** A name to show. */
    readonly user_name: string
  }
  AdminDevices: {
    readonly page_info: Records['PageInfo']
    readonly devices: readonly Records['AdminDevice'][]
  }
  AdminGroup: {
    /** The id of the group. */
    readonly id: number
    /** An unused constant. */
    readonly parent_group_id: 0
    /** The name of the group. */
    readonly name: string
    /** The account of the owner. Empty if it was deleted. */
    readonly owner: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** The name of the owner. Empty if it was deleted. */
    readonly owner_name: string
    /** Bytes of the libraries that are shared with it. */
    readonly size: number
    /** Groups have no quota. */
    readonly quota: -2
  }
  AdminGroupLibraries: {
    /** The id of the group. */
    readonly group_id: number
    /** The name of the group. */
    readonly group_name: string
    readonly libraries: readonly Records['SharedWithGroup'][]
    readonly page_info: Records['PageInfo']
  }
  AdminGroupMembers: {
    /** The id of the group. */
    readonly group_id: number
    /** The name of the group. */
    readonly group_name: string
    readonly members: readonly Records['GroupMember'][]
    readonly page_info: Records['PageInfo']
  }
  AdminGroups: {
    readonly groups: readonly Records['AdminGroup'][]
    readonly page_info: Records['PageInfo']
  }
  AdminLibraries: {
    readonly page_info: Records['PageInfo']
    readonly repos: readonly Records['AdminLibrary'][]
  }
  AdminLibrary: {
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** The number of files. */
    readonly file_count: number
    readonly status: 'normal' | 'read-only'
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
  }
  AdminLink: {
    /** The token of the link. */
    readonly token: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item. */
    readonly obj_name: string
    readonly is_dir: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly creator_email: string
    /** A name to show. */
    readonly creator_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** How often it was opened. */
    readonly view_cnt: number
    /** When it ends, in ISO 8601, or empty. */
    readonly expire_date: string
    readonly is_expired: boolean
  }
  AdminShareLinks: {
    readonly share_link_list: readonly Records['AdminLink'][]
    /** The number of links on all pages. */
    readonly count: number
  }
  AdminUploadLinks: {
    readonly upload_link_list: readonly Records['AdminLink'][]
    /** The number of links on all pages. */
    readonly count: number
  }
  AdminUser: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    readonly contact_email_verified: boolean
    /** The login id, or empty. */
    readonly login_id: string
    /** Whether it is an administrator. */
    readonly is_staff: boolean
    /** Whether it can sign in. */
    readonly is_active: boolean
    /** In bytes. */
    readonly quota_usage: number
    /** The quota in bytes. A negative number is no limit. */
    readonly quota_total: number
    /** ISO 8601 with the offset from UTC. */
    readonly create_time: string
    /** ISO 8601, or empty. */
    readonly last_login: string
    /** ISO 8601, or empty. */
    readonly last_access_time: string
    readonly role: 'default' | 'guest'
    /** A URL. */
    readonly avatar_url: string
    /** An unused constant. */
    readonly has_default_device: false
    /** An unused constant. */
    readonly is_force_2fa: false
    /** Always empty. */
    readonly social_auth: readonly string[]
  }
  AdminUsers: {
    readonly data: readonly Records['AdminUser'][]
    /** The number of accounts on all pages. */
    readonly total_count: number
  }
  AllNotifications: {
    readonly general: {
      readonly notification_list: readonly Records['Notification'][]
      /** The number of those that were not seen. */
      readonly unseen_count: number
      /** The number of all. */
      readonly count: number
    }
    readonly discussion: {
      readonly notification_list: readonly Records['Notification'][]
      /** The number of those that were not seen. */
      readonly unseen_count: number
      /** The number of all. */
      readonly count: number
    }
  }
  ApiToken: {
    /** The token. */
    readonly token: string
  }
  ArchiveEntries: {
    /** 40 hexadecimal digits. */
    readonly id: string
    readonly entries: readonly Records['ArchiveEntry'][]
    /** The number of all entries. The list may be shorter. */
    readonly total: number
  }
  ArchiveEntry: {
    /** The path under which it is extracted, or its name if that is unsafe. */
    readonly path: string
    readonly is_dir: boolean
    /** In bytes. */
    readonly size: number
    /** Its size in the archive, in bytes. */
    readonly packed_size: number
    /** In Unix seconds. 0 if it is unknown. */
    readonly mtime: number
    /** Why it is not extracted, or empty. */
    readonly refusal: '' | 'name' | 'link' | 'password' | 'method'
  }
  ArchiveProgress: {
    /** The number of files that were packed. */
    readonly zipped: number
    /** The number of files. The archive is ready when `zipped` equals it. */
    readonly total: number
    readonly failed: 0 | 1
    /** Empty unless it failed. */
    readonly failed_reason: string
    readonly canceled: 0 | 1
  }
  ArchiveTask: {
    /** Names the archive, and authorizes its download at `/seafhttp/zip/<zip_token>`. */
    readonly zip_token: string
  }
  AuditEntry: {
    /** Entries are numbered in the order of time. */
    readonly id: number
    /** ISO 8601 with the offset from UTC. */
    readonly time: string
    /** The account that did it, or what else did. */
    readonly actor: string
    /** The network address of the caller, or empty. */
    readonly address: string
    /** The name of the action. */
    readonly action: string
    /** What it concerned: `account`, `library`, `server` … */
    readonly object_kind: string
    /** The id of that object, or empty. */
    readonly object_id: string
    /** The path in a library, or empty. */
    readonly path: string
    /** Its fields depend on the action. */
    readonly detail: Readonly<Record<string, unknown>>
  }
  AuditLog: {
    readonly entries: readonly Records['AuditEntry'][]
    readonly next: number | null
  }
  Avatar: {
    /** A URL. */
    readonly url: string
    readonly is_default: boolean
    /** In Unix seconds. */
    readonly mtime: number
  }
  AvatarUrl: {
    /** A URL. */
    readonly avatar_url: string
  }
  BatchDeleted: {
    readonly success: true
    /** 40 hexadecimal digits. */
    readonly commit_id: string
  }
  BatchResults: {
    readonly failed: readonly {
      /** The id of a library. */
      readonly src_repo_id: string
      /** The id of a library. */
      readonly dst_repo_id: string
      /** A path in the library, from its root. */
      readonly src_path: string
      /** A path in the library, from its root. */
      readonly dst_path: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly success: readonly {
      /** The id of a library. */
      readonly src_repo_id: string
      /** The id of a library. */
      readonly dst_repo_id: string
      /** A path in the library, from its root. */
      readonly src_path: string
      /** A path in the library, from its root. */
      readonly dst_path: string
      /** The name, with a number if the name was taken. */
      readonly dst_obj_name: string
    }[]
  }
  BlockUpload: {
    /** A URL. */
    readonly rawblksurl: string
    /** A URL. */
    readonly commiturl: string
    /** The blocks that the server lacks. */
    readonly blklist: readonly string[]
  }
  BriefGroup: {
    /** The id of the group. */
    readonly id: number
    /** An unused constant. */
    readonly parent_group_id: 0
    /** The name of the group. */
    readonly name: string
    /** The account of the owner. Empty if it was deleted. */
    readonly owner: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
  }
  ChangedPaths: {
    /** The files that were added. */
    readonly added_files?: readonly string[]
    /** The files that were deleted. */
    readonly deleted_files?: readonly string[]
    /** The files that were changed. */
    readonly modified_files?: readonly string[]
    /** The old and the new path of each file and folder that was renamed or moved. */
    readonly renamed_files?: readonly string[]
    /** The folders that were added. */
    readonly added_dirs?: readonly string[]
    /** The folders that were deleted. */
    readonly deleted_dirs?: readonly string[]
  }
  ChangedUser: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    readonly contact_email_verified: boolean
    /** The login id, or empty. */
    readonly login_id: string
    /** Whether it is an administrator. */
    readonly is_staff: boolean
    /** Whether it can sign in. */
    readonly is_active: boolean
    /** In bytes. */
    readonly quota_usage: number
    /** The quota in bytes. A negative number is no limit. */
    readonly quota_total: number
    /** ISO 8601 with the offset from UTC. */
    readonly create_time: string
    /** ISO 8601, or empty. */
    readonly last_login: string
    /** ISO 8601, or empty. */
    readonly last_access_time: string
    readonly role: 'default' | 'guest'
    /** A URL. */
    readonly avatar_url: string
    /** An unused constant. */
    readonly has_default_device: false
    /** An unused constant. */
    readonly is_force_2fa: false
    /** Always empty. */
    readonly social_auth: readonly string[]
    /** A sentence to show. */
    readonly update_status_tip: string
  }
  CleanedStars: {
    readonly success: true
    /** The number of stars that were removed. */
    readonly removed: number
  }
  ClientSsoLink: {
    /** A URL. */
    readonly link: string
  }
  ClientSsoStatus: {
    /** `error` if access was denied or the link has expired. */
    readonly status: 'waiting' | 'success' | 'error'
    /** The id of an account, in the form of an e-mail address. */
    readonly username?: string
    /** The API token. It is not shown again. */
    readonly apiToken?: string
  }
  Comment: {
    readonly id: number
    /** The id of a library. */
    readonly repo_id: string
    /** A path in the library, from its root. */
    readonly parent_path: string
    /** The name of a file or folder. */
    readonly item_name: string
    /** The text of the comment. */
    readonly comment: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** ISO 8601 with the offset from UTC. */
    readonly updated_at: string
    readonly resolved: boolean
    /** Data of the client, or empty. */
    readonly detail: string
    /** Always empty. */
    readonly replies: readonly unknown[]
    /** The id of an account, in the form of an e-mail address. */
    readonly user_email: string
    /** A name to show. */
    readonly user_name: string
    /** The address for mail. */
    readonly user_contact_email: string
    /** A URL. */
    readonly avatar_url: string
  }
  Comments: {
    readonly comments: readonly Records['Comment'][]
  }
  CommitDetail: {
    readonly commit_info: {
      /** The id of an account, in the form of an e-mail address. */
      readonly creator_email: string
      /** A name to show. */
      readonly creator_name: string
      /** The address for mail. */
      readonly creator_contact_email: string
      /** A visitor of a link made the change. The creator is that of the link. */
      readonly via_link?: true
      /** ISO 8601 with the offset from UTC. */
      readonly time: string
      /** What the commit changed. */
      readonly description: string
      readonly device_name: string | null
    }
    readonly commit_diffs: readonly {
      readonly op_type: 'new' | 'modified' | 'removed' | 'newdir' | 'deldir' | 'renamed'
      /** A path in the library, from its root. */
      readonly path: string
      /** Empty unless it was renamed. */
      readonly new_path: string
    }[]
  }
  CommittedFile: {
    /** 40 hexadecimal digits. */
    readonly id: string
  }
  ContactVerified: {
    readonly success: true
    /** The address for mail. */
    readonly contact_email: string
  }
  CountOfDay: {
    /** ISO 8601 with the offset from UTC. */
    readonly datetime: string
    /** The number on that day. */
    readonly count: number
  }
  CreatedFolders: {
    readonly failed: readonly {
      /** The id of a library. */
      readonly repo_id: string
      /** A path in the library, from its root. */
      readonly path: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly success: readonly {
      /** The id of a library. */
      readonly repo_id: string
      /** A path in the library, from its root. */
      readonly path: string
    }[]
  }
  CreatedGroup: {
    readonly success: true
    /** The id of the group. */
    readonly group_id: number
  }
  CreatedLibrary: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** In bytes. */
    readonly repo_size: number
    readonly encrypted: boolean
    /** In Unix seconds. */
    readonly mtime: number
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
  }
  CreatedUser: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    readonly contact_email_verified: boolean
    /** The login id, or empty. */
    readonly login_id: string
    /** Whether it is an administrator. */
    readonly is_staff: boolean
    /** Whether it can sign in. */
    readonly is_active: boolean
    /** In bytes. */
    readonly quota_usage: number
    /** The quota in bytes. A negative number is no limit. */
    readonly quota_total: number
    /** ISO 8601 with the offset from UTC. */
    readonly create_time: string
    /** ISO 8601, or empty. */
    readonly last_login: string
    /** ISO 8601, or empty. */
    readonly last_access_time: string
    readonly role: 'default' | 'guest'
    /** A URL. */
    readonly avatar_url: string
    /** An unused constant. */
    readonly has_default_device: false
    /** An unused constant. */
    readonly is_force_2fa: false
    /** Always empty. */
    readonly social_auth: readonly string[]
    /** A sentence to show. */
    readonly add_user_tip: string
  }
  CustomPermissions: {
    /** Always empty. */
    readonly permission_list: readonly string[]
  }
  DefaultLibrary: {
    readonly exists: boolean
    /** The id of the library, or empty. */
    readonly repo_id: string
  }
  DeletedLibrary: {
    /** The id of a library. */
    readonly repo_id: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** The name of the library. */
    readonly repo_name: string
    /** An unused constant. */
    readonly org_id: -1
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    readonly encrypted: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly del_time: string
    /** In bytes. */
    readonly size: number
  }
  DeletedLinks: {
    readonly failed: readonly {
      /** The token of the link. */
      readonly token: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly success: readonly {
      /** The token of the link. */
      readonly token: string
    }[]
  }
  DeletedTaggedFile: {
    readonly file_deleted: true
    /** The id of the tag at this file. */
    readonly file_tag_id: number
    /** The name of a file or folder. */
    readonly filename: string
  }
  Deliveries: {
    readonly delivery_list: readonly Records['Delivery'][]
  }
  Delivery: {
    readonly id: string
    /** The kind of the event. */
    readonly event: string
    /** `pending`, or how it ended. */
    readonly state: string
    /** The number of attempts. */
    readonly attempts: number
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** ISO 8601, or empty. */
    readonly next_attempt_at: string
    /** ISO 8601, or empty. */
    readonly finished_at: string
    readonly status_code: number | null
    /** The beginning of its response. */
    readonly response: string
    /** Why it failed, or empty. */
    readonly error: string
    /** The event as it was sent. */
    readonly body: Readonly<Record<string, unknown>>
  }
  Device: {
    /** The id of an account, in the form of an e-mail address. */
    readonly user: string
    readonly platform: 'windows' | 'linux' | 'mac' | 'android' | 'ios'
    /** The id that the client chose. */
    readonly device_id: string
    /** The name of the device. */
    readonly device_name: string
    /** The version of the client, or empty. */
    readonly client_version: string
    /** The version of the platform, or empty. */
    readonly platform_version: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_accessed: string
    /** The address of the last sign-in. */
    readonly last_login_ip: string
    readonly wiped_at: string | null
    readonly is_desktop_client: boolean
    /** Whether it sent the request. */
    readonly is_current: boolean
  }
  DeviceAuthorization: {
    /** The code of the client, a secret. */
    readonly device_code: string
    /** The code that a person confirms. */
    readonly user_code: string
    /** A URL. */
    readonly verification_uri: string
    /** A URL. */
    readonly verification_uri_complete: string
    /** Seconds. */
    readonly expires_in: number
    /** Seconds between two polls. */
    readonly interval: number
  }
  DeviceToken: {
    /** The personal token. It is not shown again. */
    readonly access_token: string
    readonly token_type: 'Bearer'
    readonly scope: 'r' | 'rw' | 'upload'
    /** Seconds. A token without it does not expire. */
    readonly expires_in?: number
  }
  ExtractionTask: {
    /** The id of the background task. */
    readonly task_id: string
  }
  FileBelow: {
    readonly type: 'file'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In bytes. */
    readonly size: number
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    readonly is_locked: boolean
    /** The account that holds the lock, or empty. */
    readonly lock_owner: string
    /** A name to show. */
    readonly lock_owner_name?: string
    /** When it was locked, in Unix seconds, or 0. */
    readonly lock_time: number
    readonly locked_by_me: boolean
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
  }
  FileBlocks: {
    /** 40 hexadecimal digits. */
    readonly file_id: string
    readonly blklist: readonly string[]
    readonly encrypted: boolean
    /** 0 of a plain library. */
    readonly enc_version: number
  }
  FileDeleted: {
    readonly success: true
    /** 40 hexadecimal digits. */
    readonly commit_id?: string
  }
  FileDetail: {
    readonly type: 'file'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In bytes. */
    readonly size: number
    /** In Unix seconds. */
    readonly mtime: number
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    readonly starred: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly last_modifier_email: string
    /** A name to show. */
    readonly last_modifier_name: string
    /** The address for mail. */
    readonly last_modifier_contact_email: string
    /** The modifier is a visitor of a link, whose creator is named. */
    readonly last_modifier_via_link?: true
    /** The id of an account, in the form of an e-mail address. */
    readonly uploader_email: string
    /** A name to show. */
    readonly uploader_name: string
    /** The address for mail. */
    readonly uploader_contact_email: string
    /** The uploader is a visitor of a link, whose creator is named. */
    readonly uploader_via_link?: true
    /** ISO 8601 with the offset from UTC. */
    readonly upload_time: string
    /** A URL. */
    readonly last_modifier_avatar: string
    /** The number of comments. */
    readonly comment_total: number
    /** Whether the web app can edit it. */
    readonly can_edit: boolean
  }
  FileDirent: {
    readonly type: 'file'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In bytes. */
    readonly size: number
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    readonly is_locked: boolean
    /** The account that holds the lock, or empty. */
    readonly lock_owner: string
    /** A name to show. */
    readonly lock_owner_name?: string
    /** When it was locked, in Unix seconds, or 0. */
    readonly lock_time: number
    readonly locked_by_me: boolean
    readonly starred: boolean
  }
  FileEntry: {
    readonly type: 'file'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
    readonly starred: boolean
    /** In bytes. */
    readonly size: number
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link uploaded it. The modifier created the link. */
    readonly modifier_via_link?: true
    readonly is_locked: boolean
    /** When it was locked, in Unix seconds, or 0. */
    readonly lock_time: number
    /** Whether the lock does not end by itself. */
    readonly is_freezed: boolean
    /** The account that holds the lock, or empty. */
    readonly lock_owner: string
    /** Their name, or empty. */
    readonly lock_owner_name: string
    /** Their address for mail, or empty. */
    readonly lock_owner_contact_email: string
    readonly locked_by_me: boolean
    readonly file_tags?: readonly {
      readonly file_tag_id: number
      readonly repo_tag_id: number
      readonly tag_name: string
      readonly tag_color: string
    }[]
    /** The path of a thumbnail, with `with_thumbnail`. */
    readonly encoded_thumbnail_src?: string
  }
  FileHistory: {
    readonly data: readonly {
      /** 40 hexadecimal digits. */
      readonly commit_id: string
      /** ISO 8601 with the offset from UTC. */
      readonly ctime: string
      /** In bytes. */
      readonly size: number
      /** 40 hexadecimal digits. */
      readonly rev_file_id: string
      /** A path in the library, from its root. */
      readonly path: string
      /** The id of an account, in the form of an e-mail address. */
      readonly creator_email: string
      /** A name to show. */
      readonly creator_name: string
      /** The address for mail. */
      readonly creator_contact_email: string
      /** A URL. */
      readonly creator_avatar_url: string
      /** A visitor of a link made the change. The creator is that of the link. */
      readonly via_link?: true
      /** What the commit changed. */
      readonly description: string
      readonly rev_renamed_old_path: string | null
    }[]
    /** Where the next page begins. */
    readonly next_start_commit: string | false
  }
  FileHistoryPage: {
    readonly data: readonly {
      /** 40 hexadecimal digits. */
      readonly commit_id: string
      /** ISO 8601 with the offset from UTC. */
      readonly ctime: string
      /** In bytes. */
      readonly size: number
      /** 40 hexadecimal digits. */
      readonly rev_file_id: string
      /** A path in the library, from its root. */
      readonly path: string
      /** The id of an account, in the form of an e-mail address. */
      readonly creator_email: string
      /** A name to show. */
      readonly creator_name: string
      /** The address for mail. */
      readonly creator_contact_email: string
      /** A URL. */
      readonly creator_avatar_url: string
      /** A visitor of a link made the change. The creator is that of the link. */
      readonly via_link?: true
      /** The kind of change. */
      readonly op_type: string
      /** The path before, or empty. */
      readonly old_path: string
    }[]
    readonly page: number
    /** The number of revisions. */
    readonly total_count: number
  }
  FileId: {
    /** 40 hexadecimal digits. */
    readonly id: string
  }
  FileInfo: {
    readonly type: 'file'
    /** The id of a library. */
    readonly repo_id: string
    /** A path in the library, from its root. */
    readonly parent_dir: string
    /** The name of a file or folder. */
    readonly obj_name: string
    /** 40 hexadecimal digits. */
    readonly obj_id: string
    /** In bytes. */
    readonly size: number
    /** ISO 8601 with the offset from UTC. */
    readonly mtime: string
    readonly is_locked: boolean
    /** Whether the web app can show it. */
    readonly can_preview: boolean
    /** Whether the web app can edit it. */
    readonly can_edit: boolean
  }
  FileOfLink: {
    readonly is_dir: false
    /** The path below the link. */
    readonly file_path: string
    /** The name of a file or folder. */
    readonly file_name: string
    /** In bytes. */
    readonly size: number
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The path of a thumbnail, if the file can have one. */
    readonly encoded_thumbnail_src?: string
  }
  FileSharedOut: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** A path in the library, from its root. */
    readonly path: string
    /** The name of a file or folder. */
    readonly file_name: string
    readonly share_type: 'personal' | 'group' | 'public'
    /** Whether the caller may write, or only read. */
    readonly share_permission: 'rw' | 'r'
    /** The name of the user that it is shared with. */
    readonly user_name?: string
    /** The account of that user. */
    readonly user_email?: string
    /** The address for mail of that user. */
    readonly contact_email?: string
    /** The id of the group that it is shared with. */
    readonly group_id?: number
    /** The name of that group. */
    readonly group_name?: string
    readonly is_admin: false
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  FileSharedWithMe: {
    /** The id of a library that has only this file. */
    readonly repo_id: string
    /** The path of the file in that library. */
    readonly path: string
    /** The name of a file or folder. */
    readonly file_name: string
    /** In bytes. */
    readonly size: number
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly share_type: 'personal' | 'group' | 'public'
    /** The id of the group that it is shared with. */
    readonly group_id?: number
    /** The name of that group. */
    readonly group_name?: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly share_from: string
    /** A name to show. */
    readonly share_from_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  FileTag: {
    /** The id of the tag at this file. */
    readonly file_tag_id: number
    /** The id of the tag. */
    readonly repo_tag_id: number
    /** The name of the tag. */
    readonly tag_name: string
    /** The color of the tag. */
    readonly tag_color: string
  }
  FileTags: {
    readonly file_tags: readonly Records['FileTag'][]
  }
  FileText: {
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** The text of the document. */
    readonly text: string
    /** Whether the document has more text. */
    readonly truncated: boolean
  }
  FilteredAdminLibraries: {
    /** The name that was sent, or empty. */
    readonly name: string
    /** The owner that was sent, or empty. */
    readonly owner: string
    readonly repos: readonly Records['AdminLibrary'][]
  }
  FolderBelow: {
    readonly type: 'dir'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
  }
  FolderDeleted: {
    readonly success: true
    /** 40 hexadecimal digits. */
    readonly commit_id: string
  }
  FolderDetail: {
    /** The id of a library. */
    readonly repo_id: string
    /** The path of a folder. It ends with a slash. */
    readonly path: string
    /** The name of a file or folder. */
    readonly name: string
    /** ISO 8601 with the offset from UTC. */
    readonly mtime: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The number of files below. */
    readonly file_count: number
    /** In bytes. */
    readonly size: number
  }
  FolderDirent: {
    readonly type: 'dir'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
  }
  FolderEntry: {
    readonly type: 'dir'
    /** 40 hexadecimal digits. */
    readonly id: string
    /** The name of a file or folder. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
    readonly starred: boolean
  }
  FolderId: {
    /** 40 hexadecimal digits. */
    readonly id: string
  }
  FolderInfo: {
    readonly type: 'dir'
    /** The id of a library. */
    readonly repo_id: string
    /** A path in the library, from its root. */
    readonly parent_dir: string
    /** The name of a file or folder. */
    readonly obj_name: string
    /** 40 hexadecimal digits. */
    readonly obj_id: string
    /** ISO 8601 with the offset from UTC. */
    readonly mtime: string
  }
  FolderListing: {
    /** Whether the caller may write, or only read. */
    readonly user_perm: 'rw' | 'r'
    /** 40 hexadecimal digits. */
    readonly dir_id: string
    /** 40 hexadecimal digits. */
    readonly since?: string
    /** With `since`, the names that are gone. */
    readonly removed?: readonly string[]
    readonly dirent_list: readonly (Records['FolderEntry'] | Records['FileEntry'])[]
  }
  FolderOfCommit: {
    readonly dirent_list: readonly {
      readonly type: 'dir' | 'file'
      /** The path of a folder. It ends with a slash. */
      readonly parent_dir: string
      /** 40 hexadecimal digits. */
      readonly obj_id: string
      /** The name of a file or folder. */
      readonly name: string
      /** In bytes. */
      readonly size?: number
    }[]
  }
  FolderOfLink: {
    readonly is_dir: true
    /** The path below the link. It ends with a slash. */
    readonly folder_path: string
    /** The name of a file or folder. */
    readonly folder_name: string
    readonly size: 0
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
  }
  FolderSharedOut: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of a folder. It ends with a slash. */
    readonly path: string
    /** The name of a file or folder. */
    readonly folder_name: string
    readonly share_type: 'personal' | 'group' | 'public'
    /** Whether the caller may write, or only read. */
    readonly share_permission: 'rw' | 'r'
    /** An unused constant. */
    readonly share_permission_name: ''
    /** The name of the user that it is shared with. */
    readonly user_name?: string
    /** The account of that user. */
    readonly user_email?: string
    /** The address for mail of that user. */
    readonly contact_email?: string
    /** The id of the group that it is shared with. */
    readonly group_id?: number
    /** The name of that group. */
    readonly group_name?: string
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  FoundAdminLibraries: {
    readonly page_info: Records['PageInfo']
    readonly repo_list: readonly Records['AdminLibrary'][]
  }
  FoundAdminUsers: {
    readonly user_list: readonly Records['AdminUser'][]
    readonly page_info: {
      readonly has_next_page: ''
      readonly current_page: ''
    }
  }
  FoundNames: {
    readonly data: readonly {
      /** A path in the library, from its root. */
      readonly path: string
      /** In bytes. */
      readonly size: number
      /** ISO 8601 with the offset from UTC. */
      readonly mtime: string
      readonly type: 'folder' | 'file'
    }[]
  }
  FoundUsers: {
    readonly users: readonly Records['User'][]
  }
  Group: {
    /** The id of the group. */
    readonly id: number
    /** An unused constant. */
    readonly parent_group_id: 0
    /** The name of the group. */
    readonly name: string
    /** The account of the owner. Empty if it was deleted. */
    readonly owner: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    readonly admins: readonly string[]
    /** Groups have no quota. */
    readonly group_quota_usage: 0
  }
  GroupLibrary: {
    readonly type: 'grepo'
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** Always empty. The detail of a library has it. */
    readonly root: ''
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** The version of the format. */
    readonly version: 1
    /** Empty below encryption version 3. */
    readonly salt: string
    /** The name of the group. */
    readonly owner: string
    /** The name of the group. */
    readonly group_name: string
    /** The id of the group. */
    readonly groupid: number
    /** The id of an account, in the form of an e-mail address. */
    readonly share_from: string
    /** A name to show. */
    readonly share_from_name: string
    /** The address for mail. */
    readonly share_from_contact_email: string
  }
  GroupMember: {
    /** The id of the group. */
    readonly group_id: number
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    /** A URL. */
    readonly avatar_url: string
    /** The login id, or empty. */
    readonly login_id: string
    /** Whether they administer the group. */
    readonly is_admin: boolean
    readonly role: 'Owner' | 'Admin' | 'Member'
  }
  GroupWithLibraries: {
    /** The id of the group. */
    readonly id: number
    /** An unused constant. */
    readonly parent_group_id: 0
    /** The name of the group. */
    readonly name: string
    /** The account of the owner. Empty if it was deleted. */
    readonly owner: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    readonly admins: readonly string[]
    /** Groups have no quota. */
    readonly group_quota_usage: 0
    /** With `with_repos=1`. */
    readonly repos?: readonly Records['LibraryOfGroup'][]
  }
  HeldMembership: {
    readonly group_id: number
    /** The name of the group. */
    readonly group_name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly from_email: string
    /** A name to show. */
    readonly from_name: string
    /** The address for mail. */
    readonly from_contact_email: string
    /** A URL. */
    readonly from_avatar_url: string
  }
  HeldShare: {
    /** The name of the library, folder or file. */
    readonly name: string
    readonly type: 'library' | 'folder' | 'file'
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly from_email: string
    /** A name to show. */
    readonly from_name: string
    /** The address for mail. */
    readonly from_contact_email: string
    /** A URL. */
    readonly from_avatar_url: string
  }
  HeldShares: {
    readonly held_shares: readonly Records['HeldShare'][]
    readonly held_groups: readonly Records['HeldMembership'][]
  }
  History: {
    readonly data: readonly Records['HistoryEntry'][]
    /** Whether there is another page. */
    readonly more: boolean
  }
  HistoryEntry: {
    /** 40 hexadecimal digits. */
    readonly commit_id: string
    /** ISO 8601 with the offset from UTC. */
    readonly time: string
    /** What the commit changed. */
    readonly description: string
    /** The id of an account, in the form of an e-mail address. */
    readonly creator: string
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    /** A visitor of a link made the change. The creator is that of the link. */
    readonly via_link?: true
    readonly client_version: string | null
    readonly device_name: string | null
    readonly second_parent_id: string | null
    /** Always empty. */
    readonly tags: readonly string[]
  }
  HistoryLimit: {
    /** -1 keeps all history. */
    readonly keep_days: number
  }
  IndexProgress: {
    /** The number of files that were indexed. */
    readonly indexed: number
    /** The number of files. */
    readonly total: number
    /** Finished. */
    readonly status: 0
    /** A JSON array of the stored files. */
    readonly ret_json: string
  }
  ItemLock: {
    /** A path in the library, from its root. */
    readonly path: string
    /** Whether it covers everything in a folder. */
    readonly with_content: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly lock_owner: string
    /** A name to show. */
    readonly lock_owner_name: string
    /** In Unix seconds. */
    readonly lock_time: number
    readonly expires_at: number | null
  }
  LibraryDescription: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    readonly repo_type: null
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** A URL. */
    readonly owner_avatar: string
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** The number of files. */
    readonly file_count: number
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** Whether the owner is out of quota. */
    readonly no_quota: boolean
    /** Whether the caller may manage its shares. */
    readonly is_admin: boolean
    /** Whether it is a folder of another library. */
    readonly is_virtual: boolean
    readonly has_been_shared_out: boolean
    /** Whether it needs its password first. */
    readonly lib_need_decrypt: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    readonly status: 'normal' | 'read-only'
    readonly enable_onlyoffice: false
    /** Whether the caller is notified of changes. */
    readonly monitored: boolean
  }
  LibraryDetail: {
    readonly type: 'repo'
    /** The id of a library. */
    readonly id: string
    /** Whether the caller owns it. */
    readonly owner: 'self' | 'share'
    /** The name of the library. */
    readonly name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** 40 hexadecimal digits. */
    readonly root: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** The number of files. */
    readonly file_count: number
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** The encryption version, of an encrypted library only. */
    readonly enc_version?: number
    /** Of an encrypted library only. */
    readonly salt?: string
    /** Of an encrypted library only. */
    readonly magic?: string
    /** Of an encrypted library only. */
    readonly random_key?: string
  }
  LibraryForEveryone: {
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** A name to show. */
    readonly owner_nickname: string
    /** A name to show. */
    readonly owner_name: string
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
  }
  LibraryList: {
    readonly repos: readonly (Records['ListedOwnLibrary'] | Records['ListedSharedLibrary'] | Records['ListedGroupLibrary'] | Records['ListedPublicLibrary'])[]
  }
  LibraryOfGroup: {
    /** The id of a library. */
    readonly id: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly name: string
    /** The name of the library. */
    readonly repo_name: string
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** Whether the share lets the group manage it. */
    readonly is_admin: boolean
    readonly starred: boolean
    readonly monitored: false
    /** `normal` or `read-only`. */
    readonly status: string
    readonly archive_status: null
  }
  LibraryOfToken: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** In bytes. */
    readonly size: number
    /** The number of files. */
    readonly file_count: number
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
  }
  LibraryOwner: {
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
  }
  LibrarySharedOut: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    readonly encrypted: boolean
    readonly share_type: 'personal' | 'group' | 'public'
    /** Whether the caller may write, or only read. */
    readonly share_permission: 'rw' | 'r'
    /** An unused constant. */
    readonly share_permission_name: ''
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** The name of the user that it is shared with. */
    readonly user_name?: string
    /** The account of that user. */
    readonly user_email?: string
    /** The address for mail of that user. */
    readonly contact_email?: string
    /** The id of the group that it is shared with. */
    readonly group_id?: number
    /** The name of that group. */
    readonly group_name?: string
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  LibraryToken: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the app. */
    readonly app_name: string
    /** The id of an account, in the form of an e-mail address. */
    readonly generated_by: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The token. Empty if it cannot be shown any more. */
    readonly api_token: string
  }
  LibraryTokens: {
    readonly repo_api_tokens: readonly Records['LibraryToken'][]
  }
  LibraryUsage: {
    /** The id of a library. */
    readonly repo_id: string
    /** Whether nothing changed since they were counted. */
    readonly is_current: boolean
    /** Bytes of the current content. */
    readonly current: number
    /** Bytes that only the trash needs. */
    readonly trash: number
    /** Bytes that only the history needs. */
    readonly history: number
    /** Bytes that nothing needs any more. Garbage collection frees them. */
    readonly unreferenced: number
    /** Bytes of those above that other libraries need too. */
    readonly shared: number
    /** The sum of the first four. */
    readonly total: number
    /** The number of blocks. */
    readonly blocks: number
    /** ISO 8601 with the offset from UTC. */
    readonly computed_at: string
  }
  LinkAccess: {
    readonly type: 'share' | 'upload'
    /** A path in the library, from its root. */
    readonly path: string
    /** Whether it is on the item itself, on a folder above it, or on something in it. */
    readonly relation: 'here' | 'above' | 'below'
    readonly is_dir: boolean
    readonly has_password: boolean
    readonly scope: 'all_users' | 'specific_users' | 'specific_emails'
    readonly can_download: boolean
    readonly can_upload: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly since: string
    /** A name to show. */
    readonly creator_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
  }
  ListedGroupLibrary: {
    readonly type: 'group'
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly starred: boolean
    readonly status: 'normal' | 'read-only'
    /** Empty below encryption version 3. */
    readonly salt: string
    readonly enable_onlyoffice: false
    /** Whether the caller is notified of changes. */
    readonly monitored: boolean
    /** The id of the group. */
    readonly group_id: number
    /** The name of the group. */
    readonly group_name: string
  }
  ListedOwnLibrary: {
    readonly type: 'mine'
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly starred: boolean
    readonly status: 'normal' | 'read-only'
    /** Empty below encryption version 3. */
    readonly salt: string
    readonly enable_onlyoffice: false
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** A URL. */
    readonly owner_avatar: string
    /** Whether the caller is notified of changes. */
    readonly monitored: boolean
  }
  ListedPublicLibrary: {
    readonly type: 'public'
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly starred: boolean
    readonly status: 'normal' | 'read-only'
    /** Empty below encryption version 3. */
    readonly salt: string
    readonly enable_onlyoffice: false
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** A URL. */
    readonly owner_avatar: string
  }
  ListedShareLink: {
    /** The id of an account, in the form of an e-mail address. */
    readonly username: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item. */
    readonly obj_name: string
    readonly is_dir: boolean
    /** The token of the link. */
    readonly token: string
    /** A URL. */
    readonly link: string
    /** The URL of the content of a file, or empty. */
    readonly download_link: string
    readonly show_download_link: boolean
    /** How often it was opened. */
    readonly view_cnt: number
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** When it ends, in ISO 8601, or empty. */
    readonly expire_date: string
    readonly is_expired: boolean
    /** The password of the link, or empty. */
    readonly password: string
    /** A note of its creator, or empty. */
    readonly description: string
    /** Whether the item still exists. */
    readonly is_valid: boolean
    /** Whether the link works. */
    readonly is_active: boolean
    readonly permissions: {
      readonly can_edit: boolean
      readonly can_download: boolean
      readonly can_upload: boolean
      readonly can_copy_content: true
    }
    /** Who may open it. */
    readonly user_scope: string
    /** Whether its creator can edit the file in the web app. */
    readonly can_edit: boolean
    /** What its creator may do there, or empty. */
    readonly repo_folder_permission: 'rw' | 'r' | ''
  }
  ListedSharedLibrary: {
    readonly type: 'shared'
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly starred: boolean
    readonly status: 'normal' | 'read-only'
    /** Empty below encryption version 3. */
    readonly salt: string
    readonly enable_onlyoffice: false
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** A URL. */
    readonly owner_avatar: string
    /** Whether the caller is notified of changes. */
    readonly monitored: boolean
    /** Whether the caller may manage its shares. */
    readonly is_admin: boolean
  }
  ListedUploadLink: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item. */
    readonly obj_name: string
    /** A URL. */
    readonly link: string
    /** The token of the link. */
    readonly token: string
    /** The id of an account, in the form of an e-mail address. */
    readonly username: string
    /** How often it was opened. */
    readonly view_cnt: number
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** When it ends, in ISO 8601, or empty. */
    readonly expire_date: string
    readonly is_expired: boolean
    /** The password of the link, or empty. */
    readonly password: string
    /** A note of its creator, or empty. */
    readonly description: string
    /** Whether the item still exists. */
    readonly is_valid: boolean
    /** Whether the link works. */
    readonly is_active: boolean
  }
  ListingOfLink: {
    readonly dirent_list: readonly (Records['FolderOfLink'] | Records['FileOfLink'])[]
    /** The path of a folder. It ends with a slash. */
    readonly dir_path: string
  }
  MailState: {
    /** Whether the server sends mail. */
    readonly configured: boolean
    /** The number of mails that are waiting. */
    readonly waiting: number
    readonly oldest_waiting: string | null
    /** The number of mails that were sent in the last 24 hours. */
    readonly sent_24h: number
    /** The number of mails that failed in the last 24 hours. */
    readonly failed_24h: number
    readonly last_error: string | null
  }
  MailedLink: {
    /** The addresses that get a mail. */
    readonly success: readonly string[]
    readonly failed: readonly {
      /** An address. */
      readonly email: string
      /** Why it gets none. */
      readonly error_msg: string
    }[]
  }
  MergedTrash: {
    readonly items: readonly {
      /** The path of a folder. It ends with a slash. */
      readonly parent_dir: string
      /** The name of a file or folder. */
      readonly obj_name: string
      /** ISO 8601 with the offset from UTC. */
      readonly deleted_time: string
      /** 40 hexadecimal digits. */
      readonly commit_id: string
      readonly is_dir: boolean
      /** In bytes. */
      readonly size: number
      /** 40 hexadecimal digits, or empty. */
      readonly obj_id: string
      /** The id of a library. */
      readonly repo_id: string
      /** The name of the library. */
      readonly repo_name: string
      /** Whether the caller may restore it. */
      readonly can_restore: boolean
    }[]
    readonly next_cursor: string | null
  }
  MonitoredLibrary: {
    /** The id of an account, in the form of an e-mail address. */
    readonly user_email: string
    /** A name to show. */
    readonly user_name: string
    /** The address for mail. */
    readonly user_contact_email: string
    /** The id of a library. */
    readonly repo_id: string
  }
  NewPassword: {
    /** The password. It is not shown again. */
    readonly new_password: string
    /** A sentence to show, which names it too. */
    readonly reset_tip: string
  }
  NewPersonalToken: {
    readonly id: number
    /** The name that its owner chose. */
    readonly name: string
    readonly permission: 'r' | 'rw' | 'upload'
    readonly repo_id: string | null
    readonly repo_name: string | null
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    readonly last_used_at: string | null
    readonly expires_at: string | null
    /** The token. It is not shown again. */
    readonly token: string
  }
  Notification: {
    readonly id: number
    /** The kind of the notification. */
    readonly type: string
    /** Its fields depend on the kind. */
    readonly detail: Readonly<Record<string, unknown>>
    /** ISO 8601 with the offset from UTC. */
    readonly time: string
    readonly seen: boolean
  }
  Notifications: {
    readonly notification_list: readonly Records['Notification'][]
    /** The number of those that were not seen. */
    readonly unseen_count: number
    /** The number of all. */
    readonly count: number
  }
  NumberedTrashPage: {
    readonly items: readonly {
      /** The path of a folder. It ends with a slash. */
      readonly parent_dir: string
      /** The name of a file or folder. */
      readonly obj_name: string
      /** ISO 8601 with the offset from UTC. */
      readonly deleted_time: string
      /** 40 hexadecimal digits. */
      readonly commit_id: string
      readonly is_dir: boolean
      /** In bytes. */
      readonly size: number
      /** 40 hexadecimal digits, or empty. */
      readonly obj_id: string
    }[]
    /** The number of entries on all pages. */
    readonly total_count: number
    /** Whether the library keeps history. */
    readonly can_search: boolean
  }
  OlderAccount: {
    readonly id: number
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    readonly department: string
    readonly institution: string
    /** Whether it is an administrator. */
    readonly is_staff: boolean
    /** Whether it can sign in. */
    readonly is_active: boolean
    /** In microseconds since 1970. */
    readonly create_time: number
    /** The login id, or empty. */
    readonly login_id: string
    /** Whether other users find it. */
    readonly list_in_address_book: boolean
    /** The quota in bytes. A negative number is no limit. */
    readonly total: number
    /** In bytes. */
    readonly usage: number
  }
  OlderActivities: {
    readonly events: readonly Records['Activity'][]
    /** Whether there are older ones. */
    readonly more: boolean
    /** The `start` of the next page. */
    readonly more_offset: number
  }
  OlderDownloadLink: {
    /** The id of an account, in the form of an e-mail address. */
    readonly create_by: string
    /** A name to show. */
    readonly creator_name: string
    /** ISO 8601 without a colon in the offset. */
    readonly create_time: string
    /** The token of the link. */
    readonly token: string
    /** A path in the library, from its root. */
    readonly path: string
    /** The name of a file or folder. */
    readonly name: string
    /** How often it was opened. */
    readonly view_count: number
    /** A folder or a file. */
    readonly share_type: 'd' | 'f'
    /** In bytes. Empty for a folder. */
    readonly size: string
  }
  OlderFileHistory: {
    readonly commits: readonly {
      /** 40 hexadecimal digits. */
      readonly id: string
      /** The account that made the commit. */
      readonly creator_name: string
      /** 40 hexadecimal digits. */
      readonly creator: string
      /** A visitor of a link made the change. The creator is that of the link. */
      readonly via_link?: true
      /** What the commit changed. */
      readonly desc: string
      /** In Unix seconds. */
      readonly ctime: number
      /** The id of a library. */
      readonly repo_id: string
      /** 40 hexadecimal digits. */
      readonly root_id: string
      readonly parent_id: string | null
      readonly second_parent_id: string | null
      readonly version: 1
      readonly new_merge: boolean
      readonly conflict: boolean
      readonly device_name: string | null
      readonly client_version: string | null
      /** 40 hexadecimal digits. */
      readonly rev_file_id: string
      /** In bytes. */
      readonly rev_file_size: number
      readonly rev_renamed_old_path: string | null
      readonly user_info: {
        /** The id of an account, in the form of an e-mail address. */
        readonly email: string
        /** A name to show. */
        readonly name: string
        /** The address for mail. */
        readonly contact_email: string
      }
    }[]
  }
  OlderGroup: {
    /** The id of the group. */
    readonly id: number
    /** The name of the group. */
    readonly name: string
    /** The account of the owner. Empty if it was deleted. */
    readonly creator: string
    /** In microseconds since 1970. */
    readonly ctime: number
    /** A URL. */
    readonly avatar: string
  }
  OlderGroups: {
    readonly groups: readonly {
      /** The id of the group. */
      readonly id: number
      /** The name of the group. */
      readonly name: string
      /** The account of the owner. Empty if it was deleted. */
      readonly creator: string
      /** In microseconds since 1970. */
      readonly ctime: number
      readonly msgnum: 0
    }[]
    readonly replynum: 0
  }
  OlderHistory: {
    readonly commits: readonly {
      /** 40 hexadecimal digits. */
      readonly id: string
      /** The account that made the commit. */
      readonly creator_name: string
      /** 40 hexadecimal digits. */
      readonly creator: string
      /** A visitor of a link made the change. The creator is that of the link. */
      readonly via_link?: true
      /** What the commit changed. */
      readonly desc: string
      /** In Unix seconds. */
      readonly ctime: number
      /** The id of a library. */
      readonly repo_id: string
      /** 40 hexadecimal digits. */
      readonly root_id: string
      readonly parent_id: string | null
      readonly second_parent_id: string | null
      readonly version: 1
      readonly new_merge: boolean
      readonly conflict: boolean
      readonly device_name: string | null
      readonly client_version: string | null
      readonly rev_file_id: null
      readonly rev_file_size: 0
      readonly rev_renamed_old_path: null
    }[]
    /** Whether there is another page. */
    readonly page_next: boolean
  }
  OlderShare: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The description of the library. */
    readonly repo_desc: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    readonly share_type: 'personal' | 'group' | 'public'
    /** The other party. */
    readonly user: string
    /** 0 unless it is shared with a group. */
    readonly group_id: number
    /** In Unix seconds. */
    readonly last_modified: number
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether it is a folder of another library. */
    readonly is_virtual: boolean
    readonly origin_repo_id: string | null
    readonly origin_path: string | null
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
  }
  OlderShareLink: {
    /** The id of an account, in the form of an e-mail address. */
    readonly username: string
    /** The id of a library. */
    readonly repo_id: string
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** A folder or a file. */
    readonly s_type: 'd' | 'f'
    /** The token of the link. */
    readonly token: string
    /** How often it was opened. */
    readonly view_cnt: number
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
  }
  OlderShareLinks: {
    readonly fileshares: readonly Records['OlderShareLink'][]
  }
  OlderSharedWithGroup: {
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** The description of the library. */
    readonly desc: string
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    readonly encrypted: boolean
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** A name to show. */
    readonly owner_nickname: string
    /** A name to show. */
    readonly owner_name: string
    /** Whether the caller shared it. */
    readonly share_from_me: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
  }
  OlderUploadLink: {
    /** The id of an account, in the form of an e-mail address. */
    readonly create_by: string
    /** A name to show. */
    readonly creator_name: string
    /** ISO 8601 without a colon in the offset. */
    readonly create_time: string
    /** The token of the link. */
    readonly token: string
    /** A path in the library, from its root. */
    readonly path: string
    /** The name of a file or folder. */
    readonly name: string
    /** How often it was opened. */
    readonly view_count: number
  }
  Onboarding: {
    readonly dismissed: readonly string[]
    /** Whether the password was assigned, not chosen by the owner of the account. */
    readonly password_assigned: boolean
  }
  OneWebhook: {
    readonly webhook: Records['Webhook']
  }
  OwnLibrary: {
    readonly type: 'repo'
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** Always empty. The detail of a library has it. */
    readonly root: ''
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** The version of the format. */
    readonly version: 1
    /** Empty below encryption version 3. */
    readonly salt: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    readonly virtual: false
  }
  PageInfo: {
    /** Whether there is another page. */
    readonly has_next_page: boolean
    /** Counted from 1. */
    readonly current_page: number
  }
  Participants: {
    readonly participant_list: readonly Records['User'][]
  }
  PasswordChosen: {
    readonly success: true
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
  }
  PendingDevice: {
    /** The name of the program. */
    readonly client_id: string
    /** The name of the machine, or empty. */
    readonly device_name: string
    /** What it asks for. `session` is a session of the account. */
    readonly permission: 'r' | 'rw' | 'upload' | 'session'
    /** The address it asked from. */
    readonly address: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** ISO 8601 with the offset from UTC. */
    readonly expires_at: string
  }
  PersonalTokens: {
    readonly personal_tokens: readonly {
      readonly id: number
      /** The name that its owner chose. */
      readonly name: string
      readonly permission: 'r' | 'rw' | 'upload'
      readonly repo_id: string | null
      readonly repo_name: string | null
      /** ISO 8601 with the offset from UTC. */
      readonly created_at: string
      readonly last_used_at: string | null
      readonly expires_at: string | null
    }[]
  }
  Photo: {
    /** The id of a library. */
    readonly repo_id: string
    /** A path in the library, from its root. */
    readonly path: string
    /** 40 hexadecimal digits. */
    readonly id: string
    readonly type: 'image' | 'video'
    /** In bytes. */
    readonly size: number
    /** In Unix seconds. */
    readonly mtime: number
    /** When it was taken, in the local time of the camera, with the offset from UTC if known. */
    readonly taken: string
    /** In pixels, if known. */
    readonly width?: number
    /** In pixels, if known. */
    readonly height?: number
    /** A small placeholder of the image: a ThumbHash in Base64. */
    readonly thumbhash?: string
  }
  PhotoDays: {
    readonly days: readonly (readonly [string, number])[]
  }
  Photos: {
    readonly photos: readonly Records['Photo'][]
    /** The libraries of these photos, by id. */
    readonly repos: Readonly<Record<string, {
      /** The name of the library. */
      readonly repo_name: string
      /** Whether the caller may write, or only read. */
      readonly permission: 'rw' | 'r'
    }>>
    readonly next: string | null
  }
  Placed: {
    /** The id of a library. */
    readonly repo_id: string
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
    /** The name, with a number if the name was taken. */
    readonly obj_name: string
  }
  Placeholders: {
    /** By name of the file. */
    readonly thumbhashes: Readonly<Record<string, string>>
  }
  Profile: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    readonly contact_email_verified: boolean
    readonly telephone: ''
    /** The login id, or empty. */
    readonly login_id: string
    readonly list_in_address_book: boolean
    /** The language of mails, or empty. */
    readonly language: string
    readonly mail_notices: 'off' | 'at-once' | 'daily'
  }
  PublicLibrary: {
    readonly type: 'grepo'
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** Always empty. The detail of a library has it. */
    readonly root: ''
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** The version of the format. */
    readonly version: 1
    /** Empty below encryption version 3. */
    readonly salt: string
    readonly owner: 'Organization'
    readonly share_type: 'public'
    /** The id of an account, in the form of an e-mail address. */
    readonly share_from: string
    /** A name to show. */
    readonly share_from_name: string
    /** The address for mail. */
    readonly share_from_contact_email: string
  }
  RecursiveListing: {
    readonly dirent_list: readonly (Records['FolderBelow'] | Records['FileBelow'])[]
  }
  Redelivery: {
    readonly delivery: Records['Delivery']
  }
  RelatedUsers: {
    readonly user_list: readonly Records['User'][]
  }
  Restored: {
    readonly success: readonly {
      /** A path in the library, from its root. */
      readonly path: string
      readonly is_dir: boolean
    }[]
    readonly failed: readonly {
      /** A path in the library, from its root. */
      readonly path: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
  }
  RestoredFromCommits: {
    readonly success: readonly {
      /** A path in the library, from its root. */
      readonly path: string
      readonly is_dir: boolean
    }[]
    readonly failed: readonly {
      /** 40 hexadecimal digits. */
      readonly commit_id: string
      /** A path in the library, from its root. */
      readonly path: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
  }
  SearchFailures: {
    /** The number of files on all pages. */
    readonly total_count: number
    readonly search_failure_list: readonly {
      /** The id of a library with the file, or empty. */
      readonly repo_id: string
      /** The name of that library, or empty. */
      readonly repo_name: string
      /** The path of the file, or empty. */
      readonly path: string
      /** Why its text could not be extracted. */
      readonly reason: string
      /** The number of attempts. */
      readonly attempts: number
    }[]
  }
  SearchPage: {
    /** The number of results on all pages. */
    readonly total: number
    /** Set if results are not counted, because there are more than 1,000: `total` is at least 1,001. */
    readonly total_is_minimum?: boolean
    /** Whether there is another page. */
    readonly has_more: boolean
    readonly results: readonly Records['SearchResult'][]
  }
  SearchResult: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The name of a file or folder. */
    readonly name: string
    /** A path in the library, from its root. */
    readonly fullpath: string
    /** 40 hexadecimal digits, or empty. */
    readonly oid: string
    readonly is_dir: boolean
    /** In bytes. */
    readonly size: number
    /** In Unix seconds. */
    readonly last_modified: number
    /** An excerpt with matches in `<b>` elements. May be empty. */
    readonly content_highlight: string
    readonly repo_encrypted: boolean
    /** How the caller can open the library. Empty if one library was searched. */
    readonly repo_type: 'mine' | 'shared' | 'group' | 'public' | ''
    /** The account of the owner. Empty if there is none any more. */
    readonly repo_owner_email: string
    /** A name to show. */
    readonly repo_owner_name: string
    /** The address for mail. */
    readonly repo_owner_contact_email: string
    /** Whether the caller may write, or only read. */
    readonly permission?: 'rw' | 'r'
    /** The comment that matches. */
    readonly comment?: {
      readonly id: number
      /** The id of an account, in the form of an e-mail address. */
      readonly user_email: string
      /** A name to show. */
      readonly user_name: string
      /** ISO 8601 with the offset from UTC. */
      readonly created_at: string
    }
    /** A URL of a thumbnail, or empty. */
    readonly thumbnail_url: string
  }
  ServerInfo: {
    /** The version of the API, by which clients select their calls. */
    readonly version: string
    /** The encryption version of new libraries. */
    readonly encrypted_library_version: number
    /** Names of features. */
    readonly features: readonly string[]
  }
  ServerSetup: {
    readonly public_url: string | null
    /** A URL. */
    readonly base_url: string
    readonly backup: {
      /** Whether the server makes backups by itself. */
      readonly scheduled: boolean
      readonly interval_hours: number | null
      readonly last_backup: string | null
      readonly failure: {
        /** ISO 8601 with the offset from UTC. */
        readonly at: string
        /** Why it failed. */
        readonly message: string
      } | null
    }
    readonly mail: Records['MailState']
    /** The number of accounts. */
    readonly accounts: number
    /** Whether the password of the caller was assigned, not chosen by the caller. */
    readonly password_assigned: boolean
  }
  ServerStatus: {
    /** The version of the program. */
    readonly version: string
    readonly database: 'sqlite' | 'postgres'
    /** Where blocks are stored. */
    readonly blocks: 'disk' | 's3'
    /** ISO 8601 with the offset from UTC. */
    readonly started_at: string
    /** Seconds since then. */
    readonly uptime: number
    /** Whether all checks pass. */
    readonly healthy: boolean
    readonly checks: readonly {
      /** What was checked. */
      readonly name: 'database' | 'data-folder'
      readonly ok: boolean
    }[]
    readonly disk: {
      /** Bytes that are free. */
      readonly free: number
      /** Bytes of the disk. */
      readonly total: number
    } | null
    readonly search: {
      /** The number of commits that are not indexed yet. */
      readonly commits_behind: number
      /** The age of the oldest of them. */
      readonly seconds_behind: number
      /** The number of files whose text was not extracted yet. */
      readonly texts_waiting: number
      /** The number of files whose text could not be extracted. */
      readonly texts_failed: number
    }
    readonly stored: {
      /** The size of all files in bytes, as quotas count it. */
      readonly file_size: number
      /** Bytes of the current content. */
      readonly current: number
      /** Bytes that only the trash needs. */
      readonly trash: number
      /** Bytes that only the history needs. */
      readonly history: number
      /** Bytes that nothing needs any more. Garbage collection frees them. */
      readonly unreferenced: number
      /** Bytes of deleted libraries. */
      readonly deleted: number
      /** Bytes that several libraries need. They are stored once. */
      readonly shared: number
      /** The number of libraries. */
      readonly repos_count: number
      /** The number of libraries that were not counted yet. */
      readonly uncounted_repos: number
      readonly on_disk: Records['StoredOnDisk'] | null
    }
    readonly gc: {
      readonly running: boolean
      readonly last_began_at: string | null
      readonly last_ended_at: string | null
      /** Whether the last run failed. */
      readonly failed: boolean
      readonly failure: string | null
      /** The number of blocks it deleted. */
      readonly deleted_blocks: number
      /** In bytes. */
      readonly freed_bytes: number
      /** Bytes that it will delete later. */
      readonly waiting_bytes: number
    }
    readonly tasks: {
      /** The number of background tasks that wait. */
      readonly queued: number
      /** The number of background tasks that run. */
      readonly running: number
    }
    /** The last run of each maintenance job. */
    readonly upkeep: readonly {
      /** The name of the maintenance job. */
      readonly name: string
      /** ISO 8601 with the offset from UTC. */
      readonly ended_at: string
      /** In milliseconds. */
      readonly duration_ms: number
      readonly failed: boolean
    }[]
    readonly last_backup: string | null
    readonly last_verified_backup: string | null
    readonly backup_unfinished_since: string | null
    readonly backup_failure: {
      readonly kind: 'backup' | 'verify'
      /** ISO 8601 with the offset from UTC. */
      readonly at: string
      /** Why it failed. */
      readonly message: string
    } | null
    readonly nodes: readonly {
      /** The id of the node. */
      readonly id: string
      /** The address of the node. */
      readonly address: string
      /** The version of the program. */
      readonly version: string
      /** Whether it has sent a heartbeat lately. */
      readonly alive: boolean
      /** Whether it answers this request. */
      readonly is_this: boolean
      /** ISO 8601 with the offset from UTC. */
      readonly started_at: string
      readonly heartbeat_at: string | null
      readonly leases: readonly string[]
    }[]
    readonly mail: Records['MailState']
    readonly last_check: string | null
    readonly check_unfinished_since: string | null
    readonly integrity: {
      /** The number of blocks that are missing or damaged. */
      readonly damaged_blocks: number
      readonly check_findings: number | null
      readonly scrub: {
        /** ISO 8601 with the offset from UTC. */
        readonly started_at: string
        /** The number of blocks that this pass has read. */
        readonly blocks: number
        /** In bytes. */
        readonly bytes: number
        /** The number of damaged blocks that this pass has found. */
        readonly found: number
        readonly last_finished_at: string | null
        readonly last_found: number | null
      } | null
    }
  }
  ServerTotals: {
    /** The number of accounts. */
    readonly users_count: number
    /** The number of accounts that can sign in. */
    readonly active_users_count: number
    /** The number of groups. */
    readonly groups_count: number
    /** The number of libraries. */
    readonly repos_count: number
    /** The number of files. */
    readonly total_files_count: number
    /** The size of all files in bytes. */
    readonly total_storage: number
    /** The number of devices. */
    readonly total_devices_count: number
    /** The number of devices that were used in the last day. */
    readonly current_connected_devices_count: number
  }
  Session: {
    readonly id: number
    /** Empty without a device. */
    readonly platform: 'windows' | 'linux' | 'mac' | 'android' | 'ios' | ''
    /** The id of the device, or empty. */
    readonly device_id: string
    /** The name of the device, or empty. */
    readonly device_name: string
    readonly client_version: string
    readonly platform_version: string
    readonly user_agent: string
    /** The address it was opened from. */
    readonly last_login_ip: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_accessed: string
    readonly expires_at: string | null
    readonly wiped_at: string | null
    /** Whether it is the session of the request. */
    readonly is_current: boolean
  }
  Sessions: {
    readonly sessions: readonly Records['Session'][]
    readonly webdav_clients: readonly Records['WebdavClient'][]
  }
  ShareInfo: {
    readonly shared_user_emails: readonly string[]
    readonly shared_group_ids: readonly number[]
  }
  ShareLink: {
    /** The id of an account, in the form of an e-mail address. */
    readonly username: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item. */
    readonly obj_name: string
    readonly is_dir: boolean
    /** The token of the link. */
    readonly token: string
    /** A URL. */
    readonly link: string
    /** The URL of the content of a file, or empty. */
    readonly download_link: string
    readonly show_download_link: boolean
    /** How often it was opened. */
    readonly view_cnt: number
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** When it ends, in ISO 8601, or empty. */
    readonly expire_date: string
    readonly is_expired: boolean
    /** The password of the link, or empty. */
    readonly password: string
    /** A note of its creator, or empty. */
    readonly description: string
    /** Whether the item still exists. */
    readonly is_valid: boolean
    /** Whether the link works. */
    readonly is_active: boolean
    readonly permissions: {
      readonly can_edit: boolean
      readonly can_download: boolean
      readonly can_upload: boolean
      readonly can_copy_content: true
    }
    /** Who may open it. */
    readonly user_scope: string
    /** Whether its creator can edit the file in the web app. */
    readonly can_edit: boolean
    /** 40 hexadecimal digits, or empty. */
    readonly obj_id: string
  }
  ShareResults: {
    readonly success: readonly (Records['ShareWithUser'] | Records['ShareWithGroup'])[]
    readonly failed: readonly {
      /** A user, as it was sent. */
      readonly email?: string
      /** The name of a group, or its id as it was sent. */
      readonly group_name?: string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly virtual_repo_id: string | null
  }
  ShareWithGroup: {
    readonly share_type: 'group'
    readonly group_info: {
      readonly id: number
      /** The name of the group. */
      readonly name: string
    }
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  ShareWithUser: {
    readonly share_type: 'user'
    readonly user_info: {
      /** The id of an account, in the form of an e-mail address. */
      readonly name: string
      /** A name to show. */
      readonly nickname: string
      /** The address for mail. */
      readonly contact_email: string
      /** A URL. */
      readonly avatar_url: string
    }
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
    readonly is_expired?: boolean
  }
  SharedAccess: {
    readonly share_type: 'personal' | 'group' | 'public'
    /** A name to show. */
    readonly user_name?: string
    /** The id of an account, in the form of an e-mail address. */
    readonly user_email?: string
    /** The address for mail. */
    readonly contact_email?: string
    readonly group_id?: number
    /** The name of the group. */
    readonly group_name?: string
    /** A path in the library, from its root. */
    readonly path: string
    /** Whether it is on the item itself, on a folder above it, or on something in it. */
    readonly relation: 'here' | 'above' | 'below'
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** Whether the recipient may manage shares. */
    readonly is_admin: boolean
    /** Whether it grants nothing until the recipient accepts it. */
    readonly is_held: boolean
    /** ISO 8601 with the offset from UTC. */
    readonly since: string
    /** A name to show. */
    readonly giver_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly expire_date?: string
  }
  SharedEntries: {
    /** Those that are shared with users or groups. */
    readonly shared: readonly string[]
    /** Those that have links. */
    readonly linked: readonly string[]
  }
  SharedFiles: {
    readonly shared_with_me: readonly Records['FileSharedWithMe'][]
    readonly shared_by_me: readonly Records['FileSharedOut'][]
  }
  SharedLibraries: {
    readonly failed: readonly {
      /** The id of the library, as it was sent. */
      readonly repo_id: string
      /** The user. */
      readonly username?: string
      /** The id of the group, or the submitted value if there is no such group. */
      readonly group_id?: number | string
      /** Why it failed. */
      readonly error_msg: string
    }[]
    readonly success: readonly {
      /** The id of the library, as it was sent. */
      readonly repo_id: string
      /** The user. */
      readonly username?: string
      /** The id of the group. */
      readonly group_id?: number
      readonly permission: 'r' | 'rw' | 'admin'
    }[]
  }
  SharedLibrary: {
    readonly type: 'srepo'
    /** The id of a library. */
    readonly id: string
    /** The name of the library. */
    readonly name: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    /** In bytes. */
    readonly size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly size_formatted: string
    readonly encrypted: boolean
    /** Always empty. The detail of a library has it. */
    readonly root: ''
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** The version of the format. */
    readonly version: 1
    /** Empty below encryption version 3. */
    readonly salt: string
    /** The id of an account, in the form of an e-mail address. */
    readonly owner: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** A name to show. */
    readonly owner_nickname: string
    /** Whether it is a folder of another library. */
    readonly is_virtual: boolean
    readonly origin_repo_id: string | null
    readonly share_type: 'personal'
    readonly group_name: ''
    /** Whether the caller may manage its shares. */
    readonly is_admin: boolean
  }
  SharedWithGroup: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly mtime: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** In bytes. */
    readonly size: number
    readonly encrypted: boolean
    /** Whether the share lets the group manage it. */
    readonly is_admin: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly owner_email: string
    /** A name to show. */
    readonly owner_name: string
    /** The address for mail. */
    readonly owner_contact_email: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** A name to show. */
    readonly modifier_name: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A visitor of a link made the last change. The modifier created the link. */
    readonly modifier_via_link?: true
    readonly starred: boolean
    readonly monitored: false
  }
  SmartLink: {
    /** A URL. */
    readonly smart_link: string
    /** The token of the link. */
    readonly smart_link_token: string
    /** The name of a file or folder. */
    readonly name: string
  }
  SmartLinkTarget: {
    /** The id of a library. */
    readonly repo_id: string
    /** A path in the library, from its root. */
    readonly path: string
    readonly is_dir: boolean
  }
  StarredFile: {
    /** An unused constant. */
    readonly org: -1
    /** The id of a library. */
    readonly repo: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    readonly repo_encrypted: boolean
    /** A path in the library, from its root. */
    readonly path: string
    /** The name of a file or folder. */
    readonly file_name: string
    /** An unused constant. */
    readonly icon_path: string
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    readonly dir: false
    /** 40 hexadecimal digits. */
    readonly oid: string
    /** In bytes. */
    readonly size: number
  }
  StarredItem: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    readonly repo_encrypted: boolean
    readonly is_dir: boolean
    /** The path. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item, or of the library. */
    readonly obj_name: string
    /** ISO 8601 with the offset from UTC. Empty if the item is gone. */
    readonly mtime: string
    /** Whether the item is gone. */
    readonly deleted: boolean
    /** The id of an account, in the form of an e-mail address. */
    readonly user_email: string
    /** A name to show. */
    readonly user_name: string
    /** The address for mail. */
    readonly user_contact_email: string
  }
  StarredItems: {
    readonly starred_item_list: readonly Records['StarredItem'][]
  }
  StorageOfDay: {
    /** ISO 8601 with the offset from UTC. */
    readonly datetime: string
    /** The size of all files in bytes. */
    readonly total_storage: number
  }
  StoredOnDisk: {
    /** In bytes. */
    readonly bytes: number
    /** The number of blocks. */
    readonly blocks: number
    /** ISO 8601 with the offset from UTC. */
    readonly day: string
  }
  SubLibrary: {
    /** The id of a library. */
    readonly sub_repo_id: string
  }
  Success: {
    readonly success: true
  }
  SuccessText: {
    readonly success: 'true'
  }
  SyncInfo: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A sync token of the library. Empty for `from=web`. */
    readonly token: string
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The description of the library. */
    readonly repo_desc: string
    /** In bytes. */
    readonly repo_size: number
    /** The size as text to show, such as `81.3 KB`. */
    readonly repo_size_formatted: string
    readonly repo_version: 1
    /** In Unix seconds. */
    readonly mtime: number
    /** An HTML `time` element with a relative text. */
    readonly mtime_relative: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** 1 if encrypted, else empty. */
    readonly encrypted: 1 | ''
    /** 0 of a plain library. */
    readonly enc_version: number
    /** Empty below encryption version 3. */
    readonly salt: string
    /** Empty of a plain library. */
    readonly magic: string
    /** Empty of a plain library. */
    readonly random_key: string
    /** The hash of the password, if it has an algorithm of its own. */
    readonly pwd_hash: string
    /** The algorithm of that hash. */
    readonly pwd_hash_algo: string
    /** The parameters of that algorithm. */
    readonly pwd_hash_params: string
    /** 40 hexadecimal digits. */
    readonly head_commit_id: string
    /** Whether the caller may write, or only read. */
    readonly permission: 'rw' | 'r'
    /** An unused constant. */
    readonly relay_id: string
    /** An unused constant. */
    readonly relay_addr: string
    /** An unused constant. */
    readonly relay_port: number
  }
  TagOfLibrary: {
    readonly repo_tag: {
      /** The id of the tag. */
      readonly repo_tag_id: number
      /** The id of a library. */
      readonly repo_id: string
      /** The name of the tag. */
      readonly tag_name: string
      /** The color of the tag. */
      readonly tag_color: string
    }
  }
  TaggedFile: {
    /** The id of the tag at this file. */
    readonly file_tag_id: number
    /** The name of a file or folder. */
    readonly filename: string
    /** A path in the library, from its root. */
    readonly parent_path: string
    /** In bytes. */
    readonly size: number
    /** In Unix seconds. */
    readonly mtime: number
    /** ISO 8601 with the offset from UTC. */
    readonly last_modified: string
    /** The id of an account, in the form of an e-mail address. */
    readonly modifier_email: string
    /** The address for mail. */
    readonly modifier_contact_email: string
    /** A name to show. */
    readonly modifier_name: string
  }
  TaggedFiles: {
    readonly tagged_files: readonly (Records['TaggedFile'] | Records['DeletedTaggedFile'])[]
  }
  TagsOfLibrary: {
    readonly repo_tags: readonly {
      /** The id of the tag. */
      readonly repo_tag_id: number
      /** The id of a library. */
      readonly repo_id: string
      /** The name of the tag. */
      readonly tag_name: string
      /** The color of the tag. */
      readonly tag_color: string
      /** The number of files with it. */
      readonly files_count: number
    }[]
  }
  Task: {
    /** The id of the background task. Empty within one library, where it is already done. */
    readonly task_id: string
  }
  TaskProgress: {
    /** The number of files that were processed. */
    readonly done: number
    /** The number of files. */
    readonly total: number
    readonly canceled: boolean
    readonly failed: boolean
    readonly successful: boolean
    /** Empty unless it failed. */
    readonly failed_reason: string
  }
  TestMail: {
    /** Whether the mail server accepted it. */
    readonly sent: boolean
    /** The address for mail. */
    readonly to: string
    readonly error: string | null
  }
  ThumbnailPath: {
    /** The path of the thumbnail. */
    readonly encoded_thumbnail_src: string
  }
  TrashItem: {
    /** The path of a folder. It ends with a slash. */
    readonly parent_dir: string
    /** The name of a file or folder. */
    readonly obj_name: string
    /** ISO 8601 with the offset from UTC. */
    readonly deleted_time: string
    /** 40 hexadecimal digits. */
    readonly commit_id: string
    readonly is_dir: boolean
    /** In bytes. */
    readonly size: number
    /** 40 hexadecimal digits, or empty. */
    readonly obj_id: string
    readonly scan_stat: null
  }
  TrashPage: {
    readonly data: readonly Records['TrashItem'][]
    /** Whether there is another page. */
    readonly more: boolean
    readonly scan_stat: string | null
  }
  UncountedLibrary: {
    /** The id of a library. */
    readonly repo_id: string
    readonly is_current: boolean
  }
  UnseenCount: {
    /** Of notifications. */
    readonly count: number
  }
  UploadAddress: {
    /** A URL. */
    readonly upload_link: string
  }
  UploadItem: {
    /** The name of a file or folder. */
    readonly name: string
    /** 40 hexadecimal digits. */
    readonly id: string
    /** In bytes. */
    readonly size: number
  }
  UploadLink: {
    /** The id of a library. */
    readonly repo_id: string
    /** The name of the library. */
    readonly repo_name: string
    /** The path of the item. That of a folder ends with a slash. */
    readonly path: string
    /** The name of the item. */
    readonly obj_name: string
    /** A URL. */
    readonly link: string
    /** The token of the link. */
    readonly token: string
    /** The id of an account, in the form of an e-mail address. */
    readonly username: string
    /** How often it was opened. */
    readonly view_cnt: number
    /** ISO 8601 with the offset from UTC. */
    readonly ctime: string
    /** When it ends, in ISO 8601, or empty. */
    readonly expire_date: string
    readonly is_expired: boolean
    /** The password of the link, or empty. */
    readonly password: string
    /** A note of its creator, or empty. */
    readonly description: string
    /** Whether the item still exists. */
    readonly is_valid: boolean
    /** Whether the link works. */
    readonly is_active: boolean
    /** 40 hexadecimal digits, or empty. */
    readonly obj_id: string
  }
  UploadedBytes: {
    /** The offset at which to continue. */
    readonly uploadedBytes: number
  }
  User: {
    /** The id of an account, in the form of an e-mail address. */
    readonly email: string
    /** A name to show. */
    readonly name: string
    /** The address for mail. */
    readonly contact_email: string
    /** A URL. */
    readonly avatar_url: string
  }
  UserList: {
    readonly user_list: readonly Records['User'][]
  }
  WebdavClient: {
    readonly id: number
    /** What it signs in with. It ends with this credential. */
    readonly credential: 'webdav-password' | 'account-password' | 'personal-token'
    readonly token_id: number | null
    readonly token_name: string | null
    /** The user agent of the program, or empty. */
    readonly user_agent: string
    /** The address of its last request that was recorded. */
    readonly last_login_ip: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** ISO 8601 with the offset from UTC. */
    readonly last_accessed: string
  }
  WebdavSecret: {
    readonly secret: null
    readonly is_set: boolean
  }
  Webhook: {
    readonly id: number
    /** The id of a library. */
    readonly repo_id: string
    /** A URL. */
    readonly url: string
    /** The id of an account, in the form of an e-mail address. */
    readonly creator: string
    /** ISO 8601 with the offset from UTC. */
    readonly created_at: string
    /** Whether deliveries are still tried. */
    readonly is_valid: boolean
    readonly settings: {
      /** Shown only when it was just created or changed. */
      readonly secret: string
    }
  }
  Webhooks: {
    readonly webhook_list: readonly Records['Webhook'][]
  }
}

/** The JSON of successful responses, by method and path. `{}` stands for a parameter of the path. */
export interface Responses {
  GET: {
    'api/v2.1/access-summary/': Records['AccessSummaries']
    'api/v2.1/activities/': Records['Activities']
    'api/v2.1/admin/audit-log/': Records['AuditLog']
    'api/v2.1/admin/devices/': Records['AdminDevices']
    'api/v2.1/admin/groups/': Records['AdminGroups']
    'api/v2.1/admin/groups/{}/': Records['AdminGroup']
    'api/v2.1/admin/groups/{}/libraries/': Records['AdminGroupLibraries']
    'api/v2.1/admin/groups/{}/members/': Records['AdminGroupMembers']
    'api/v2.1/admin/libraries/': Records['AdminLibraries'] | Records['FilteredAdminLibraries']
    'api/v2.1/admin/libraries/{}/': Records['AdminLibrary']
    'api/v2.1/admin/search-failures/': Records['SearchFailures']
    'api/v2.1/admin/search-library/': Records['FoundAdminLibraries']
    'api/v2.1/admin/search-user/': Records['FoundAdminUsers']
    'api/v2.1/admin/setup/': Records['ServerSetup']
    'api/v2.1/admin/share-links/': Records['AdminShareLinks']
    'api/v2.1/admin/share-links/{}/': Records['AdminLink']
    'api/v2.1/admin/statistics/active-users/': readonly Records['CountOfDay'][]
    'api/v2.1/admin/statistics/total-files/': readonly Records['CountOfDay'][]
    'api/v2.1/admin/statistics/total-storage/': readonly Records['StorageOfDay'][]
    'api/v2.1/admin/status/': Records['ServerStatus']
    'api/v2.1/admin/sysinfo/': Records['ServerTotals']
    'api/v2.1/admin/trash-libraries/': Records['AdminDeletedLibraries']
    'api/v2.1/admin/upload-links/': Records['AdminUploadLinks']
    'api/v2.1/admin/upload-links/{}/': Records['AdminLink']
    'api/v2.1/admin/usage/': Records['AccountUsages']
    'api/v2.1/admin/users/': Records['AdminUsers']
    'api/v2.1/admin/users/{}/': Records['AdminUser']
    'api/v2.1/all-notifications/': Records['AllNotifications']
    'api/v2.1/deleted-repos/': readonly Records['DeletedLibrary'][]
    'api/v2.1/groups/': readonly Records['GroupWithLibraries'][]
    'api/v2.1/groups/{}/': Records['Group']
    'api/v2.1/groups/{}/libraries/': readonly Records['SharedWithGroup'][]
    'api/v2.1/groups/{}/members/': readonly Records['GroupMember'][]
    'api/v2.1/groups/{}/members/{}/': Records['GroupMember']
    'api/v2.1/groups/{}/search-member/': readonly Records['GroupMember'][]
    'api/v2.1/held-shares/': Records['HeldShares']
    'api/v2.1/multi-share-links/': readonly Records['ListedShareLink'][]
    'api/v2.1/notifications/': Records['Notifications']
    'api/v2.1/onboarding/': Records['Onboarding']
    'api/v2.1/personal-tokens/': Records['PersonalTokens']
    'api/v2.1/photos/': Records['Photos']
    'api/v2.1/photos/days/': Records['PhotoDays']
    'api/v2.1/query-copy-move-progress/': Records['TaskProgress']
    'api/v2.1/query-zip-progress/': Records['ArchiveProgress']
    'api/v2.1/repos/': Records['LibraryList']
    'api/v2.1/repos/{}/': Records['LibraryDescription']
    'api/v2.1/repos/{}/access-explanation/': Records['AccessExplanation']
    'api/v2.1/repos/{}/access-list/': Records['AccessList']
    'api/v2.1/repos/{}/commits/{}/': Records['CommitDetail']
    'api/v2.1/repos/{}/commits/{}/dir/': Records['FolderOfCommit']
    'api/v2.1/repos/{}/custom-share-permissions/': Records['CustomPermissions']
    'api/v2.1/repos/{}/dir/': Records['FolderListing'] | Records['RecursiveListing']
    'api/v2.1/repos/{}/dir/detail/': Records['FolderDetail']
    'api/v2.1/repos/{}/file-tags/': Records['FileTags']
    'api/v2.1/repos/{}/file-uploaded-bytes/': Records['UploadedBytes']
    'api/v2.1/repos/{}/file/': Records['FileInfo']
    'api/v2.1/repos/{}/file/archive-entries/': Records['ArchiveEntries']
    'api/v2.1/repos/{}/file/history/': Records['FileHistory']
    'api/v2.1/repos/{}/file/new_history/': Records['FileHistoryPage']
    'api/v2.1/repos/{}/file/participants/': Records['Participants']
    'api/v2.1/repos/{}/file/shared-items/': readonly (Records['ShareWithUser'] | Records['ShareWithGroup'])[]
    'api/v2.1/repos/{}/file/text/': Records['FileText']
    'api/v2.1/repos/{}/history/': Records['History']
    'api/v2.1/repos/{}/locks/': {
      readonly lock_list: readonly Records['ItemLock'][]
    }
    'api/v2.1/repos/{}/related-users/': Records['RelatedUsers']
    'api/v2.1/repos/{}/repo-api-tokens/': Records['LibraryTokens']
    'api/v2.1/repos/{}/repo-tags/': Records['TagsOfLibrary']
    'api/v2.1/repos/{}/share-info/': Records['ShareInfo']
    'api/v2.1/repos/{}/share-links/': readonly Records['ListedShareLink'][]
    'api/v2.1/repos/{}/shared-entries/': Records['SharedEntries']
    'api/v2.1/repos/{}/tagged-files/{}/': Records['TaggedFiles']
    'api/v2.1/repos/{}/thumbhashes/': Records['Placeholders']
    'api/v2.1/repos/{}/trash/': Records['TrashPage']
    'api/v2.1/repos/{}/trash2/': Records['NumberedTrashPage']
    'api/v2.1/repos/{}/trash2/search/': Records['NumberedTrashPage']
    'api/v2.1/repos/{}/upload-links/': readonly Records['ListedUploadLink'][]
    'api/v2.1/repos/{}/usage/': Records['LibraryUsage'] | Records['UncountedLibrary']
    'api/v2.1/repos/{}/webhooks/': Records['Webhooks']
    'api/v2.1/repos/{}/webhooks/{}/deliveries/': Records['Deliveries']
    'api/v2.1/repos/{}/zip-task/': Records['ArchiveTask']
    'api/v2.1/search-file/': Records['FoundNames']
    'api/v2.1/search-group/': readonly Records['BriefGroup'][]
    'api/v2.1/sessions/': Records['Sessions']
    'api/v2.1/share-link-zip-task/': Records['ArchiveTask']
    'api/v2.1/share-links/': readonly Records['ListedShareLink'][]
    'api/v2.1/share-links/{}/': Records['ShareLink']
    'api/v2.1/share-links/{}/dirents/': Records['ListingOfLink']
    'api/v2.1/share-links/{}/upload/': Records['UploadAddress']
    'api/v2.1/shareable-groups/': readonly Records['BriefGroup'][]
    'api/v2.1/shared-files/': Records['SharedFiles']
    'api/v2.1/shared-folders/': readonly Records['FolderSharedOut'][]
    'api/v2.1/shared-repos/': readonly Records['LibrarySharedOut'][]
    'api/v2.1/smart-link/': Records['SmartLink']
    'api/v2.1/smart-links/{}/': Records['SmartLinkTarget']
    'api/v2.1/starred-items/': Records['StarredItems']
    'api/v2.1/trash/': Records['MergedTrash']
    'api/v2.1/upload-links/': readonly Records['ListedUploadLink'][]
    'api/v2.1/upload-links/{}/': Records['UploadLink']
    'api/v2.1/upload-links/{}/upload/': Records['UploadAddress']
    'api/v2.1/user/': Records['Profile']
    'api/v2.1/via-repo-token/dir/': Records['FolderListing'] | Records['RecursiveListing']
    'api/v2.1/via-repo-token/download-link/': string
    'api/v2.1/via-repo-token/file/': Records['FileInfo']
    'api/v2.1/via-repo-token/repo-info/': Records['LibraryOfToken']
    'api/v2.1/via-repo-token/search-files/': Records['FoundNames']
    'api/v2.1/via-repo-token/upload-link/': string
    'api/v2.1/webdav-secret/': Records['WebdavSecret']
    'api2/account/info/': Records['AccountInfo']
    'api2/accounts/': readonly Records['AccountId'][]
    'api2/accounts/{}/': Records['OlderAccount']
    'api2/auth/ping/': 'pong'
    'api2/avatars/user/{}/resized/{}/': Records['Avatar']
    'api2/beshared-repos/': readonly Records['OlderShare'][]
    'api2/client-sso-link/{}/': Records['ClientSsoStatus']
    'api2/default-repo/': Records['DefaultLibrary']
    'api2/devices/': readonly Records['Device'][]
    'api2/events/': Records['OlderActivities']
    'api2/groups/': Records['OlderGroups'] | readonly Records['OlderGroup'][]
    'api2/groups/{}/repos/': readonly Records['OlderSharedWithGroup'][]
    'api2/ping/': 'pong'
    'api2/repo-tokens/': Readonly<Record<string, string>>
    'api2/repo_history_changes/{}/': Records['ChangedPaths']
    'api2/repos/': readonly (Records['OwnLibrary'] | Records['SharedLibrary'] | Records['GroupLibrary'] | Records['PublicLibrary'])[]
    'api2/repos/public/': readonly Records['LibraryForEveryone'][]
    'api2/repos/{}/': Records['LibraryDetail']
    'api2/repos/{}/dir/': readonly (Records['FolderDirent'] | Records['FileDirent'])[] | readonly (Records['FolderBelow'] | Records['FileBelow'])[] | 'uptodate'
    'api2/repos/{}/dir/metadata/': Records['FolderId']
    'api2/repos/{}/dir/shared_items/': readonly (Records['ShareWithUser'] | Records['ShareWithGroup'])[]
    'api2/repos/{}/dir/sub_repo/': Records['SubLibrary']
    'api2/repos/{}/download-info/': Records['SyncInfo']
    'api2/repos/{}/download-shared-links/': readonly Records['OlderDownloadLink'][]
    'api2/repos/{}/file/': string | Records['FileBlocks']
    'api2/repos/{}/file/comments/': Records['Comments']
    'api2/repos/{}/file/comments/counts/': Readonly<Record<string, number>> | readonly Readonly<Record<string, number>>[]
    'api2/repos/{}/file/comments/{}/': Records['Comment']
    'api2/repos/{}/file/detail/': Records['FileDetail']
    'api2/repos/{}/file/history/': Records['OlderFileHistory']
    'api2/repos/{}/file/metadata/': Records['FileId']
    'api2/repos/{}/file/revision/': string
    'api2/repos/{}/files/{}/blks/{}/download-link/': string
    'api2/repos/{}/history-limit/': Records['HistoryLimit']
    'api2/repos/{}/history/': Records['OlderHistory']
    'api2/repos/{}/owner/': Records['LibraryOwner']
    'api2/repos/{}/update-blks-link/': string
    'api2/repos/{}/update-link/': string
    'api2/repos/{}/upload-blks-link/': string
    'api2/repos/{}/upload-link/': string
    'api2/repos/{}/upload-shared-links/': readonly Records['OlderUploadLink'][]
    'api2/search-user/': Records['FoundUsers']
    'api2/search/': Records['SearchPage']
    'api2/server-info/': Records['ServerInfo']
    'api2/shared-links/': Records['OlderShareLinks']
    'api2/shared-repos/': readonly Records['OlderShare'][]
    'api2/starredfiles/': readonly Records['StarredFile'][]
    'api2/unseen_messages/': Records['UnseenCount']
    'seafhttp/idx_progress': Records['IndexProgress']
    'thumbnail/{}/create/': Records['ThumbnailPath']
  }
  DELETE: {
    'api/v2.1/admin/devices/': Records['Success']
    'api/v2.1/admin/groups/{}/': Records['Success']
    'api/v2.1/admin/groups/{}/libraries/{}/': Records['Success']
    'api/v2.1/admin/groups/{}/members/{}/': Records['Success']
    'api/v2.1/admin/libraries/{}/': Records['Success']
    'api/v2.1/admin/share-links/{}/': Records['Success']
    'api/v2.1/admin/trash-libraries/': Records['Success']
    'api/v2.1/admin/trash-libraries/{}/': Records['Success']
    'api/v2.1/admin/upload-links/{}/': Records['Success']
    'api/v2.1/admin/users/{}/': Records['Success']
    'api/v2.1/copy-move-task/': Records['Success']
    'api/v2.1/deleted-repos/': Records['Success']
    'api/v2.1/deleted-repos/{}/': Records['Success']
    'api/v2.1/groups/{}/': Records['Success']
    'api/v2.1/groups/{}/libraries/{}/': Records['Success']
    'api/v2.1/groups/{}/members/{}/': Records['Success']
    'api/v2.1/held-shares/': Records['Success']
    'api/v2.1/monitored-repos/{}/': Records['Success']
    'api/v2.1/notifications/': Records['Success']
    'api/v2.1/personal-tokens/{}/': Records['Success']
    'api/v2.1/repos/batch-delete-item/': Records['BatchDeleted']
    'api/v2.1/repos/{}/': 'success' | Records['Success']
    'api/v2.1/repos/{}/dir/': Records['FolderDeleted']
    'api/v2.1/repos/{}/file-tags/{}/': {
      readonly success: 'true'
    }
    'api/v2.1/repos/{}/file/': Records['FileDeleted']
    'api/v2.1/repos/{}/file/participant/': Records['Success']
    'api/v2.1/repos/{}/file/shared-items/': Records['Success']
    'api/v2.1/repos/{}/locks/': Records['Success']
    'api/v2.1/repos/{}/repo-api-tokens/{}/': Records['Success']
    'api/v2.1/repos/{}/repo-tags/{}/': {
      readonly success: 'true'
    }
    'api/v2.1/repos/{}/set-password/': Records['Success']
    'api/v2.1/repos/{}/share-links/{}/': Records['Success']
    'api/v2.1/repos/{}/trash/': Records['Success']
    'api/v2.1/repos/{}/upload-links/{}/': Records['Success']
    'api/v2.1/repos/{}/webhooks/{}/': Records['Success']
    'api/v2.1/sessions/': Records['Success']
    'api/v2.1/sessions/{}/': Records['Success']
    'api/v2.1/share-links/': Records['DeletedLinks']
    'api/v2.1/share-links/clean-invalid/': Records['Success']
    'api/v2.1/share-links/{}/': Records['Success']
    'api/v2.1/shared-repos/{}/': Records['Success']
    'api/v2.1/starred-items/': Records['Success']
    'api/v2.1/starred-items/clean-invalid/': Records['CleanedStars']
    'api/v2.1/upload-links/': Records['DeletedLinks']
    'api/v2.1/upload-links/clean-invalid/': Records['Success']
    'api/v2.1/upload-links/{}/': Records['Success']
    'api/v2.1/user-avatar/': Records['AvatarUrl']
    'api/v2.1/via-repo-token/batch-delete-item/': Records['BatchDeleted']
    'api/v2.1/via-repo-token/dir/': Records['FolderDeleted']
    'api/v2.1/via-repo-token/file/': Records['FileDeleted']
    'api2/accounts/{}/': Records['Success']
    'api2/beshared-repos/{}/': Records['Success']
    'api2/devices/': Records['Success']
    'api2/groups/{}/': Records['Success']
    'api2/groups/{}/members/': Records['Success']
    'api2/groups/{}/repos/{}/': 'success'
    'api2/repos/{}/': 'success'
    'api2/repos/{}/dir/': 'success' | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/dir/shared_items/': Records['Success']
    'api2/repos/{}/download-shared-links/{}/': Records['Success']
    'api2/repos/{}/file/': 'success' | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/upload-shared-links/{}/': Records['Success']
    'api2/shared-links/': Readonly<Record<string, unknown>>
    'api2/shared-repos/{}/': 'success'
    'api2/starredfiles/': 'success'
  }
  POST: {
    'api/v2.1/admin/generate-user-auth-token/': Records['ApiToken']
    'api/v2.1/admin/groups/': Records['AdminGroup']
    'api/v2.1/admin/groups/{}/members/': Records['AddedMembers']
    'api/v2.1/admin/libraries/': Records['AdminLibrary']
    'api/v2.1/admin/test-mail/': Records['TestMail']
    'api/v2.1/admin/users/': Records['CreatedUser']
    'api/v2.1/cancel-zip-task/': Records['Success']
    'api/v2.1/client-login/': Records['ApiToken']
    'api/v2.1/confirm-contact-email/': Records['ContactVerified']
    'api/v2.1/copy-move-task/': Records['Task']
    'api/v2.1/deleted-repos/': Records['Success']
    'api/v2.1/device-authorization/': Records['DeviceAuthorization']
    'api/v2.1/device-authorization/approve/': Records['Success']
    'api/v2.1/device-authorization/check/': Records['PendingDevice']
    'api/v2.1/device-authorization/deny/': Records['Success']
    'api/v2.1/device-authorization/token/': Records['DeviceToken']
    'api/v2.1/groups/': Records['Group']
    'api/v2.1/groups/{}/libraries/': Records['SharedWithGroup']
    'api/v2.1/groups/{}/members/': Records['GroupMember']
    'api/v2.1/groups/{}/members/bulk/': Records['AddedMembers']
    'api/v2.1/held-shares/': Records['Success']
    'api/v2.1/monitored-repos/': Records['MonitoredLibrary']
    'api/v2.1/move-folder-merge/': Records['Success']
    'api/v2.1/multi-share-links/': Records['ShareLink']
    'api/v2.1/password-reset/': Records['Success']
    'api/v2.1/password-reset/check/': Records['AccountTokenPurpose']
    'api/v2.1/password-reset/confirm/': Records['PasswordChosen']
    'api/v2.1/personal-tokens/': Records['NewPersonalToken']
    'api/v2.1/repos/': Records['CreatedLibrary']
    'api/v2.1/repos/async-batch-copy-item/': Records['Task']
    'api/v2.1/repos/async-batch-move-item/': Records['Task']
    'api/v2.1/repos/batch-copy-item/': Records['BatchResults']
    'api/v2.1/repos/batch-create-dir/': Records['CreatedFolders']
    'api/v2.1/repos/batch-move-item/': Records['BatchResults']
    'api/v2.1/repos/batch/': Records['SharedLibraries']
    'api/v2.1/repos/sync-batch-copy-item/': Records['SuccessText']
    'api/v2.1/repos/sync-batch-move-item/': Records['SuccessText']
    'api/v2.1/repos/{}/commits/{}/revert/': Records['Success']
    'api/v2.1/repos/{}/dir/': Records['FolderInfo'] | Records['Success']
    'api/v2.1/repos/{}/file-tags/': Records['AddedFileTag']
    'api/v2.1/repos/{}/file/': Records['FileInfo'] | Records['Success']
    'api/v2.1/repos/{}/file/extract-archive/': Records['ExtractionTask']
    'api/v2.1/repos/{}/file/participants/': Records['AddedParticipants']
    'api/v2.1/repos/{}/file/shared-items/': Records['Success']
    'api/v2.1/repos/{}/repo-api-tokens/': Records['LibraryToken']
    'api/v2.1/repos/{}/repo-tags/': Records['TagOfLibrary']
    'api/v2.1/repos/{}/repo-tags/{}/merge/': Records['TagOfLibrary']
    'api/v2.1/repos/{}/set-password/': Records['Success']
    'api/v2.1/repos/{}/trash/': Records['TrashPage']
    'api/v2.1/repos/{}/trash/revert-dirents/': Records['Restored']
    'api/v2.1/repos/{}/trash2/revert/': Records['RestoredFromCommits']
    'api/v2.1/repos/{}/webhooks/': Records['OneWebhook']
    'api/v2.1/repos/{}/webhooks/{}/deliveries/{}/redeliver/': Records['Redelivery']
    'api/v2.1/repos/{}/zip-task/': Records['ArchiveTask']
    'api/v2.1/share-link-zip-task/': Records['ArchiveTask']
    'api/v2.1/share-links/': Records['ShareLink']
    'api/v2.1/share-links/{}/save-file-to-repo/': Records['Success']
    'api/v2.1/share-links/{}/save-items-to-repo/': Records['Success']
    'api/v2.1/share-links/{}/upload/done/': Records['Success']
    'api/v2.1/starred-items/': Records['StarredItem']
    'api/v2.1/tool-calls/': Records['Success']
    'api/v2.1/upload-links/': Records['UploadLink']
    'api/v2.1/user-avatar/': Records['AvatarUrl']
    'api/v2.1/user-list/': Records['UserList']
    'api/v2.1/user/reset-password/': Records['Success']
    'api/v2.1/via-repo-token/dir/': Records['FolderInfo'] | Records['Success']
    'api/v2.1/via-repo-token/file/': Records['FileInfo'] | Records['Success']
    'api/v2.1/via-repo-token/move-dir/': Records['Success']
    'api/v2.1/via-repo-token/share-links/': Records['ShareLink']
    'api/v2.1/via-repo-token/sync-batch-copy-item/': Records['Success']
    'api/v2.1/via-repo-token/sync-batch-move-item/': Records['Success']
    'api2/accounts/{}/': Records['Success']
    'api2/auth-token/': Records['ApiToken']
    'api2/client-login/': Records['ApiToken']
    'api2/client-sso-link/': Records['ClientSsoLink']
    'api2/default-repo/': Records['DefaultLibrary']
    'api2/device-wiped/': Readonly<Record<string, unknown>>
    'api2/groups/{}/': Records['Success']
    'api2/groups/{}/repos/': Records['OlderSharedWithGroup']
    'api2/logout-device/': Readonly<Record<string, unknown>>
    'api2/repos/': Records['SyncInfo']
    'api2/repos/public/': Records['SyncInfo']
    'api2/repos/{}/': 'success' | 'unsupported operation'
    'api2/repos/{}/dir/': 'success' | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/dir/shared_items/': Records['Success']
    'api2/repos/{}/file/': Records['Placed'] | 'success' | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/file/comments/': Records['Comment']
    'api2/repos/{}/fileops/copy/': readonly Records['Placed'][] | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/fileops/delete/': 'success' | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/fileops/move/': readonly Records['Placed'][] | readonly (Records['FolderDirent'] | Records['FileDirent'])[]
    'api2/repos/{}/upload-blks-link/': Records['BlockUpload']
    'api2/send-share-link/': Records['MailedLink']
    'api2/send-upload-link/': Records['MailedLink']
    'api2/starredfiles/': 'success'
    'seafhttp/update-aj/{}': readonly Records['UploadItem'][] | Records['Success']
    'seafhttp/update-api/{}': string | Records['Success']
    'seafhttp/update-blks-api/{}': string
    'seafhttp/upload-aj/{}': readonly Records['UploadItem'][] | Records['Success']
    'seafhttp/upload-api/{}': readonly Records['UploadItem'][] | string | Records['Success']
    'seafhttp/upload-blks-api/{}': Records['CommittedFile'] | string
    'seafhttp/upload-raw-blks-api/{}': 'OK'
  }
  PUT: {
    'api/v2.1/admin/groups/{}/': Records['AdminGroup']
    'api/v2.1/admin/groups/{}/members/{}/': Records['GroupMember']
    'api/v2.1/admin/libraries/{}/': Records['AdminLibrary']
    'api/v2.1/admin/trash-libraries/{}/': Records['Success']
    'api/v2.1/admin/users/{}/': Records['ChangedUser']
    'api/v2.1/admin/users/{}/reset-password/': Records['NewPassword']
    'api/v2.1/all-notifications/': Records['Success']
    'api/v2.1/groups/{}/': Records['Group']
    'api/v2.1/groups/{}/members/{}/': Records['GroupMember']
    'api/v2.1/notification/': Records['Success']
    'api/v2.1/notifications/': Records['Success']
    'api/v2.1/onboarding/': Records['Onboarding']
    'api/v2.1/repos/{}/file/': Records['FileInfo']
    'api/v2.1/repos/{}/file/shared-items/': Records['ShareResults']
    'api/v2.1/repos/{}/repo-api-tokens/{}/': Records['LibraryToken']
    'api/v2.1/repos/{}/repo-tags/{}/': Records['TagOfLibrary']
    'api/v2.1/repos/{}/set-password/': Records['Success']
    'api/v2.1/repos/{}/webhooks/{}/': Records['OneWebhook']
    'api/v2.1/share-links/{}/': Records['ShareLink']
    'api/v2.1/shared-repos/{}/': Records['Success']
    'api/v2.1/upload-links/{}/': Records['UploadLink']
    'api/v2.1/user/': Records['Profile']
    'api/v2.1/via-repo-token/file/': Records['FileInfo']
    'api/v2.1/webdav-secret/': Records['Success']
    'api2/account/info/': Records['AccountInfo']
    'api2/accounts/{}/': Records['OlderAccount']
    'api2/groups/': Records['CreatedGroup']
    'api2/groups/{}/members/': Records['Success']
    'api2/repos/{}/dir/revert/': Records['Success']
    'api2/repos/{}/dir/shared_items/': Records['ShareResults']
    'api2/repos/{}/file/': 'success'
    'api2/repos/{}/file/comments/{}/': Records['Comment']
    'api2/repos/{}/file/revert/': Records['Success']
    'api2/repos/{}/history-limit/': Records['HistoryLimit']
    'api2/repos/{}/owner/': Records['Success']
    'api2/shared-repos/{}/': 'success'
  }
}

/** A page of the reference. */
export interface Resource {
  /** The name of its file. */
  readonly name: string
  readonly title: string
  /** One sentence. */
  readonly about: string
  /** Matches the paths of its calls without `/api2` and `/api/v2.1`. */
  readonly paths: RegExp
}

/** The pages in the order of the menu. Each call is on exactly one of them. */
export const RESOURCES: readonly Resource[] = [
  {
    name: 'sign-in',
    title: 'Sign-in and tokens',
    about: 'Signing in, API tokens, personal tokens, devices, sessions and forgotten passwords.',
    paths:
      /^\/(?:auth-token|auth|ping|server-info|client-login|client-sso-link|logout-device|device-authorization|device-wiped|devices|personal-tokens|second-factors|sessions|password-reset|confirm-contact-email|webdav-secret)\//,
  },
  {
    name: 'accounts',
    title: 'Accounts',
    about: 'The account of the caller, its profile and picture, and finding other accounts.',
    paths: /^\/(?:account|accounts|user|user-avatar|user-list|avatars|search-user|onboarding|media)\//,
  },
  {
    name: 'libraries',
    title: 'Libraries',
    about: 'Listing, creating, renaming and deleting libraries, their passwords, owners and sizes.',
    paths:
      /^\/(?:default-repo|repo-tokens|repos|repos\/\{repo_id\}(?:\/(?:set-password|usage|download-info|owner))?)\/$/,
  },
  {
    name: 'folders',
    title: 'Folders',
    about: 'Listing, creating, renaming and deleting folders.',
    paths: /^\/repos\/\{repo_id\}\/(?:dir(?:\/(?:detail|largest|metadata|sub_repo))?|thumbhashes)\/$/,
  },
  {
    name: 'files',
    title: 'Files',
    about: 'Creating, renaming, locking and describing files, their text and their thumbnails.',
    paths:
      /^\/repos\/\{repo_id\}\/(?:file(?:\/(?:detail|metadata|text|archive-entries|extract-archive))?|locks|thumbnail)\/$|^\/thumbnail\//,
  },
  {
    name: 'transfers',
    title: 'Uploads and downloads',
    about: 'The content of files: uploads, also in chunks and blocks, downloads, and archives of folders.',
    paths:
      /^\/(?:seafhttp|cancel-zip-task|query-zip-progress)\/|^\/repos\/.*\/(?:(?:upload|update)(?:-blks)?-link|download-link|file-uploaded-bytes|zip-task)\//,
  },
  {
    name: 'copies',
    title: 'Copy, move and delete',
    about: 'Copying, moving and deleting several files and folders at once, also between libraries.',
    paths:
      /^\/(?:copy-move-task|query-copy-move-progress|move-folder-merge)\/|^\/repos\/(?:(?:a?sync-)?batch[\w-]*)\/|^\/repos\/\{repo_id\}\/fileops\//,
  },
  {
    name: 'history',
    title: 'History and trash',
    about: 'Earlier states of libraries and files, deleted files, and deleted libraries.',
    paths:
      /^\/(?:trash|deleted-repos|repo_history_changes)\/|^\/repos\/\{repo_id\}\/(?:(?:file|dir)\/)?(?:history|new_history|commits|trash2?|revision|revert|history-limit)\//,
  },
  {
    name: 'sharing',
    title: 'Sharing',
    about: 'Sharing libraries, folders and files with accounts and groups.',
    paths:
      /^\/(?:access-summary|shared-repos|shared-folders|shared-files|beshared-repos|held-shares|shareable-groups)\/|^\/repos\/public\/|^\/repos\/.*\/(?:shared[-_]items|shared-entries|share-info|access-list|custom-share-permissions|access-explanation|related-users)\//,
  },
  {
    name: 'links',
    title: 'Links',
    about: 'Links to files and folders for people without an account, and links that take uploads.',
    paths:
      /^\/(?:share-links|upload-links|multi-share-links|shared-links|smart-links?|share-link-zip-task|send-share-link|send-upload-link)\/|^\/repos\/.*\/(?:share-links|upload-links|download-shared-links|upload-shared-links|shared-link)\//,
  },
  {
    name: 'groups',
    title: 'Groups',
    about: 'Groups, their members, and the libraries that are shared with them.',
    paths: /^\/(?:groups|search-group)\//,
  },
  {
    name: 'comments',
    title: 'Comments and tags',
    about: 'Comments on files, who is notified of them, and tags.',
    paths: /^\/repos\/.*\/(?:comments|participants?|repo-tags|file-tags|tagged-files)\//,
  },
  {
    name: 'search',
    title: 'Search, photos and stars',
    about: 'Finding files by name and text, the timeline of photos, and starred items.',
    paths: /^\/(?:items|search|search-file|photos|starred-items|starredfiles)\//,
  },
  {
    name: 'events',
    title: 'Activities, events and notifications',
    about: 'Activities in libraries, live events, webhooks and notifications.',
    paths:
      /^\/(?:events|activities|notifications?|all-notifications|unseen_messages|monitored-repos|tool-calls)\/|^\/repos\/.*\/webhooks\//,
  },
  {
    name: 'library-tokens',
    title: 'Library tokens',
    about: 'Tokens that open one library for a program, and the calls for their holders.',
    paths: /^\/via-repo-token\/|^\/repos\/.*\/repo-api-tokens\//,
  },
  {
    name: 'admin-accounts',
    title: 'Administration: accounts',
    about: 'Accounts, groups and devices of the whole server, for administrators.',
    paths: /^\/admin\/(?:users|groups|devices|generate-user-auth-token|search-user)\//,
  },
  {
    name: 'admin-libraries',
    title: 'Administration: libraries',
    about: 'Libraries, deleted libraries and links of the whole server, for administrators.',
    paths: /^\/admin\/(?:libraries|trash-libraries|search-library|share-links|upload-links)\//,
  },
  {
    name: 'admin-server',
    title: 'Administration: server',
    about: 'The state of the server, its audit log, its statistics and its setup, for administrators.',
    paths: /^\/admin\/(?:audit-log|search-failures|setup|statistics|status|sysinfo|test-mail|usage)\//,
  },
]

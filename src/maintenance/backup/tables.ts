/** The table that says which library holds which block. */
export const HELD_BLOCKS = 'library_block'

export const ACCOUNTS = 'account'
export const LIBRARIES = 'library'
export const OBJECTS = 'fs_object'

/** The tables that say what the trees of libraries reach. */
export const TREE_TABLES: ReadonlySet<string> = new Set([
  ACCOUNTS,
  LIBRARIES,
  'commit_object',
  OBJECTS,
  HELD_BLOCKS,
])

/** The tables whose rows follow from the commits of libraries, by far the most of a server. Backups read those of changed libraries only. */
const SECTIONED: ReadonlySet<string> = new Set([
  'commit_object',
  OBJECTS,
  HELD_BLOCKS,
  'first_seen',
  'path_origin',
  'file_edit',
])

export function isSectioned({ name }: { readonly name: string }): boolean {
  return SECTIONED.has(name)
}

/** The bytes of small blocks. They are stored as blobs, like all blocks. */
const SMALL_BLOCKS = 'small_block'

/**
 * Tables without anything to keep: the schema has its own version, the bytes of small blocks are stored as blobs, findings of checks, condemned references and
 * condemned blocks are found again, the index of photos is derived, block stores and objects in S3 belong to one server, the clock of a restored server is another one,
 * a restored server does not send the mails of the former one again, and the
 * others describe work of the running process or files that are not part of a backup. Condemned objects are kept: a snapshot may lack their blocks, and a push
 * relies on every object that is not condemned.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'schema_migration',
  SMALL_BLOCKS,
  'quota_reservation',
  'partial_upload',
  'staged_block',
  'archive',
  'archive_ticket',
  'archive_block',
  'indexed_upload',
  'opened_library',
  'sign_in_link',
  'device_authorization',
  'abandoned_bytes',
  'operation_lease',
  'cluster_node',
  'cluster_lease',
  'cluster_value',
  'committed_transaction',
  'password_attempt',
  'condemned_reference',
  'condemned_block',
  'backup_run',
  'damaged_block',
  'check_finding',
  'check_pass',
  'checked_library',
  'scrub_progress',
  'check_progress',
  'clock_state',
  'photo',
  'photo_library',
  'block_object',
  'block_store',
  'mail',
])

/** Whether the rows of a table belong to a backup. The search index is derived, and made again after a restore. */
export function isBackedUp(table: string): boolean {
  return !LEFT_OUT.has(table) && !table.startsWith('search_')
}

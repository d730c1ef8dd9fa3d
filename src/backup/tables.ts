/** The table that says which library holds which block. */
export const HELD_BLOCKS = 'library_block'

export const ACCOUNTS = 'account'
export const LIBRARIES = 'library'

/** The bytes of small blocks. They are stored as blobs, like all blocks. */
const SMALL_BLOCKS = 'small_block'

/**
 * Tables without anything to keep: the schema has its own version, the bytes of small blocks are stored as blobs, findings of checks and condemned data are
 * found again, the index of photos is derived, the clock of a restored server is another one, and the others describe work
 * of the running process or files that are not part of a backup.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'schema_migration',
  SMALL_BLOCKS,
  'quota_reservation',
  'partial_upload',
  'operation_lease',
  'condemned_object',
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
])

/** Whether the rows of a table belong to a backup. The search index is derived, and made again after a restore. */
export function isBackedUp(table: string): boolean {
  return !LEFT_OUT.has(table) && !table.startsWith('search_')
}

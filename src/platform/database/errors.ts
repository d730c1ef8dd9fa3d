/**
 * Why the database refused; `busy` is a time limit of a statement, a lock or the pool, `full` is its disk, `unwritable` a disk that is read-only or
 * fails to write, `unreachable` a server that cannot be asked, so that nothing was changed, `uncertain` a commit whose outcome could not be found
 * out, `fenced` a commit that was refused because the lease of this process has ended, `other` is our bug or a disk that fails otherwise, and the message says more.
 */
export type DatabaseReason =
  | 'unique'
  | 'foreign-key'
  | 'busy'
  | 'full'
  | 'unwritable'
  | 'unreachable'
  | 'uncertain'
  | 'fenced'
  | 'closed'
  | 'other'

/** What both dialects throw for a statement that failed; the driver's own error is the cause. */
export class DatabaseError extends Error {
  readonly reason: DatabaseReason

  constructor(reason: DatabaseReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DatabaseError'
    this.reason = reason
  }
}

/** The data belongs to a newer program than this one. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The data has schema version ${found}, and this version of Carrel knows only up to ${known}. ` +
        `Start the Carrel that wrote it, or a newer one; to go back, restore a backup made before the upgrade.`,
    )
    this.name = 'NewerSchemaError'
  }
}

/** A step of the schema has to wait for nodes of older versions. */
export class OlderNodesError extends Error {
  constructor(version: number, name: string, nodes: readonly string[]) {
    super(
      `This version needs step ${version} of the schema (${name}), after which these servers could not work: ${nodes.join(', ')}. ` +
        'Stop them, and start again; one that was killed counts for 30 seconds.',
    )
    this.name = 'OlderNodesError'
  }
}

/** The data could not be backed up before its migration, which therefore did not begin. */
export class MigrationBackupError extends Error {
  constructor(file: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(
      `The database could not be backed up to ${file} before its migration (${reason}), so nothing was changed. ` +
        `Make room there and start again, or make a backup yourself and start with CARREL_PRE_MIGRATION_BACKUP=off.`,
      { cause },
    )
    this.name = 'MigrationBackupError'
  }
}

export function transactionOver(): DatabaseError {
  return new DatabaseError(
    'closed',
    'This transaction is over; its statements must be awaited inside the work.',
  )
}

/** This process stood still for so long that others took it for dead. What the transaction relies on may be deleted. */
export function leaseEnded(options?: ErrorOptions): DatabaseError {
  const message = 'The lease of this process ended before the change was complete, so nothing of it was kept.'
  return new DatabaseError('fenced', message, options)
}

export function databaseClosed(): DatabaseError {
  return new DatabaseError('closed', 'The database is closed.')
}

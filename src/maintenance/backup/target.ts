/** Prefix of files that a target has not finished writing. Their names are new each time, so those of a killed process stay until a prune. */
export const UNFINISHED = 'tmp/'

/** An object of a target. */
export interface TargetObject {
  readonly name: string
  readonly size: number
}

/**
 * Where backups are stored: named immutable objects. Names have at most one slash per level, such as `packs/ab/abcd…`. Objects are never
 * changed except for locks, so all calls are idempotent.
 */
export interface BackupTarget {
  /** For messages. Contains no credentials. */
  readonly place: string
  /** Resolves once the object is durable. Readers see all of it or nothing. Replaces an existing object. Throws BackupError. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** The bytes of an object, or a part of it. Throws ObjectMissing. */
  get(name: string, range?: { readonly start: number; readonly length: number }): Promise<Buffer>
  /** All objects whose names begin with `prefix`, which ends with a slash, in any order. */
  list(prefix: string): AsyncIterable<TargetObject>
  /** Removing an object that does not exist is not an error. */
  remove(name: string): Promise<void>
}

/** A backup or restore failed. The message is one sentence that says what to do. */
export class BackupError extends Error {
  override name = 'BackupError'
}

/** The object is not in the target. */
export class ObjectMissing extends BackupError {
  override name = 'ObjectMissing'
  constructor(object: string, place: string, options?: ErrorOptions) {
    super(
      `${object} is missing in ${place}: run carrel backup verify, and use another snapshot or target.`,
      options,
    )
  }
}

/** An object of the target is not what it was when it was written. */
export class ObjectDamaged extends BackupError {
  override name = 'ObjectDamaged'
  constructor(object: string, place: string, options?: ErrorOptions) {
    super(
      `${object} in ${place} is damaged: run carrel backup verify, and use another snapshot or target.`,
      options,
    )
  }
}

/** The target already has a backup of another passphrase, or the passphrase is wrong. */
export class WrongPassphrase extends BackupError {
  override name = 'WrongPassphrase'
}

import type { BlockId } from '../../../base/objects/index.ts'
import { BlockMissing, BlockStoreError } from '../index.ts'

/** Stands for the id in error messages until it is known. */
export const UNNAMED = 'without a name yet' as BlockId

/** Translates file system errors of a read into ours. */
export async function reading<T>(id: BlockId, operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (cause) {
    throw readError(id, cause)
  }
}

/** Translates a file system error of a read. */
export function readError(id: BlockId, cause: unknown): Error {
  if (codeOf(cause) === 'ENOENT') return new BlockMissing(id, { cause })
  return new BlockStoreError(`The block ${id} could not be read (${codeOf(cause)}).`, { cause })
}

/** Translates file system errors of a write into ours. */
export async function writing<T>(id: BlockId, operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (cause) {
    throw new BlockStoreError(`The block ${id} could not be stored (${codeOf(cause)}).`, { cause })
  }
}

/** Translates file system errors of a removal into ours. */
export async function removing<T>(id: BlockId, operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (cause) {
    throw new BlockStoreError(`The block ${id} could not be removed (${codeOf(cause)}).`, { cause })
  }
}

/** The code, such as ENOSPC; for other errors, their text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

import type { BlockId } from '../../objects/index.ts'
import { BlockMissing, BlockStoreError } from '../index.ts'

/** How a block is called in an error before its last byte has come. */
export const UNNAMED = 'without a name yet' as BlockId

/** Turns the file system's errors of a read into ours. */
export async function reading<T>(id: BlockId, operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (cause) {
    throw readError(id, cause)
  }
}

/** An error of the file system while a block was read, as ours. */
export function readError(id: BlockId, cause: unknown): Error {
  if (codeOf(cause) === 'ENOENT') return new BlockMissing(id, { cause })
  return new BlockStoreError(`The block ${id} could not be read (${codeOf(cause)}).`, { cause })
}

/** Turns the file system's errors of a write into ours. */
export async function writing<T>(id: BlockId, operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (cause) {
    throw new BlockStoreError(`The block ${id} could not be stored (${codeOf(cause)}).`, { cause })
  }
}

/** Such as ENOSPC; for anything but an error of the file system, its text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

import type { Dir, DirId } from '../../base/objects/index.ts'
import { BlockDamaged, BlockMissing } from '../../platform/storage/index.ts'
import type { ContentStore, DataKey } from '../content/index.ts'
import { ObjectMissing, type ObjectStore } from '../tree/index.ts'

/** The library that is exported. */
export interface ExportSource {
  readonly objects: ObjectStore
  readonly content: ContentStore
  readonly libraryKey: number
  /** Of an encrypted library. */
  readonly key: DataKey | undefined
}

/** A dir; undefined if the server has lost it. */
export async function findDir({ objects, libraryKey }: ExportSource, id: DirId): Promise<Dir | undefined> {
  return (await objects.findDir(libraryKey, id))?.dir
}

/** Why a file cannot be read, if the server has lost a part of it; undefined for any other error. */
export function lossIn(error: unknown): string | undefined {
  const isLoss =
    error instanceof BlockMissing || error instanceof BlockDamaged || error instanceof ObjectMissing
  return isLoss ? `the server has lost it (${error.message.replace(/\.$/, '')})` : undefined
}

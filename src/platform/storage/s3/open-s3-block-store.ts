import type { Database, Reader } from '../../database/index.ts'
import { type BucketLimits, type BucketSettings, openBucket } from '../../s3/index.ts'
import { type DiskImplementation, openDiskBlockStore, recreateFolders } from '../disk/index.ts'
import { S3BlockStore } from './s3-block-store.ts'

interface S3BlockStoreOptions {
  readonly settings: BucketSettings
  readonly limits?: Partial<BucketLimits>
  readonly db: Database | Reader
  /** The folder of the cache, which is created if needed. */
  readonly directory: string
  readonly cacheBytes: number
  readonly implementation?: DiskImplementation
  readonly shared?: boolean
  readonly threads?: number
  readonly openFolders?: number
  /** Unix seconds. */
  readonly now: () => number
  readonly onFatal?: (error: Error) => void
}

/** Opens a store without a request to the service. Throws BlockStoreError if the folder of the cache cannot be written. */
export async function openS3BlockStore(options: S3BlockStoreOptions): Promise<S3BlockStore> {
  const { settings, limits, db, cacheBytes, now, ...disk } = options
  const bucket = await openBucket(settings, limits)
  const cache = await openDiskBlockStore({ ...disk, isCache: true })
  const recreateCache = () => recreateFolders(disk.directory)
  return new S3BlockStore({ db, bucket, cache, cacheBytes, recreateCache, now })
}

import { isWithin, type LibraryPath } from '../../base/paths/index.ts'
import type { FileLock, LockOrigin } from './lock-store.ts'

/** Tells whether a holder of locks may still change what is at a path of the stored library. */
type HolderRight = (path: LibraryPath) => boolean

/**
 * Decides which locks are in effect: those of holders who may still write there. A lock ends with the right to take it, from
 * the next request on.
 */
export class LockRights {
  /** Finds the right of a holder. `server` sets it, because permissions are decided above this module; until then every holder may write. */
  rightOf: ((libraryKey: number, holder: LockOrigin) => Promise<HolderRight>) | undefined

  /** Those of the locks of a library that are in effect, without holders who lost their right. */
  async inEffect(libraryKey: number, locks: readonly FileLock[]): Promise<FileLock[]> {
    const { rightOf } = this
    if (rightOf === undefined || locks.length === 0) return [...locks]
    const rights = new Map<string, HolderRight>()
    const mayHold = async (holder: LockOrigin, path: LibraryPath) => {
      const key = `${holder.accountKey} ${holder.scopedTokenKey ?? ''}`
      const right = rights.get(key) ?? (await rightOf(libraryKey, holder))
      rights.set(key, right)
      return right(path)
    }
    const kept: FileLock[] = []
    for (const lock of locks) {
      const { webdav, path } = lock
      if (webdav === undefined) {
        if (await mayHold(lock, path)) kept.push(lock)
        continue
      }
      const holders = []
      for (const holder of webdav.holders) if (await mayHold(holder, path)) holders.push(holder)
      if (holders.length === webdav.holders.length) kept.push(lock)
      else if (holders.length > 0) kept.push({ ...lock, webdav: { ...webdav, holders } })
    }
    return kept
  }
}

/** Whether a lock covers a path: it is on the item, or on a folder above it with all its content. */
export function covers(lock: FileLock, path: LibraryPath): boolean {
  return lock.path === path || (lock.webdav?.isDeep === true && isWithin(path, lock.path))
}

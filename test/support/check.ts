import path from 'node:path'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { findAnnotationFaults } from '../../src/derived/annotations/annotation-faults-store.ts'
import { listStoredArchives } from '../../src/libraries/archives/archive-store.ts'
import { BlockCheck } from '../../src/libraries/content/block-check.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { libraryRows } from '../../src/libraries/registry/library-store.ts'
import { type CheckReport, check } from '../../src/maintenance/check/check.ts'
import type { CheckSources } from '../../src/maintenance/check/library-check.ts'
import type { BlockStore } from '../../src/platform/storage/block-store.ts'
import { openDiskBlockStore } from '../../src/platform/storage/disk/index.ts'
import { partialUploads } from '../../src/sharing/quotas/partial-upload-store.ts'
import type { TestServer } from './server.ts'

/** The blocks of a server, opened beside it. */
export function openBlocksOf(server: TestServer): Promise<BlockStore> {
  return openDiskBlockStore({ directory: path.join(server.data, 'blocks'), shared: true })
}

export function sourcesOf(server: TestServer, blocks: BlockStore): CheckSources {
  const { db, core, search, photos, now } = server.running.services
  const { defaultHistoryDays } = core
  const { objects, changes } = storesOf(core)
  return {
    db,
    now,
    objects,
    changes,
    defaultHistoryDays,
    blocks: new BlockCheck(db, blocks, now),
    searchFaults: (library) => search.reindexing.faultsOf(library),
    photoFaults: (library) => photos.faultsOf(library),
    annotationFaults: ({ key }) => findAnnotationFaults(db, key),
    uploadsOf: ({ key }) => partialUploads.list(db, key),
    archivesOf: ({ key }) => listStoredArchives(db, key),
    pathBindings: core.pathBindings,
  }
}

/** Checks a running server as `carrel check --read-data` does. */
export async function checkServer(
  server: TestServer,
  options: { library?: string; readData?: boolean } = {},
): Promise<CheckReport> {
  const { db } = server.running.services
  await using blocks = await openBlocksOf(server)
  const { library, readData = true } = options
  const libraryKey = library === undefined ? undefined : await libraryRows.findKey(db, library as LibraryId)
  const { signal } = new AbortController()
  return await check(sourcesOf(server, blocks), {
    readData,
    sample: 100,
    libraryKey,
    environment: '',
    signal,
  })
}

import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type LibraryPath, ROOT } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { GarbageCollector } from '../../src/maintenance/gc/collector.ts'
import { OperationLeases } from '../../src/maintenance/gc/operation-leases.ts'
import { openTestCore, type TestCore, type TestCoreOptions } from '../support/core.ts'

/** A core with a collector and a clock that tests advance. */
export interface GcStage {
  readonly stage: TestCore
  readonly gc: GarbageCollector
  readonly leases: OperationLeases
  readonly clock: { now: number }
}

export const GRACE = 100

export async function openGcStage(
  options: TestCoreOptions,
  { graceSeconds = GRACE } = {},
): Promise<GcStage & AsyncDisposable> {
  const clock = { now: 1_800_000_000 }
  const now = () => clock.now
  const stage = await openTestCore({ ...options, now })
  const onError = (error: unknown) => {
    throw error
  }
  const { core, db, blocks } = stage
  const leases = new OperationLeases({ db, operations: core.operations, now, onError })
  const gc = new GarbageCollector(
    { db, blocks, core, leases },
    { graceSeconds, now, onError, processCommits: async () => {} },
  )
  return { stage, gc, leases, clock, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

/** Runs as many collections, each a grace period after the last, as anything needs to be freed. */
export async function collectAll({ gc, clock }: GcStage, runs = 6): Promise<void> {
  for (let n = 0; n < runs; n++) {
    await gc.runOnce()
    clock.now += 1000
  }
}

export async function save(
  { stage: { core } }: Pick<GcStage, 'stage'>,
  library: EditableLibrary,
  name: string,
  bytes: Buffer,
  folder: LibraryPath = ROOT,
): Promise<void> {
  using _operation = core.operations.begin()
  const content = await core.incoming.receive(one(bytes))
  await library.commit(async (tree) => {
    await tree.makeDirs(folder)
    const { id, size } = content
    await tree.put(folder, fileDirent({ id, name, size, mtime: core.now(), modifier: library.actor.email }))
    return { description: `Added "${name}"`, result: 0, contents: [content] }
  })
}

export async function remove(library: EditableLibrary, path: LibraryPath): Promise<void> {
  await library.commit(async (tree) => {
    await tree.take(path)
    return { description: 'Deleted', result: 0 }
  })
}

/** The bytes of a file at the head; undefined if it is not there. */
export async function load(
  { stage }: Pick<GcStage, 'stage'>,
  library: EditableLibrary,
  path: LibraryPath,
): Promise<Buffer | undefined> {
  const opened = await stage.reopen(library)
  const entry = await opened.tree.find(path)
  if (entry?.kind !== 'file') return undefined
  const file = await storesOf(stage.core).objects.getFile(opened.info.key, entry.id)
  const chunks = await Array.fromAsync(storesOf(stage.core).content.read(opened.info.key, file))
  return Buffer.concat(chunks)
}

/** Rows and files that are left. */
export async function countAll({ stage: { db, blocks } }: Pick<GcStage, 'stage'>) {
  const count = async (sql: string) => (await db.get<{ n: number }>(sql))?.n ?? 0
  return {
    commits: await count('select count(*) as n from commit_object'),
    objects: await count('select count(*) as n from fs_object'),
    references: await count('select count(*) as n from library_block'),
    small: await count('select count(*) as n from small_block'),
    files:
      (await Array.fromAsync(blocks.list())).length + (await Array.fromAsync(blocks.listRetired())).length,
    condemned:
      (await count('select count(*) as n from condemned_object')) +
      (await count('select count(*) as n from condemned_reference')) +
      (await count('select count(*) as n from condemned_block')),
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}

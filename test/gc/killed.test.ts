import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { bundleTestProgram } from '../../bin/test-bundle.ts'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { deleteLibrary } from '../../src/libraries/library/libraries.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { libraryTrash } from '../../src/libraries/library/library-trash.ts'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import type { DiskImplementation } from '../../src/platform/storage/disk/disk-block-store.ts'
import { at } from '../support/core.ts'
import { type PostgresServer, postgresOrSkip } from '../support/postgres.ts'
import type { KilledProcessOptions } from './killed-process.ts'
import { collectAll, countAll, type GcStage, GRACE, load, openGcStage, remove, save } from './stage.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const SMALL = 3000
const LARGE = 100_000
const COLLECTIONS = 6
const PAUSE_SECONDS = 1000
// A folder of this many entries is stored as a difference to its last version.
const DELTA_ENTRIES = 40
/** What every way to free something ends with. All of them must be among the steps. */
const EXPECTED = [
  'raiseValidSince, putCut',
  'commitRows.deleteBelow, deletePathIndexBelow',
  'condemnedObjects.condemn',
  'condemnedBlocks.condemnReferences',
  'condemnedObjects.rewriteWhole',
  'condemnedObjects.delete, deleteViewObjects',
  'condemnedBlocks.deleteReferences, deleteViewObjects',
  'condemnedBlocks.condemn, condemnedBlocks.releaseHeld',
  'condemnedBlocks.remove',
  'retire',
  'condemnedBlocks.deleteRemoved',
  'discard',
]

/** The same bytes for the same name. */
function contentOf(name: string, size: number): Buffer {
  const seed = createHash('sha512').update(name).digest()
  return Buffer.concat(Array.from({ length: Math.ceil(size / seed.length) }, () => seed)).subarray(0, size)
}

const alive = new Map([
  ['small', contentOf('small', SMALL)],
  ['large', contentOf('large', LARGE)],
  // Also in the library that is purged.
  ['shared', contentOf('shared', LARGE)],
])
const deleted = new Map([
  ['old small', contentOf('old small', SMALL)],
  ['old large', contentOf('old large', LARGE)],
])

for (const implementation of ['fast', 'plain'] satisfies DiskImplementation[]) {
  describe(`a collection killed at any step, with the ${implementation} disk store`, () => {
    it('harms nothing, and collections that follow free everything', async (t) => {
      const choose = (steps: readonly string[]) =>
        implementation === 'fast' ? eachKind(steps) : eachKind(steps).filter(touchesFiles)
      await killAtSteps(t, { implementation, choose })
    })
  })
}

describe('a collection killed at a step that changes blocks, on PostgreSQL', () => {
  it('harms nothing, and collections that follow free everything', async (t) => {
    const postgres = await postgresOrSkip(t)
    if (postgres === undefined) return
    await using _postgres = postgres
    const choose = (steps: readonly string[]) => eachKind(steps).filter(changesBlocks)
    await killAtSteps(t, { implementation: 'fast', choose, postgres })
  })
})

interface KillOptions {
  readonly implementation: DiskImplementation
  readonly choose: (steps: readonly string[]) => readonly NumberedStep[]
  /** SQLite unless given. */
  readonly postgres?: PostgresServer
}

/** Kills a collection at each chosen step, on a copy of the same data each time. */
async function killAtSteps(t: TestContext, { implementation, choose, postgres }: KillOptions): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-killed-'))
  try {
    const prepared: Place = {
      folder: path.join(folder, 'prepared'),
      implementation,
      setting: postgres && { kind: 'postgres', url: await postgres.createDatabase() },
    }
    const copied = async (name: string): Promise<Place> => {
      const copy = path.join(folder, name)
      await cp(prepared.folder, copy, { recursive: true })
      const { setting } = prepared
      if (postgres === undefined || setting?.kind !== 'postgres') return { ...prepared, folder: copy }
      return {
        ...prepared,
        folder: copy,
        setting: { ...setting, url: await postgres.copyDatabase(setting.url) },
      }
    }
    const { id, now } = await prepare(prepared)
    const timing = { now, pauseSeconds: PAUSE_SECONDS, graceSeconds: GRACE, collections: COLLECTIONS }
    const complete = await runChild({ ...timing, ...(await copied('whole')), killAt: 0 })
    assert.equal(complete.signal, null)
    const steps = JSON.parse(complete.output) as string[]
    for (const name of EXPECTED) {
      assert.ok(
        steps.some((step) => step.endsWith(name)),
        `${name} is not among ${steps.join('; ')}`,
      )
    }
    const chosen = choose(steps)
    t.diagnostic(`${chosen.length} of ${steps.length} steps`)
    for (const { index, step } of chosen) {
      const copy = await copied('killed')
      const killed = await runChild({ ...timing, ...copy, killAt: index + 1 })
      assert.equal(killed.signal, 'SIGKILL', `${step}, step ${index + 1}`)
      await t.test(`${index + 1}: ${step}`, () => verify(copy, id))
      await rm(copy.folder, { recursive: true })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Where the data is. */
interface Place {
  readonly folder: string
  readonly implementation: DiskImplementation
  /** SQLite in the folder if undefined. */
  readonly setting: DatabaseSetting | undefined
}

const opened = ({ setting, ...rest }: Place) => openGcStage({ ...rest, ...(setting && { setting }) })

interface NumberedStep {
  readonly index: number
  readonly step: string
}

/** The first step of each kind, and the second: the first block is then retired or discarded, and others are not. */
function eachKind(steps: readonly string[]): NumberedStep[] {
  const kinds = Map.groupBy(
    steps.map((step, index) => ({ index, step })),
    ({ step }) => step,
  )
  return [...kinds].flatMap(([step, all]) => all.slice(0, ['retire', 'discard'].includes(step) ? 2 : 1))
}

/** The two stores differ only in these steps. */
function touchesFiles({ step }: NumberedStep): boolean {
  return /^(retire|discard|before (removeCondemned|deleteRemoved|releaseHeld)Blocks)$/.test(step)
}

/** The steps in which rows and files of blocks change, where the databases differ most. */
function changesBlocks({ step }: NumberedStep): boolean {
  return /^(retire|discard|uncommitted (removeCondemned|deleteRemoved|condemn)Blocks)$/.test(step)
}

/** Fills a place with everything that a collection deletes or has to keep. */
async function prepare(place: Place): Promise<{ id: LibraryId; now: number }> {
  await using on = await opened(place)
  const { core } = on.stage
  const actor = await on.stage.actor('owner@example.org')
  const library = await on.stage.newLibrary(actor)
  for (const [name, bytes] of [...deleted, ...alive]) await save(on, library, name, bytes)
  for (let n = 0; n < DELTA_ENTRIES; n += 1)
    await save(on, library, `${n}`, Buffer.from(`${n}`), at('/folder'))
  for (const name of deleted.keys()) await remove(library, at(`/${name}`))
  await setKeepDays(core, (await on.stage.reopen(library)).owned(), 0, undefined)
  const purged = await on.stage.newLibrary(actor, 'Purged')
  for (const name of ['shared', 'purged']) await save(on, purged, name, contentOf(name, LARGE))
  await deleteLibrary(core, (await on.stage.reopen(purged)).owned(), undefined)
  await libraryTrash.purge(core, actor, purged.info.id, undefined)
  // A file without a row, as a killed upload leaves it.
  await core.incoming.receive(
    (async function* () {
      yield contentOf('stray', LARGE)
    })(),
  )
  return { id: library.info.id, now: on.clock.now }
}

let bundled: Promise<string> | undefined

async function runChild(options: KilledProcessOptions) {
  // Loading the sources would take half of its time.
  bundled ??= bundleTestProgram(ROOT, 'test/gc/killed-process.ts', ['test/support/core.ts'])
  const script = await bundled
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [, signal]] = await Promise.all([
    text(child.stdout),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  return { output, signal }
}

async function verify(place: Place, id: LibraryId): Promise<void> {
  await using on = await opened(place)
  // After every collection of the killed process.
  on.clock.now += COLLECTIONS * PAUSE_SECONDS
  const library = await on.stage.reopen({
    info: { id },
    actor: { key: 1, email: 'owner@example.org', epoch: 0 },
  })
  await expectFiles(on, library, alive)
  // Blocks that the killed collection condemned, retired or deleted are stored again.
  for (const [name, bytes] of deleted) await save(on, library, name, bytes)
  await expectFiles(on, library, new Map([...alive, ...deleted]))
  await collectAll(on, COLLECTIONS)
  await expectFiles(on, library, new Map([...alive, ...deleted]))
  assert.deepEqual(await countAll(on), {
    commits: 1,
    // The root, the folder, its files, and the others.
    objects: 2 + DELTA_ENTRIES + alive.size + deleted.size,
    references: DELTA_ENTRIES + alive.size + deleted.size,
    small: DELTA_ENTRIES + 2,
    files: 3,
    condemned: 0,
  })
}

async function expectFiles(
  on: GcStage,
  library: EditableLibrary,
  files: ReadonlyMap<string, Buffer>,
): Promise<void> {
  for (const [name, bytes] of files) {
    assert.ok((await load(on, library, at(`/${name}`)))?.equals(bytes), name)
  }
  for (let n = 0; n < DELTA_ENTRIES; n += 1) {
    assert.equal(String(await load(on, library, at(`/folder/${n}`))), `${n}`)
  }
}

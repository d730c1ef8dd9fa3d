import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it, mock } from 'node:test'
import type { CommitId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { copyObjects } from '../../src/libraries/content/copy-objects.ts'
import { revertFile } from '../../src/libraries/edits/revert.ts'
import { setKeepDays } from '../../src/libraries/library/administration.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { OperationLeases } from '../../src/maintenance/gc/operation-leases.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { DatabaseError } from '../../src/platform/database/errors.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'
import { onBothDatabases } from '../support/databases.ts'
import { eventually } from '../support/transfer.ts'
import { collectAll, load, openGcStage, remove, save } from './stage.ts'

/** Timers run in the context in which they were made, and mocked ones in that of the caller. */
const outside = AsyncLocalStorage.snapshot()
const onError = (error: unknown) => {
  throw error
}

/** Longer than a lease. */
const STALL_SECONDS = 700
const LARGE = 70_000
const SMALL = 900

/** The libraries of one attempt. `bytes` are those that the operation stores at `/made` of `target`. */
interface Given {
  readonly stage: TestCore
  readonly source: EditableLibrary
  readonly target: EditableLibrary
  readonly old: CommitId
  readonly bytes: Buffer
}

/** Each relies on rows and files that nothing keeps but its lease. */
const operations: Record<string, (given: Given) => Promise<void>> = {
  'a new file': ({ stage, target, bytes }) => save({ stage }, target, 'made', bytes),
  'a copy of a file that is deleted meanwhile': async ({ stage, source, target }) => {
    const { core, db } = stage
    const { tree, info } = await stage.reopen(source)
    const entry = await tree.getFile(at('/original'))
    await copyObjects({ db, objects: storesOf(core).objects }, info.key, target.info.key, [entry])
    await target.commit(async (into) => {
      await into.put(ROOT, { ...entry, name: 'made' })
      return { description: 'Copied', result: 0 }
    })
  },
  'a file of history that is given up meanwhile': async ({ stage, target, old }) => {
    const wanted = { commitId: old, path: at('/made') }
    await revertFile(stage.core, await stage.reopen(target), wanted, async () => undefined)
  },
}

onBothDatabases('an operation that stands still for longer than its lease', (fresh) => {
  for (const [name, operate] of Object.entries(operations)) {
    for (const isRenewed of [false, true]) {
      it(`stores ${name} whole or not at all, ${isRenewed ? 'after' : 'before'} a new lease`, {
        timeout: 600_000,
      }, async (t) => {
        const database = await fresh(t)
        if (database === undefined) return
        const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-steps-'))
        t.after(() => rm(folder, { recursive: true, force: true }))
        const { setting } = database
        // The collector of another process.
        await using other = await openGcStage({ ...(setting && { setting }), folder }, { graceSeconds: 0 })
        const { clock } = other
        await using stage = await openTestCore({
          ...(setting && { setting }),
          folder,
          now: () => clock.now,
          // It is tried again with the next commit.
          onConsumerError: (error) => assert.ok(isRefusal(error), String(error)),
        })
        const refused: number[] = []
        for (let stallAt = 1; ; stallAt += 1) {
          const actor = await stage.actor()
          const source = await stage.newLibrary(actor)
          const target = await stage.newLibrary(actor)
          const bytes = randomBytes(stallAt % 2 === 0 ? LARGE : SMALL)
          await save({ stage }, source, 'original', bytes)
          let old = (await stage.reopen(target)).info.head
          if (name.includes('history')) {
            await save({ stage }, target, 'made', bytes)
            old = (await stage.reopen(target)).info.head
            await remove(target, at('/made'))
          }
          mock.timers.enable({ apis: ['setInterval'] })
          using _timers = { [Symbol.dispose]: () => mock.timers.reset() }
          const { db, core } = stage
          await using leases = new OperationLeases({
            db,
            operations: core.operations,
            now: () => clock.now,
            onError,
          })
          await leases.start()
          const stall = async () => {
            for (const one of [source, target]) await setKeepDays(other.stage.core, one.owned(), 0, undefined)
            if (name.includes('deleted')) await remove(await other.stage.reopen(source), at('/original'))
            clock.now += STALL_SECONDS
            await collectAll(other, 8)
            if (isRenewed) {
              outside(() => mock.timers.tick(10_000))
              await eventually(async () => assert.ok(await OperationLeases.isHeld(db, leases.name)))
            }
          }
          using stepping = stopAt(db, stallAt, stall)
          using operation = core.operations.begin()
          const outcome = await operation
            .run(() => operate({ stage, source, target, old, bytes }))
            .then(
              () => 'stored',
              (error: unknown) => error,
            )
          stepping[Symbol.dispose]()
          if (outcome !== 'stored') {
            refused.push(stallAt)
            assert.ok(isRefusal(outcome), outcome instanceof Error ? outcome.stack : String(outcome))
          }
          const found = await load(other, target, at('/made'))
          assert.deepEqual(found, outcome === 'stored' ? bytes : undefined, `stopped at step ${stallAt}`)
          if (!stepping.hasStopped) break
        }
        t.diagnostic(`refused when stopped at ${refused.join(', ')}`)
        assert.ok(refused.length > 0)
      })
    }
  }
})

/** Refused for the lease, or because what it asks for is found to be gone. */
function isRefusal(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.reason === 'fenced'
  return error instanceof Error && (/-not-found|missing/.test(error.message) || isRefusal(error.cause))
}

/** Calls `stall` before the numbered call of the database. */
function stopAt(db: Database, step: number, stall: () => Promise<void>) {
  const names = ['get', 'all', 'write'] as const
  let calls = 0
  let hasStopped = false
  let isStalling = false
  const before = async () => {
    if (isStalling || ++calls !== step) return
    hasStopped = true
    isStalling = true
    await stall()
    isStalling = false
  }
  for (const name of names) {
    const call = db[name].bind(db) as (...args: unknown[]) => Promise<unknown>
    Object.assign(db, {
      [name]: async (...args: unknown[]) => {
        await before()
        return call(...args)
      },
    })
  }
  return {
    get hasStopped() {
      return hasStopped
    },
    // Those of the class are behind them.
    [Symbol.dispose]: () => names.forEach((name) => Reflect.deleteProperty(db, name)),
  }
}

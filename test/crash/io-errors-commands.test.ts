import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { checkServer } from '../support/check.ts'
import { spawnServer } from '../support/child-server.ts'
import { carrel } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { type Fault, FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { unpack } from './scenarios.ts'
import { someErrors } from './some-errors.ts'

type Step = Pick<Fault, 'operations' | 'path' | 'effect'>

const step = (operation: Fault['operations'][number], file: string, ...effects: Fault['effect'][]): Step[] =>
  someErrors(effects).map((effect) => ({ operations: [operation], path: file, effect }))

const LOG_STEPS = [
  ...step('write', 'carrel.db-wal', 'EIO', 'ENOSPC', 'short'),
  ...step('sync', 'carrel.db-wal', 'EIO'),
]

const TARGET_STEPS = [
  ...step('mkdir', 'packs*', 'ENOSPC', 'EROFS'),
  ...step('create', 'tmp/*', 'EMFILE', 'ENOSPC', 'EROFS'),
  ...step('write', 'tmp/*', 'EIO', 'ENOSPC', 'short'),
  ...step('sync', 'tmp/*', 'EIO', 'ENOSPC'),
  ...step('rename', 'snapshots/*', 'EIO', 'EROFS'),
  ...step('syncFolder', 'packs*', 'EIO'),
  ...step('syncFolder', 'snapshots', 'EIO'),
]

const MIGRATION_STEPS = [
  ...LOG_STEPS,
  ...step('create', 'before-migration/*', 'EMFILE', 'ENOSPC', 'EROFS'),
  ...step('write', 'before-migration/*', 'EIO', 'ENOSPC'),
  ...step('sync', 'before-migration/*', 'EIO'),
]

/** A collection moves unused block files to `blocks/removed`, deletes them in a later run, and moves those that are in use again back. */
const REMOVAL_STEPS: readonly (Step & { readonly state: RemovalState })[] = [
  ...inState('condemned', step('rename', 'blocks/removed/*', 'EIO', 'ENOSPC', 'EROFS')),
  ...inState('condemned', step('sync', 'carrel.db-wal', 'EIO')),
  ...inState('retired', step('unlink', 'blocks/removed/*', 'EIO', 'EROFS')),
  ...inState('retired', step('write', 'carrel.db-wal', 'ENOSPC')),
  ...inState('inUse', step('rename', 'blocks/removed/*', 'EIO', 'EROFS')),
  ...inState('inUse', step('syncFolder', 'blocks/??', 'EIO', 'ENOSPC')),
]

type RemovalState = 'condemned' | 'retired' | 'inUse'

function inState(state: RemovalState, steps: readonly Step[]) {
  return steps.map((one) => ({ ...one, state }))
}

describe('an I/O error', { skip: cannotBuildShim() }, () => {
  it('in the target of a backup fails the backup, which the next one completes', async (t) => {
    await using folder = await temporaryFolder()
    const data = await createData(folder.path)
    const problems = new Problems()
    for (const [index, fault] of TARGET_STEPS.entries()) {
      const target = path.join(folder.path, `target ${index}`)
      mkdirSync(target)
      await using injector = await FaultInjector.create(target)
      await problems.collect(fault, injector, async (injected) => {
        const failed = await carrel(['backup', target, '--data', data], { env: injector.env })
        injected.remove()
        assert.ok(injected.hits === 0 || failed.code !== 0 || fault.effect === 'short', 'says that it failed')
        await expectSuccess(['backup', target, '--data', data])
        await expectSuccess(['backup', 'verify', target, '--read-data'])
      })
    }
    problems.expectNone(t)
  })

  it('in a garbage collection loses nothing, and the next one frees the rest', async (t) => {
    await using folder = await temporaryFolder()
    const template = await createData(folder.path)
    const problems = new Problems()
    for (const [index, fault] of LOG_STEPS.entries()) {
      const data = path.join(folder.path, `data ${index}`)
      cpSync(template, data, { recursive: true })
      await using injector = await FaultInjector.create(data)
      await problems.collect(fault, injector, async (injected) => {
        const collect = ['gc', '--gc-grace-seconds', '0', '--data', data]
        for (const _ of [1, 2]) await carrel(collect, { env: injector.env })
        injected.remove()
        for (const _ of [1, 2]) await expectSuccess(collect)
        await expectSuccess(['check', '--read-data', '--data', data])
      })
      await rm(data, { recursive: true })
    }
    problems.expectNone(t)
  })

  it('while block files are removed is reported, loses nothing in use, and later runs free the rest', async (t) => {
    await using folder = await temporaryFolder()
    const states = await createRemovalStates(folder.path)
    const problems = new Problems()
    for (const { state, ...fault } of REMOVAL_STEPS) {
      const data = path.join(folder.path, 'data')
      cpSync(states[state], data, { recursive: true })
      await using injector = await FaultInjector.create(data)
      await problems.collect(fault, injector, async (injected) => {
        const failed = await carrel([...COLLECT, '--data', data], { env: injector.env })
        injected.remove()
        assert.equal(failed.code, 1, failed.stdout)
        const isOfDatabase = fault.path.startsWith('carrel.db')
        if (!isOfDatabase) {
          assert.match(
            failed.stderr,
            /^(One block file|\d block files) could not be moved or deleted\. .*E[A-Z]+.* Nothing in use/,
          )
          // The others are moved and deleted all the same. What could not be deleted was moved back.
          const expected = expectedAfter(state, fault, states)
          assert.deepEqual([filesIn(data, 'removed').length, blockFiles(data).length], expected)
        }
        await expectRecovery(data, states)
      })
      await rm(data, { recursive: true })
    }
    problems.expectNone(t)
  })

  it('in a migration leaves data that the next start migrates', async (t) => {
    const problems = new Problems()
    for (const fault of MIGRATION_STEPS) {
      const data = await unpack('schema-10')
      try {
        const env = { CARREL_SECRET: 'a secret for the fixture', CARREL_LOG: 'silent' }
        await using injector = await FaultInjector.create(data)
        await problems.collect(fault, injector, async (injected) => {
          const started = await spawnServer(data, { ...env, ...injector.env }).catch(() => undefined)
          await started?.kill()
          injected.remove()
          await using server = await spawnServer(data, env)
          assert.equal(await server.stop(), 0)
          await expectSuccess(['check', '--read-data', '--data', data])
        })
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    }
    problems.expectNone(t)
  })
})

/** Runs one case after another. */
class Problems {
  readonly #found: string[] = []
  readonly #missed: string[] = []
  #cases = 0

  async collect(
    fault: Step,
    injector: FaultInjector,
    run: (injected: ReturnType<FaultInjector['inject']>) => Promise<void>,
  ): Promise<void> {
    const name = `${fault.effect} at ${fault.operations[0]} of ${fault.path}`
    using injected = injector.inject({ ...fault, count: 1 })
    this.#cases += 1
    try {
      await run(injected)
    } catch (error) {
      this.#found.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
    if (injected.hits === 0) this.#missed.push(name)
  }

  expectNone(t: { diagnostic(text: string): void }): void {
    t.diagnostic(`${this.#cases} cases`)
    assert.deepEqual(this.#found, [])
    assert.deepEqual(this.#missed, [], 'errors that no call had')
  }
}

const SIZES = [300, 20_000, 100_000, 1_500_000]

/** A data folder with current and deleted files, stored in rows and as files. */
async function createData(folder: string): Promise<string> {
  const data = path.join(folder, 'source')
  await using server = await startServer({ data })
  const client = await server.admin()
  const library = await client.createLibrary('Backed up')
  await client.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
  for (const size of SIZES) {
    for (const name of [`kept ${size}`, `deleted ${size}`]) {
      await uploadFile(client, library, `/${name}`, Buffer.alloc(size, name))
    }
    const query = { p: `/deleted ${size}` }
    const { status } = await client.delete(`/api/v2.1/repos/${library}/file/`, { query })
    assert.equal(status, 200)
  }
  return data
}

const COLLECT = ['gc', '--gc-grace-seconds', '0', '--json']

/** Data folders in which the next collection moves or deletes block files. */
interface RemovalStates extends Readonly<Record<RemovalState, string>> {
  /** Unused files are condemned: the next run moves them to `blocks/removed`. */
  readonly condemned: string
  /** Unused files are in `blocks/removed`: the next run deletes them. */
  readonly retired: string
  /** Files in use are in `blocks/removed`, too: the next run moves them back. */
  readonly inUse: string
  /** Names of the files in use. */
  readonly used: readonly string[]
  readonly unused: readonly string[]
}

async function createRemovalStates(folder: string): Promise<RemovalStates> {
  const source = await createData(folder)
  const all = blockFiles(source)
  const saved = (name: string) => {
    const copy = path.join(folder, name)
    cpSync(source, copy, { recursive: true })
    return copy
  }
  const collect = async () => {
    const { code, stdout, stderr } = await carrel([...COLLECT, '--data', source])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as { condemned: { blocks: number } }
  }
  // A run moves only what a run of an earlier second condemned.
  while ((await collect()).condemned.blocks === 0) assert.equal(filesIn(source, 'removed').length, 0)
  const condemned = saved('condemned')
  while (filesIn(source, 'removed').length === 0) await collect()
  const retired = saved('retired')
  const unused = filesIn(source, 'removed')
  const used = all.filter((name) => !unused.includes(name))
  assert.ok(unused.length > 1 && used.length > 1)
  const inUse = saved('in use')
  for (const name of used) {
    renameSync(
      path.join(inUse, 'blocks', name.slice(0, 2), name.slice(2)),
      path.join(inUse, 'blocks/removed', name),
    )
  }
  return { condemned, retired, inUse, used, unused }
}

/** The numbers of files in `blocks/removed` and elsewhere after a run in which one call failed. */
function expectedAfter(state: RemovalState, fault: Step, { used, unused }: RemovalStates): [number, number] {
  if (state === 'condemned') return [unused.length - 1, used.length + 1]
  if (state === 'retired') return [0, used.length + 1]
  return fault.operations[0] === 'rename' ? [1, used.length - 1] : [0, used.length]
}

/** Expects that the files in use can be read, and that further collections leave exactly those. */
async function expectRecovery(data: string, { used }: RemovalStates): Promise<void> {
  let now = Math.floor(Date.now() / 1000)
  const env = { CARREL_GC_GRACE_SECONDS: '0' }
  await using server = await startServer({ data, env, now: () => now })
  const client = await server.admin()
  const { body } = await client.get('/api2/repos/')
  for (const size of SIZES) {
    const name = `kept ${size}`
    assert.deepEqual(await download(client, body[0].id, `/${name}`), Buffer.alloc(size, name))
  }
  // A file that could not be moved is condemned, moved and deleted again.
  for (const _ of [1, 2, 3, 4]) {
    now += 10
    await server.running.services.gc.runOnce()
  }
  assert.deepEqual(blockFiles(data), used)
  assert.deepEqual(filesIn(data, 'removed'), [])
  assert.deepEqual((await checkServer(server)).findings, [])
}

/** Names of block files, ascending, without the removed ones. */
function blockFiles(data: string): string[] {
  const folders = readdirSync(path.join(data, 'blocks')).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return folders.flatMap((name) => filesIn(data, name).map((file) => name + file)).sort()
}

function filesIn(data: string, name: string): string[] {
  return readdirSync(path.join(data, 'blocks', name))
}

async function expectSuccess(args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await carrel(args)
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stderr}${stdout}`)
}

async function temporaryFolder() {
  const created = await mkdtemp(path.join(os.tmpdir(), 'carrel-io-commands-'))
  return { path: created, [Symbol.asyncDispose]: () => rm(created, { recursive: true, force: true }) }
}

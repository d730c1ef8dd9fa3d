import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { carrel } from '../support/command.ts'
import { type Fault, FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { unpack } from './scenarios.ts'

type Step = Pick<Fault, 'operations' | 'path' | 'effect'>

const step = (operation: Fault['operations'][number], file: string, ...effects: Fault['effect'][]): Step[] =>
  effects.map((effect) => ({ operations: [operation], path: file, effect }))

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

/** A data folder with current and deleted files, stored in rows and as files. */
async function createData(folder: string): Promise<string> {
  const data = path.join(folder, 'source')
  await using server = await startServer({ data })
  const client = await server.admin()
  const library = await client.createLibrary('Backed up')
  await client.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
  for (const size of [300, 20_000, 100_000, 1_500_000]) {
    for (const name of [`kept ${size}`, `deleted ${size}`]) {
      await uploadFile(client, library, `/${name}`, Buffer.alloc(size, name))
    }
    const query = { p: `/deleted ${size}` }
    const { status } = await client.delete(`/api/v2.1/repos/${library}/file/`, { query })
    assert.equal(status, 200)
  }
  return data
}

async function expectSuccess(args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await carrel(args)
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stderr}${stdout}`)
}

async function temporaryFolder() {
  const created = await mkdtemp(path.join(os.tmpdir(), 'carrel-io-commands-'))
  return { path: created, [Symbol.asyncDispose]: () => rm(created, { recursive: true, force: true }) }
}

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { ClockShim } from '../support/clock-shim.ts'
import { carrel, environment, program } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { type Fault, FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

/** Longer than the lease of a backup and the lock of a target live without being renewed. */
const STALL_SECONDS = 700

/** A command that stands still at a step, as on a suspended machine or a file system that hangs. */
class StalledCommand {
  readonly #child: ChildProcess
  readonly #output: Promise<[string, string, unknown[]]>

  private constructor(args: readonly string[], env: Record<string, string>) {
    this.#child = spawn(process.execPath, [...program, ...args], {
      env: { ...process.env, ...environment, ...env },
    })
    const { stdout, stderr } = this.#child
    assert.ok(stdout !== null && stderr !== null)
    this.#output = Promise.all([text(stdout), text(stderr), once(this.#child, 'exit')])
  }

  /** Starts the command, and stops its process at the first call that the fault describes. */
  static async start(injector: FaultInjector, args: readonly string[], at: Omit<Fault, 'effect'>) {
    using held = injector.inject({ ...at, effect: 'hold' })
    const command = new StalledCommand(args, injector.env)
    try {
      await held.whenHit()
    } catch (error) {
      command.#child.kill('SIGKILL')
      throw new Error((await command.#output).slice(0, 2).join(''), { cause: error })
    }
    command.#child.kill('SIGSTOP')
    // The call is not let through before the process is stopped.
    await eventually(async () => {
      const stat = await readFile(`/proc/${command.#child.pid}/stat`, 'utf8')
      assert.match(stat, /\) T /)
    })
    return command
  }

  /** Lets the process go on, and resolves to how it ended. */
  async resume() {
    this.#child.kill('SIGCONT')
    const [stdout, stderr, [code]] = await this.#output
    return { stdout, stderr, code: code as number | null }
  }
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const done = await carrel(args, { env })
  assert.equal(done.code, 0, `carrel ${args.join(' ')}: ${done.stdout}${done.stderr}`)
  return done.stdout
}

const KEEP_LAST = ['last', 'daily', 'weekly', 'monthly'].flatMap((each) => [
  `--backup-keep-${each}`,
  each === 'last' ? '1' : '0',
])

async function snapshotsIn(target: string): Promise<string[]> {
  return JSON.parse(await run(['backup', 'list', target, '--json'])).snapshots.map(
    ({ snapshot }: { snapshot: string }) => snapshot,
  )
}

/** The newest snapshot is complete, and a server that is restored from it has the file. */
async function assertRestorable(
  target: string,
  folder: string,
  { library, bytes }: { library: string; bytes: Buffer },
) {
  await run(['backup', 'verify', target, '--read-data'])
  const data = await mkdtemp(path.join(folder, 'restored-'))
  await run(['restore', target, '--data', data])
  await run(['check', '--read-data', '--data', data])
  await using restored = await startServer({ data })
  const admin = await Client.signIn(restored.url, ADMIN.email, ADMIN.password)
  assert.deepEqual(await download(admin, library, '/kept.bin'), bytes)
}

async function serverWithFile(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer(options)
  const admin = await server.admin()
  const library = await admin.createLibrary('Papers')
  const bytes = randomBytes(300_000)
  await uploadFile(admin, library, '/kept.bin', bytes)
  return { server, admin, library, bytes }
}

describe('a command that stood still for longer than its lock', { skip: cannotBuildShim() }, () => {
  let clock: ClockShim
  before(async () => {
    clock = await ClockShim.build()
  })
  after(() => clock[Symbol.asyncDispose]())
  const later = () => clock.environment(STALL_SECONDS)

  it('makes no snapshot of files that were collected meanwhile', { timeout: 300_000 }, async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const time = { shift: 0 }
    const now = () => Math.floor(Date.now() / 1000) + time.shift
    const { server, admin, library, bytes } = await serverWithFile({
      now,
      env: { CARREL_GC_GRACE_SECONDS: '0' },
    })
    await using _server = server
    await uploadFile(admin, library, '/deleted.bin', randomBytes(400_000))
    const limit = await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
    assert.equal(limit.status, 200, limit.text)
    await using injector = await FaultInjector.create(server.data)
    const args = ['backup', target, ...flagsOf(server)]
    const command = await StalledCommand.start(injector, args, { operations: ['open'], path: 'blocks/??/*' })
    const gone = await admin.delete(`/api2/repos/${library}/file/?p=/deleted.bin`)
    assert.equal(gone.status, 200, gone.text)
    await collectAll(server, time)
    const { code, stdout, stderr } = await command.resume()
    assert.equal(code, 1, `${stdout}${stderr}`)
    assert.match(stderr, /^The backup stood still for so long that garbage collection went on without it/)
    assert.deepEqual(await snapshotsIn(target), [])
    await run(args)
    await assertRestorable(target, folder.path, { library, bytes })
  })

  // Every object is written to a file of its own first: the lock, a pack with a large block, a pack with rows, the index, the manifest.
  const created = (skip: number) => ({ operations: ['create'], path: 'tmp/*', skip }) as const
  const STEPS = {
    'before it writes a pack': created(1),
    'between two packs': created(2),
    'before it lists its packs': created(3),
    'before it publishes the manifest': created(4),
    'while it publishes the manifest': { operations: ['syncFolder'], path: 'snapshots' },
  } as const satisfies Record<string, Omit<Fault, 'effect'>>
  for (const [step, at] of Object.entries(STEPS)) {
    it(`withdraws its snapshot if the target was pruned meanwhile: stopped ${step}`, {
      timeout: 300_000,
    }, async () => {
      await using folder = await temporaryFolder()
      const target = path.join(folder.path, 'target')
      const { server, admin, library, bytes } = await serverWithFile()
      await using _server = server
      const args = ['backup', target, ...flagsOf(server)]
      await run(args)
      const [first] = await snapshotsIn(target)
      await uploadFile(admin, library, '/second.bin', randomBytes(3_000_000))
      await using injector = await FaultInjector.create(target)
      const command = await StalledCommand.start(injector, args, at)
      await run(['backup', 'prune', target, ...KEEP_LAST, ...flagsOf(server)], later())
      const pruned = await snapshotsIn(target)
      const { code, stdout, stderr } = await command.resume()
      assert.equal(code, 1, `${stdout}${stderr}`)
      assert.match(stderr, /^carrel backup stood still for so long that another command took over/)
      // A manifest that the prune found is complete. It is withdrawn like any other.
      assert.deepEqual(await snapshotsIn(target), pruned.includes(first ?? '') ? [first] : [])
      await run(['backup', 'verify', target, '--read-data'])
      await run(args)
      await assertRestorable(target, folder.path, { library, bytes })
    })
  }

  it('has no valid snapshot if it is killed after it published one too late', {
    timeout: 300_000,
  }, async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const { server, library, bytes } = await serverWithFile()
    await using _server = server
    const args = ['backup', target, ...flagsOf(server)]
    await run(args)
    await uploadFile(await server.admin(), library, '/second.bin', randomBytes(3_000_000))
    await using injector = await FaultInjector.create(target)
    const command = await StalledCommand.start(injector, args, created(4))
    const prune = ['backup', 'prune', target, ...KEEP_LAST, ...flagsOf(server)]
    await run(prune, later())
    {
      using killed = injector.inject({ operations: ['syncFolder'], path: 'snapshots', effect: 'kill' })
      const { code, stderr } = await command.resume()
      assert.equal(code, null, stderr)
      assert.equal(killed.hits, 1)
    }
    assert.equal((await readdir(path.join(target, 'snapshots'))).length, 2)
    assert.equal((await snapshotsIn(target)).length, 1)
    await assertRestorable(target, folder.path, { library, bytes })
    await run(prune)
    assert.equal((await readdir(path.join(target, 'snapshots'))).length, 1)
  })

  it('removes nothing that a backup relies on meanwhile, if it prunes', { timeout: 300_000 }, async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const { server, admin, library, bytes } = await serverWithFile()
    await using _server = server
    const args = ['backup', target, ...flagsOf(server)]
    // A pack with this block alone. The newest snapshot does not need it, and then the server has it again.
    const again = randomBytes(2_000_000)
    const gone = await admin.createLibrary('Gone')
    await uploadFile(admin, gone, '/again.bin', again)
    await run(args)
    for (const url of [`/api/v2.1/repos/${gone}/`, `/api/v2.1/admin/trash-libraries/${gone}/`]) {
      const deleted = await admin.delete(url)
      assert.equal(deleted.status, 200, deleted.text)
    }
    await run(args)
    await using injector = await FaultInjector.create(target)
    const prune = ['backup', 'prune', target, ...KEEP_LAST, ...flagsOf(server)]
    const command = await StalledCommand.start(injector, prune, { operations: ['unlink'], path: 'packs/*' })
    await uploadFile(admin, library, '/again.bin', again)
    await run(args, later())
    const { code, stdout, stderr } = await command.resume()
    assert.equal(code, 1, `${stdout}${stderr}`)
    assert.match(stderr, /^carrel backup prune stood still for so long/)
    await assertRestorable(target, folder.path, { library, bytes })
    await run(prune)
    await assertRestorable(target, folder.path, { library, bytes })
  })
})

/** Collects until nothing waits, each time later than every lease lives. */
async function collectAll(server: TestServer, time: { shift: number }): Promise<void> {
  for (let each = 0; each < 8; each++) {
    time.shift += STALL_SECONDS
    await server.running.services.gc.runOnce()
  }
}

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { carrelProcess, serve } from '../support/command.ts'
import { startSmtpReceiver } from '../support/smtp-receiver.ts'

interface Report {
  ok: boolean
  checks: { check: string; status: string; message: string; remedy?: string }[]
}

describe('carrel doctor', { timeout: 300_000 }, () => {
  let folder = ''
  let data = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-doctor-'))
    data = path.join(folder, 'data')
    await using server = await serve(['--data', data])
    assert.equal((await server.stop()).code, 0)
  })
  after(() => rm(folder, { recursive: true }))

  const examine = async (args: string[], env: Record<string, string> = {}) => {
    const outcome = await carrelProcess(['doctor', '--json', ...args], { env })
    const report = JSON.parse(outcome.stdout) as Report
    assert.equal(outcome.code, report.ok ? 0 : 1)
    for (const { status, remedy } of report.checks) assert.equal(remedy === undefined, status === 'ok')
    const statusOf = (name: string) => report.checks.find(({ check }) => check === name)?.status
    return { ...report, statusOf }
  }
  /** A copy of the sound data, for a test to spoil. */
  const copied = async (name: string) => {
    const copy = path.join(folder, name)
    await cp(data, copy, { recursive: true })
    await chmod(copy, 0o700)
    return copy
  }

  it('finds nothing wrong with sound data, says so line by line, and changes nothing', async () => {
    const before = await digest(data)
    const outcome = await carrelProcess(['doctor', '--data', data, '--port', '0'])
    assert.equal(outcome.code, 0, outcome.stdout + outcome.stderr)
    const lines = outcome.stdout.trimEnd().split('\n')
    assert.deepEqual(
      // Without a backup target there is a warning about that alone.
      lines.map((line) => line.slice(0, 17).trimEnd()).filter((line) => line !== 'warn  backup'),
      [
        'node',
        'settings',
        'data folder',
        'free space',
        'storage',
        'database',
        'stored data',
        'vacuum',
        'clock',
        'port',
        'sandbox',
      ].map((name) => `ok    ${name}`),
    )
    assert.deepEqual(await digest(data), before)
  })

  it('creates nothing in an empty folder', async () => {
    const report = await examine(['--data', path.join(folder, 'not/yet'), '--port', '0'])
    assert.deepEqual(
      [report.ok, report.statusOf('data folder'), report.statusOf('database')],
      [true, 'warn', 'warn'],
    )
    assert.deepEqual(await readdir(folder), ['data'])
  })

  it('finds a running server at its port and at its public URL, and its data while it is in use', async () => {
    const copy = await copied('running')
    await using server = await serve(['--data', copy])
    const { port } = new URL(server.url)
    const report = await examine(['--data', copy, '--port', port, '--public-url', server.url])
    assert.equal(report.ok, true)
    assert.deepEqual(
      report.checks.filter(({ check }) => check !== 'backup').map(({ status }) => status),
      Array.from({ length: 12 }, () => 'ok'),
    )
    const lost = await examine(['--data', copy, '--port', port, '--public-url', 'http://127.0.0.1:9'])
    assert.equal(lost.statusOf('public URL'), 'fail')
    assert.equal((await server.stop()).code, 0)
  })

  it('warns of a public URL that does not answer while no server runs', async () => {
    const report = await examine(['--data', data, '--port', '0', '--public-url', 'http://127.0.0.1:9'])
    assert.deepEqual([report.ok, report.statusOf('public URL')], [true, 'warn'])
  })

  it('finds a port that another program uses', async () => {
    const other = createServer((socket) => socket.end('220 hello\r\n')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const report = await examine(['--data', data, '--port', String((other.address() as AddressInfo).port)])
    other.close()
    assert.deepEqual([report.ok, report.statusOf('port')], [false, 'fail'])
  })

  it('warns of a data folder that others can enter', async () => {
    const copy = await copied('open')
    await chmod(copy, 0o755)
    const report = await examine(['--data', copy, '--port', '0'])
    assert.deepEqual([report.ok, report.statusOf('data folder')], [true, 'warn'])
  })

  it('finds a file in place of the data folder', async () => {
    const file = path.join(folder, 'file')
    await writeFile(file, '')
    const report = await examine(['--data', file, '--port', '0'])
    assert.deepEqual([report.ok, report.statusOf('data folder')], [false, 'fail'])
  })

  it('finds a database that is damaged', async () => {
    const copy = await copied('damaged')
    await writeFile(path.join(copy, 'carrel.db'), 'this is no database, whatever its name says'.repeat(100))
    const report = await examine(['--data', copy, '--port', '0'])
    assert.deepEqual([report.ok, report.statusOf('database')], [false, 'fail'])
  })

  it('finds data of a newer version, and does not change it', async () => {
    const copy = path.join(folder, 'newer')
    const newer = { version: 9999, name: 'of the future', up: async () => {} }
    const setting = { kind: 'sqlite', file: path.join(copy, 'carrel.db') } as const
    const db = await openDatabase(setting, { onFatal: rethrow, migrations: [newer] })
    await db[Symbol.asyncDispose]()
    const before = await digest(copy)
    const report = await examine(['--data', copy, '--port', '0'])
    assert.deepEqual([report.ok, report.statusOf('database')], [false, 'fail'])
    assert.deepEqual(await digest(copy), before)
  })

  it('finds a clock behind what was stored', async () => {
    const copy = await copied('future')
    const setting = { kind: 'sqlite', file: path.join(copy, 'carrel.db') } as const
    const db = await openDatabase(setting, { onFatal: rethrow })
    await db.write(async (tx) => {
      const account = await tx.get<{ key: number }>('select key from account')
      const columns = [
        'id',
        'owner_key',
        'name',
        'description',
        'head',
        'head_seq',
        'root',
        'size',
        'file_count',
      ]
      columns.push('updated_at', 'modifier', 'created_at')
      const none = new Uint8Array(20)
      const time = Math.floor(Date.now() / 1000) + 86_400
      const row = ['x', account?.key ?? 0, 'x', '', none, 1, none, 0, 0, time, 'x', time]
      await tx.insert('library', columns, [row])
    })
    await db[Symbol.asyncDispose]()
    const report = await examine(['--data', copy, '--port', '0'])
    assert.deepEqual([report.ok, report.statusOf('clock')], [false, 'fail'])
  })

  it('signs in to the mail server without sending, and finds one that refuses or does not answer', async () => {
    const smtp = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'carrel' && password === 'right'
          ? done(null, { user: username })
          : done(new Error('Invalid login')),
    })
    const mail = async (login: string) => {
      const { checks } = await examine(['--data', data, '--port', '0'], {
        CARREL_MAIL_URL: `smtp://${login}127.0.0.1:${smtp.port}`,
        CARREL_MAIL_FROM: 'Carrel <carrel@files.example.org>',
        CARREL_PUBLIC_URL: 'https://files.example.org',
      })
      return checks.find(({ check }) => check === 'mail')
    }
    try {
      assert.deepEqual(await mail('carrel:right@'), {
        check: 'mail',
        status: 'ok',
        message: `127.0.0.1:${smtp.port} accepts mail`,
      })
      const refused = await mail('carrel:wrong-secret@')
      assert.equal(refused?.status, 'fail')
      assert.match(refused.message, /refused the sign-in/)
      assert.doesNotMatch(JSON.stringify(refused), /wrong-secret/)
      assert.deepEqual(smtp.received, [])
    } finally {
      await smtp[Symbol.asyncDispose]()
    }
    const silent = await mail('carrel:right@')
    assert.equal(silent?.status, 'fail')
    assert.match(silent.remedy ?? '', /CARREL_MAIL_URL/)
  })

  it('finds settings that cannot be used', async () => {
    const report = await examine(['--data', data, '--port', 'eight'])
    assert.deepEqual([report.ok, report.statusOf('settings')], [false, 'fail'])
    const database = await examine(['--data', data, '--port', '0'], {
      CARREL_DATABASE: 'postgres://carrel:hush@127.0.0.1:9/carrel',
    })
    assert.equal(database.statusOf('database'), 'fail')
    assert.ok(!JSON.stringify(database.checks).includes('hush'))
  })
})

/** What every file in a folder holds. */
async function digest(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder, { withFileTypes: true, recursive: true })
  const entries = files
    .filter((file) => file.isFile())
    .map(async (file) => {
      const place = path.join(file.parentPath, file.name)
      return [
        place,
        createHash('sha256')
          .update(await readFile(place))
          .digest('hex'),
      ] as const
    })
  return Object.fromEntries(await Promise.all(entries))
}

function rethrow(error: Error): never {
  throw error
}

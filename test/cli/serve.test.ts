import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { Client } from '../support/client.ts'
import { carrelProcess, serve, sourceProgram } from '../support/command.ts'
import { eventually } from '../support/transfer.ts'

/** From the sources, as users run them: a start, a stop, and a refused command. The others run from the bundle of the test run. */
const FROM_SOURCES = { from: sourceProgram }

describe('carrel serve', { timeout: 300_000 }, () => {
  let folder = ''
  let count = 0
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-serve-'))
  })
  after(() => rm(folder, { recursive: true }))
  const newData = () => path.join(folder, `data-${++count}`)

  it('logs its address and the file with the generated password, and exits with 0 on SIGTERM', async () => {
    const data = newData()
    await using first = await serve(['--data', data], FROM_SOURCES)
    const [made, ready] = first.lines
    assert.equal(made?.['administrator'], 'admin@carrel.local')
    assert.equal(ready?.['dataFolder'], data)
    assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const file = path.join(data, 'admin-password.txt')
    assert.equal(made?.['passwordFile'], file)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const password = await passwordIn(file)
    assert.ok(!JSON.stringify(first.lines).includes(password))
    // Only tests inside the process of a server can lower the cost.
    assert.match(hashIn(data), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const wrong = { username: 'admin@carrel.local', password: 'wrong' }
    await new Client(first.url).post('/api2/auth-token/', { form: wrong })
    await stat(file)
    const admin = await Client.signIn(first.url, 'admin@carrel.local', password)
    await assert.rejects(stat(file), { code: 'ENOENT' })
    assert.equal((await admin.get('/api2/account/info/')).body.is_staff, true)
    assert.equal((await stat(data)).mode & 0o777, 0o700)
    assert.deepEqual(await first.stop(), { code: 0, signal: null })

    await using second = await serve(['--data', data], FROM_SOURCES)
    assert.equal(second.lines.length, 1)
    assert.ok(!JSON.stringify(second.lines).includes(password))
    assert.equal((await new Client(second.url, admin.token).get('/api2/auth/ping/')).status, 200)
    assert.deepEqual(await second.stop('SIGINT'), { code: 0, signal: null })
  })

  it('keeps the generated password in a file until the account is opened or has another one', async () => {
    const data = newData()
    const file = path.join(data, 'admin-password.txt')
    {
      await using first = await serve(['--data', data, '--log', 'silent'])
      const password = await passwordIn(file)
      await first.stop()
      await using second = await serve(['--data', data])
      assert.equal(await passwordIn(file), password)
      await carrelProcess(['user', 'add', 'ann@example.org', '--password-stdin', '--data', data], {
        input: 'opened by ann',
      })
      await Client.signIn(second.url, 'ann@example.org', 'opened by ann')
      await stat(file)
    }
    const changed = await carrelProcess(['user', 'password', 'admin@carrel.local', '--data', data])
    assert.equal(changed.code, 0)
    await assert.rejects(stat(file), { code: 'ENOENT' })
  })

  it('deletes the file of a node whose administrator has signed in at another one', async () => {
    const data = newData()
    const file = path.join(data, 'admin-password.txt')
    {
      await using first = await serve(['--data', data, '--log', 'silent'])
      const text = await readFile(file, 'utf8')
      await Client.signIn(first.url, 'admin@carrel.local', await passwordIn(file))
      await first.stop()
      // As the other node leaves it: its sign-in is in the database, and the file in a folder that it does not have.
      await writeFile(file, text)
    }
    await using second = await serve(['--data', data])
    await eventually(() => assert.rejects(stat(file), { code: 'ENOENT' }))
    await second.stop()
  })

  it('shows the generated password on a terminal, and puts it nowhere else', async () => {
    const data = newData()
    const command = [process.execPath, ...sourceProgram, 'serve', '--port', '0', '--data', data]
    // `script` gives it a terminal.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CARREL_'))
    const child = spawn('script', ['-qefc', command.join(' '), '/dev/null'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: Object.fromEntries(inherited),
    })
    let shown = ''
    for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      shown += chunk
      if (shown.includes('(shown only this once)')) break
    }
    const [, url = '', password = ''] =
      /ready at (\S+)[^]*Password: (\S+) \(shown only this once\)/.exec(shown) ?? assert.fail(shown)
    const exited = once(child, 'exit')
    try {
      await Client.signIn(url, 'admin@carrel.local', password)
      await assert.rejects(stat(path.join(data, 'admin-password.txt')), { code: 'ENOENT' })
    } finally {
      child.kill('SIGTERM')
      await exited
      await untilRefused(url)
    }
  })

  it('takes the administrator from the settings and does not repeat the password', async () => {
    const env = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'a password of ours' }
    await using server = await serve(['--data', newData(), '--log', 'silent'], { env })
    assert.equal(server.lines[0]?.['administrator'], 'root@example.org')
    assert.ok(!JSON.stringify(server.lines).includes('a password of ours'))
    await Client.signIn(server.url, 'root@example.org', 'a password of ours')
    assert.equal((await server.stop()).code, 0)
  })

  it('takes a secret as an argument and hides it from others on the machine', async (t) => {
    if (process.platform !== 'linux') return t.skip('the arguments of processes are read from /proc')
    const secret = 'a password of ours'
    await using server = await serve(['--data', newData(), '--admin-password', secret])
    await Client.signIn(server.url, 'admin@carrel.local', secret)
    const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const shown = await Promise.all(
      processes.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    )
    assert.deepEqual(
      shown.filter((line) => line.includes(secret)),
      [],
    )
  })

  it('refuses a short password for a new administrator, and starts with it once there is one', async () => {
    const data = newData()
    const env = { CARREL_ADMIN_PASSWORD: '123' }
    const refused = await carrelProcess(['serve', '--data', data, '--port', '0'], { env })
    assert.equal(refused.code, 1, refused.stderr)
    assert.match(
      `${refused.stdout}${refused.stderr}`,
      /Give a longer password, at the first start as CARREL_ADMIN_PASSWORD/,
    )
    await using first = await serve(['--data', data], { env: { CARREL_PASSWORD_LENGTH: '3', ...env } })
    await first.stop()
    await using second = await serve(['--data', data], { env })
    await Client.signIn(second.url, 'admin@carrel.local', '123')
  })

  it('finishes a request that runs before it ends', async () => {
    await using server = await serve(['--data', newData()])
    const socket = await beginRequest(server.url)
    const stopping = server.stop()
    await untilRefused(server.url)
    socket.write('1')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 400 .*Connection: close.*non_field_errors/is)
    assert.equal((await stopping).code, 0)
  })

  it('ends at once on a second signal', async () => {
    await using server = await serve(['--data', newData()])
    const socket = await beginRequest(server.url)
    server.child.kill('SIGTERM')
    await untilRefused(server.url)
    const began = performance.now()
    assert.deepEqual(await server.stop(), { code: 1, signal: null })
    assert.ok(performance.now() - began < 5000)
    socket.destroy()
  })

  it('exits though nobody reads its log', async () => {
    await using server = await serve(['--data', newData()])
    server.child.stdout?.pause()
    // A line each: more than what is between two processes holds.
    for (let asked = 0; asked < 3000; asked += 50) {
      await Promise.all(Array.from({ length: 50 }, () => new Client(server.url).get('/api2/nothing/')))
    }
    assert.deepEqual(await server.stop(), { code: 0, signal: null })
  })

  it('says in one sentence that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const outcome = await carrelProcess(['serve', '--data', newData(), '--port', String(port)])
    other.close()
    assert.equal(outcome.code, 1)
    assert.equal(
      outcome.stderr,
      `Port ${port} on 127.0.0.1 is taken: stop what uses it or choose another port.\n`,
    )
  })

  it('says in one sentence that the data folder cannot be used', async () => {
    const file = newData()
    await writeFile(file, 'not a folder')
    const outcome = await carrelProcess(['serve', '--data', file, '--port', '0'])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^Cannot write to the data folder .*: make it writable .*\.\n$/)
  })

  it('says so where no folder can be created', { skip: process.platform !== 'linux' }, async () => {
    // Creating folders recursively never ends there.
    const outcome = await carrelProcess(['serve', '--data', '/proc/none/data', '--port', '0'])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^Cannot write to the data folder .*: make it writable .*\.\n$/)
  })

  it('says in one sentence that the data is of a newer version', async () => {
    const data = newData()
    const file = path.join(data, 'carrel.db')
    const newer = { version: 9999, name: 'of the future', up: async () => {} }
    await using _db = await openDatabase({ kind: 'sqlite', file }, { onFatal: rethrow, migrations: [newer] })
    const outcome = await carrelProcess(['serve', '--data', data, '--port', '0'])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^The data has schema version 9999, .* backup made before the upgrade\.\n$/)
  })

  it('says in one sentence that the database file is not a database', async () => {
    const data = newData()
    await using server = await serve(['--data', data])
    await server.stop()
    await writeFile(path.join(data, 'carrel.db'), 'this is no database, whatever its name says'.repeat(100))
    const outcome = await carrelProcess(['serve', '--data', data, '--port', '0'])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^The database cannot be used \(.*\): run carrel doctor .*\.\n$/)
  })

  const badSettings: [what: string, args: string[], env: Record<string, string>, message: RegExp][] = [
    ['a flag', ['--port', 'eight'], {}, /^Set --port to a whole number from 0 to 65535, not "eight"\.\n$/],
    ['a variable', [], { CARREL_LOG: 'loud' }, /^Set CARREL_LOG to trace, .*, not "loud"\.\n$/],
    ['an unknown variable', [], { CARREL_PROT: '1' }, /CARREL_PROT/],
    ['a secret', [], { CARREL_SECRET: 'hush' }, /^Set CARREL_SECRET to at least 16 characters\.\n$/],
    ['an e-mail', ['--admin-email', 'a;b@example.org'], {}, /^Give an e-mail address .*\.\n$/],
  ]
  for (const [what, args, env, message] of badSettings) {
    it(`says in one sentence that ${what} cannot be used`, async () => {
      const outcome = await carrelProcess(['serve', '--data', newData(), ...args], { env })
      assert.equal(outcome.code, 1)
      assert.match(outcome.stderr, message)
      assert.equal(outcome.stderr.split('\n').length, 2)
    })
  }

  it('exits with 2 for an unknown flag', async () => {
    const outcome = await carrelProcess(['serve', '--prot', '1'], FROM_SOURCES)
    assert.equal(outcome.code, 2)
    assert.match(outcome.stderr, /unknown option '--prot'/)
  })

  it('lists a flag for every setting', async () => {
    const outcome = await carrelProcess(['serve', '--help'])
    assert.equal(outcome.code, 0)
    for (const flag of ['--data <folder>', '--public-url <url>', '--default-quota-mb <megabytes>']) {
      assert.ok(outcome.stdout.includes(flag), flag)
    }
  })
})

async function passwordIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  const [, password = ''] =
    /^Administrator: admin@carrel\.local\nPassword: (\S+)\n/.exec(text) ?? assert.fail(text)
  return password
}

/** The hash of the password of the only account. */
function hashIn(data: string): string {
  using db = new DatabaseSync(path.join(data, 'carrel.db'), { readOnly: true })
  return String(db.prepare('select password_hash from account').get()?.['password_hash'])
}

/** A login whose body is one byte short, so that the server has to wait for it. */
async function beginRequest(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const body = 'username=a&password='
  socket.write(
    `POST /api2/auth-token/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: ${body.length + 1}\r\nExpect: 100-continue\r\n\r\n`,
  )
  // The server says so once it has the request, before it waits for the body.
  await once(socket, 'data')
  socket.write(body)
  return socket
}

/** Resolves once nobody is let in any more. */
async function untilRefused(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    try {
      await once(socket, 'connect')
    } catch {
      return
    } finally {
      socket.destroy()
    }
  }
}

function rethrow(error: Error): never {
  throw error
}

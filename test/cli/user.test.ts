import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { type CommandOptions, carrelProcess, type Serving, serve } from '../support/command.ts'
import { addApp } from '../support/second-factors.ts'

const admin = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'correct horse battery' }

describe('carrel user, while a server runs', { timeout: 300_000 }, () => {
  let data = ''
  let server: Serving
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-user-'))
    server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
  })
  after(async () => {
    assert.equal((await server.stop()).code, 0)
    await rm(data, { recursive: true })
  })
  const user = (args: string[], options: CommandOptions = {}) =>
    carrelProcess(['user', ...args, '--data', data], options)
  const signIn = (email: string, password: string) => Client.signIn(server.url, email, password)

  it('adds an account with a generated password that opens it at once', async () => {
    const added = await user(['add', 'Ann@example.org', '--name', 'Ann', '--quota-mb', '5'])
    assert.equal(added.code, 0, added.stderr)
    const [, password = ''] = /^Added ann@example\.org\.\nPassword: (\S+) \(shown only this once\)\n$/.exec(
      added.stdout,
    ) ?? ['', '']
    const ann = await signIn('ann@example.org', password)
    const { body } = await ann.get('/api2/account/info/')
    assert.deepEqual([body.name, body.total, body.is_staff], ['Ann', 5_000_000, false])
  })

  it('takes a password from standard input and never prints it', async () => {
    const input = 'from standard input\n'
    const added = await user(['add', 'bob@example.org', '--guest', '--password-stdin', '--json'], { input })
    assert.equal(added.code, 0, added.stderr)
    const { created, ...rest } = JSON.parse(added.stdout) as Record<string, unknown>
    assert.match(String(created), /^\d{4}-\d\d-\d\dT/)
    assert.deepEqual(rest, {
      email: 'bob@example.org',
      name: 'bob',
      role: 'guest',
      active: true,
      usageBytes: 0,
      quotaBytes: null,
      lastLogin: null,
    })
    await signIn('bob@example.org', 'from standard input')
  })

  it('removes the second factor of somebody who lost it', async () => {
    const input = 'a long password\n'
    const added = await user(['add', 'lost@example.org', '--password-stdin'], { input })
    assert.equal(added.code, 0, added.stderr)
    await addApp(await signIn('lost@example.org', 'a long password'))
    await assert.rejects(signIn('lost@example.org', 'a long password'))
    const reset = await user(['reset-second-factor', 'lost@example.org'])
    assert.equal(reset.stdout, 'lost@example.org signs in with its password alone.\n', reset.stderr)
    await signIn('lost@example.org', 'a long password')
    const again = await user(['reset-second-factor', 'lost@example.org'])
    assert.notEqual(again.code, 0)
    assert.match(again.stderr, /lost@example\.org has no second factor\./)
    const removed = await user(['remove', 'lost@example.org', '--yes'])
    assert.equal(removed.code, 0, removed.stderr)
  })

  it('lists accounts as text and as JSON', async () => {
    const listed = await user(['list'])
    assert.equal(listed.code, 0, listed.stderr)
    const [heading, ...rows] = listed.stdout.trimEnd().split('\n')
    assert.match(heading ?? '', /^E-MAIL +NAME +ROLE +ACTIVE +USED +QUOTA +LAST LOGIN$/)
    assert.match(rows[0] ?? '', /^root@example\.org +root +admin +yes +0 bytes +unlimited +never$/)
    assert.match(rows[1] ?? '', /^ann@example\.org +Ann +default +yes +0 bytes +5 MB +\d{4}-\d\d-\d\d$/)
    const { users } = JSON.parse((await user(['list', '--json'])).stdout) as { users: { email: string }[] }
    assert.deepEqual(
      users.map(({ email }) => email),
      ['root@example.org', 'ann@example.org', 'bob@example.org'],
    )
  })

  it('changes a password, which signs the account out', async () => {
    const before = await signIn('bob@example.org', 'from standard input')
    const changed = await user(['password', 'bob@example.org', '--json'])
    assert.equal(changed.code, 0, changed.stderr)
    const { generatedPassword } = JSON.parse(changed.stdout) as { generatedPassword: string }
    assert.equal((await before.get('/api2/auth/ping/')).status, 401)
    await signIn('bob@example.org', generatedPassword)
    const again = await user(['password', 'bob@example.org', '--password-stdin'], { input: 'one of my own' })
    assert.equal(again.stdout, 'Changed the password of bob@example.org; it is signed out everywhere.\n')
    await signIn('bob@example.org', 'one of my own')
  })

  it('is recorded in the audit log', async () => {
    await user(['add', 'noted@example.org'])
    await user(['remove', 'noted@example.org', '--yes'])
    const root = await signIn('root@example.org', 'correct horse battery')
    const { entries } = (await root.get('/api/v2.1/admin/audit-log/', { object_id: 'noted@example.org' }))
      .body
    const shown = entries.map((entry: { actor: string; action: string }) => [entry.actor, entry.action])
    assert.deepEqual(shown, [
      ['operator', 'account-deleted'],
      ['operator', 'account-made'],
    ])
  })

  it('asks before it removes an account', async () => {
    const asked = await user(['remove', 'bob@example.org'])
    assert.equal(asked.code, 1)
    assert.match(asked.stderr, /^Remove bob@example\.org .*\[y\/N\] bob@example\.org was not removed: /)
    const refused = await user(['remove', 'bob@example.org'], { input: 'n\n' })
    assert.equal(refused.code, 1)
    await signIn('bob@example.org', 'one of my own')
    const removed = await user(['remove', 'bob@example.org'], { input: 'y\n' })
    assert.deepEqual([removed.code, removed.stdout], [0, 'Removed bob@example.org.\n'])
    const reply = await new Client(server.url).post('/api2/auth-token/', {
      form: { username: 'bob@example.org', password: 'one of my own' },
    })
    assert.equal(reply.status, 400)
  })

  it('does not remove the last administrator', async () => {
    const last = await user(['remove', 'root@example.org', '--yes', '--json'])
    assert.equal(last.code, 1)
    assert.match(last.stderr, /^root@example\.org is the last administrator.*\.\n$/)
    assert.match((JSON.parse(last.stdout) as { error: string }).error, /last administrator/)
    assert.equal((await user(['add', 'eve@example.org', '--admin'])).code, 0)
    assert.equal((await user(['remove', 'eve@example.org', '--yes'])).code, 0)
  })

  const refusals: [args: string[], code: number, message: RegExp][] = [
    [['add', 'ann@example.org'], 1, /^There is already an account ann@example\.org/],
    [['add', 'ann'], 1, /^Give an e-mail address/],
    [['add', 'new@example.org', '--password-stdin'], 1, /^Give a password that is not empty\.\n$/],
    [['add', 'new@example.org', '--name', 'a/b'], 1, /^Give a name without a slash\.\n$/],
    [['add', 'new@example.org', '--quota-mb', 'lots'], 2, /^Set --quota-mb to a whole number/],
    [['add', 'new@example.org', '--admin', '--guest'], 2, /--admin.* cannot be used with .*--guest/],
    [['add'], 2, /missing required argument 'email'/],
    [['password', 'nobody@example.org'], 1, /^There is no account nobody@example\.org/],
    [['remove', 'nobody@example.org', '--yes'], 1, /^There is no account nobody@example\.org/],
    [['list', '--all'], 2, /unknown option '--all'/],
    [['dance'], 2, /unknown command 'dance'|unknown option/],
  ]
  for (const [args, code, message] of refusals) {
    it(`answers "user ${args.join(' ')}" with exit code ${code}`, async () => {
      const outcome = await user(args)
      assert.equal(outcome.code, code, outcome.stderr)
      assert.match(outcome.stderr, message)
      assert.equal(outcome.stdout, '')
    })
  }
})

describe('carrel user, in a folder without data', { timeout: 60_000 }, () => {
  it('creates nothing and says what to do', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-user-'))
    const outcome = await carrelProcess(['user', 'add', 'ann@example.org', '--data', folder])
    assert.equal(outcome.code, 1)
    assert.match(
      outcome.stderr,
      /^There is no data of Carrel in the folder .*: start carrel serve once, .*\n$/,
    )
    assert.deepEqual(await readdir(folder), [])
    await rm(folder, { recursive: true })
  })
})

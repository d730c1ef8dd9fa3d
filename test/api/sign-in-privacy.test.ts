import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createLogger } from '../../src/base/logging.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 'a long password'

describe('A failed sign-in', () => {
  const lines: string[] = []
  let server: TestServer
  let admin: Client
  before(async () => {
    const destination = { write: (line: string) => lines.push(line) }
    server = await startServer({ logger: createLogger('trace', { pretty: false, destination }) })
    admin = await server.admin()
  })
  after(() => server[Symbol.asyncDispose]())

  const signIn = (username: string, password: string) =>
    server.anonymous.post('/api2/auth-token/', { form: { username, password } })
  /** The visible response, without values that differ between requests. */
  const seen = ({ status, text, headers }: Reply) => {
    const { date: _date, 'x-request-id': _id, ...others } = Object.fromEntries(headers)
    return { status, text, headers: others }
  }

  it('looks the same for a wrong password, an unknown name and an inactive account', async () => {
    const active = await server.signUp()
    const inactive = await server.signUp()
    await server.running.services.accounts.update(inactive.email, { active: false }, undefined)
    const wrong = seen(await signIn(active.email, 'wrong'))
    assert.equal(wrong.status, 400)
    for (const [username, password] of [
      ['nobody@example.org', PASSWORD],
      ['nobody', PASSWORD],
      [inactive.email, 'wrong'],
      [inactive.email, PASSWORD],
    ] as const) {
      assert.deepEqual(seen(await signIn(username, password)), wrong, `${username} ${password}`)
    }
  })

  it('records no unknown name, as it may be a password', async () => {
    const typed = `Hunter2-${crypto.randomUUID()}`
    await signIn(typed, 'wrong')
    await signIn(` ${typed.toUpperCase()}`, 'wrong')
    await signIn(typed, 'x')
    const device = { platform: 'linux', device_id: 'd'.repeat(40) }
    await server.anonymous.post('/api2/auth-token/', {
      form: { username: typed, password: 'x', ...device },
    })
    const exported = await admin.get('/api/v2.1/admin/audit-log/export/')
    assert.equal(exported.status, 200)
    const { core } = server.running.services
    const rows = await dbOf(core).all('select * from audit_entry')
    const everything = [exported.text, JSON.stringify(rows), ...lines].join('\n').toLowerCase()
    assert.ok(!everything.includes(typed.toLowerCase().slice(8)), 'the typed name was stored')
    if (process.env['CARREL_TEST_DATABASE'] !== 'postgres') {
      const files = ['carrel.db', 'carrel.db-wal'].map((name) => readFile(path.join(server.data, name)))
      for (const bytes of await Promise.all(files)) {
        assert.ok(!bytes.toString('latin1').includes(typed.slice(8)), 'the typed name is in the database')
      }
    }
  })

  it('is audited with the account if it exists, and otherwise with a value that only shows equal names', async () => {
    const user = await server.signUp()
    await signIn(user.email.toUpperCase(), 'wrong')
    const [own] = (await admin.get('/api/v2.1/admin/audit-log/', { actor: user.email })).body.entries
    assert.partialDeepStrictEqual(own, {
      action: 'login-failed',
      object_id: user.email,
      detail: { reason: 'wrong-password' },
    })
    for (const name of ['nobody at all', ' Nobody at ALL', 'nobody else']) await signIn(name, 'wrong')
    const { entries } = (await admin.get('/api/v2.1/admin/audit-log/', { action: 'login-failed' })).body
    const [third, second, first] = entries.map(({ actor }: { actor: string }) => actor)
    assert.match(first, /^unknown-[0-9a-f]{16}$/)
    assert.equal(second, first)
    assert.notEqual(third, first)
  })

  it('is one log line with the address of the client and nothing that was typed', async () => {
    lines.length = 0
    const user = await server.signUp()
    await signIn(user.email, 'wrong')
    await signIn('nobody@example.org', 'wrong')
    const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'authentication failed')
    const { pid: _pid, time: _time, user: key, ...known } = logged[0]
    const expected = {
      level: 'warn',
      room: 'security',
      address: '127.0.0.1',
      kind: 'sign-in',
      reason: 'refused',
      msg: 'authentication failed',
    }
    assert.deepEqual(known, expected)
    assert.equal(typeof key, 'number')
    const { pid: _otherPid, time: _otherTime, ...unknown } = logged[1]
    assert.deepEqual(unknown, expected)
    assert.equal(logged.length, 2)
  })
})

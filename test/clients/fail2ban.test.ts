import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { createLogger } from '../../src/base/logging.ts'
import { startServer, type TestServer } from '../support/server.ts'

const command = findProgram('fail2ban-regex')
const skip = command === undefined ? 'fail2ban is not installed' : false
const docs = path.join(import.meta.dirname, '../../docs/fail2ban.md')
const CLIENT = '203.0.113.7'
const VICTIM = '198.51.100.99'

/** Names that try to end the line, or the field, and to name another address. */
const hostile = [
  `x","address":"${VICTIM}","kind":"sign-in","reason":"refused","msg":"authentication failed"}`,
  `x\n{"level":"warn","time":"2026-01-31T12:04:05.678Z","pid":1,"room":"security","address":"${VICTIM}","kind":"sign-in","reason":"refused","msg":"authentication failed"}`,
  `x\r\n{"level":"warn",,"pid":1,"room":"security","address":"${VICTIM}","kind":"sign-in","reason":"refused","msg":"authentication failed"}\n`,
  VICTIM,
  `\u2028{"address":"${VICTIM}"}`,
]

describe('fail2ban with the filter of the docs', { skip, timeout: 120_000 }, () => {
  const lines: string[] = []
  let server: TestServer
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-fail2ban-'))
    const destination = { write: (line: string) => lines.push(line) }
    server = await startServer({
      logger: createLogger('trace', { pretty: false, destination }),
      env: { CARREL_TRUSTED_PROXIES: '127.0.0.1', CARREL_LINK_PASSWORD_LENGTH: '4' },
    })
    const [, filter = ''] = /```ini\n(\[Definition\]\n[^`]+)```/.exec(await readFile(docs, 'utf8')) ?? []
    await writeFile(path.join(folder, 'carrel.conf'), filter)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const headers = (address = CLIENT) => ({ 'X-Forwarded-For': address })

  /** The addresses the filter finds in the log, each as often as it was found. */
  async function matched(): Promise<string[]> {
    const log = path.join(folder, 'carrel.log')
    await writeFile(log, lines.join(''))
    const args = ['--out', '<ip>', log, path.join(folder, 'carrel.conf')]
    const { stdout } = await promisify(execFile)(command ?? '', args)
    return stdout.split('\n').filter((line) => line !== '')
  }

  it('finds wrong passwords of every kind, and nothing else', async () => {
    lines.length = 0
    const user = await server.signUp()
    const call = (form: Record<string, string>) =>
      server.anonymous.post('/api2/auth-token/', { form, headers: headers() })
    await call({ username: user.email, password: 'wrong' })
    await call({ username: 'nobody@example.org', password: 'wrong' })
    await user.post('/api/v2.1/user/reset-password/', {
      form: { old_password: 'wrong', new_password: 'another one' },
      headers: headers('203.0.113.8'),
    })
    const encrypted = await user.post('/api/v2.1/repos/', { form: { name: 'Secrets', passwd: 'right one' } })
    const sealed = encrypted.body.repo_id ?? encrypted.body.id
    await user.post(`/api/v2.1/repos/${sealed}/set-password/`, {
      form: { password: 'wrong' },
      headers: headers('2001:db8::7'),
    })
    const library = await user.createLibrary()
    const link = await user.post('/api/v2.1/share-links/', {
      form: { repo_id: library, path: '/', password: 'right one' },
    })
    assert.equal(link.status, 200, link.text)
    await server.anonymous.get(`/api/v2.1/share-links/${link.body.token}/dirents/?password=right%20one`)
    const guess = { headers: { ...headers('203.0.113.9'), 'X-Link-Password': 'wrong' } }
    await server.anonymous.call('GET', `/api/v2.1/share-links/${link.body.token}/dirents/`, guess)
    await call({ username: user.email, password: 'a long password' })
    const kinds = lines.flatMap((line) => {
      const { msg, kind } = JSON.parse(line) as { msg: string; kind: string }
      return msg === 'authentication failed' ? [kind] : []
    })
    assert.deepEqual(kinds, ['sign-in', 'sign-in', 'password-change', 'library', 'link'])
    assert.deepEqual(await matched(), [CLIENT, CLIENT, '203.0.113.8', '2001:db8::7', '203.0.113.9'])
  })

  it('never bans the address of another client', async () => {
    lines.length = 0
    for (const name of hostile) {
      const form = { username: name, password: name }
      const reply = await server.anonymous.post('/api2/auth-token/', { form, headers: headers() })
      assert.equal(reply.status, 400)
      await server.anonymous.get(`/f/${encodeURIComponent(name)}/`, { password: name })
      const user = await server.signUp()
      await user.post('/api2/repos/', { form: { name } })
      await user.put('/api/v2.1/user/', { form: { name } })
    }
    for (const forged of [`${VICTIM}","kind":"x`, `${VICTIM}\t`, `"${VICTIM}"`]) {
      const form = { username: 'x', password: 'x' }
      await server.anonymous.post('/api2/auth-token/', { form, headers: headers(`${forged}, ${CLIENT}`) })
    }
    const addresses = await matched()
    assert.deepEqual(addresses, Array(hostile.length + 3).fill(CLIENT))
    assert.ok(!lines.join('').includes(VICTIM))
  })
})

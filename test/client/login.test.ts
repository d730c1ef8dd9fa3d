import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { carrelProcess, environment, program } from '../support/command.ts'
import { addApp } from '../support/second-factors.ts'
import { startServer, type TestServer } from '../support/server.ts'

const exec = promisify(execFile)

/** Stands for the key store of a desktop: keeps secrets in a file. */
const secretTool = (file: string) => `#!/bin/sh
case "$1" in
  store) cat > "${file}" ;;
  lookup) cat "${file}" ;;
  clear) rm -f "${file}" ;;
esac
`

describe('carrel login', () => {
  let server: TestServer
  let folder = ''
  before(async () => {
    server = await startServer()
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-login-'))
  })
  after(async () => {
    await rm(folder, { recursive: true })
    await server[Symbol.asyncDispose]()
  })

  const run = async (home: string, args: readonly string[], input: string, env = {}) =>
    carrelProcess(args, { input, env: { CARREL_CLIENT_FOLDER: path.join(folder, home), ...env } })

  it('signs in with a password as a device, and signs out', async () => {
    const { email } = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    const wrong = await run('a', ['login', server.url, '--user', email], 'wrong')
    assert.equal(wrong.code, 4, wrong.stderr)
    const args = ['login', server.url, '--user', email, '--store', 'file', '--json']
    const signedIn = await run('a', args, 'a long password\n')
    assert.equal(signedIn.code, 0, signedIn.stderr)
    assert.deepEqual(JSON.parse(signedIn.stdout), { url: server.url, account: email, store: 'file' })
    const file = path.join(folder, 'a/client.json')
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const { token } = JSON.parse(await readFile(file, 'utf8')).logins[0]
    assert.ok(!signedIn.stdout.includes(token))
    assert.equal((await run('a', ['ls'], '')).code, 0)
    assert.equal((await run('a', ['logout'], '')).code, 0)
    assert.equal((await run('a', ['ls'], '')).code, 4)
    assert.ok(!(await readFile(file, 'utf8')).includes(token))
    const ping = await fetch(`${server.url}/api2/auth/ping/`, {
      headers: { Authorization: `Token ${token}` },
    })
    assert.equal(ping.status, 401)
  })

  it('sends the code of a second factor', async () => {
    const client = await server.signUp({ email: 'two@example.org', password: 'a long password' })
    const { recoveryCodes } = await addApp(client)
    const args = ['login', server.url, '--user', client.email, '--store', 'file']
    assert.notEqual((await run('two', args, 'a long password\n')).code, 0)
    const signedIn = await run('two', [...args, '--otp', recoveryCodes[0] ?? ''], 'a long password\n')
    assert.equal(signedIn.code, 0, signedIn.stderr)
    assert.equal((await run('two', ['ls'], '')).code, 0)
  })

  it('keeps a token in the key store of the operating system if there is one', async () => {
    if (process.platform !== 'linux') return
    const { token } = await server.signUp()
    const bin = path.join(folder, 'bin')
    await mkdir(bin)
    await writeFile(path.join(bin, 'secret-tool'), secretTool(path.join(folder, 'secret')))
    await chmod(path.join(bin, 'secret-tool'), 0o755)
    const env = { PATH: `${bin}:${process.env['PATH']}` }
    const signedIn = await run('b', ['login', server.url, '--token', '--json'], `${token}\n`, env)
    assert.equal(JSON.parse(signedIn.stdout).store, 'os')
    assert.ok(!(await readFile(path.join(folder, 'b/client.json'), 'utf8')).includes(token ?? '-'))
    assert.equal(await readFile(path.join(folder, 'secret'), 'utf8'), token)
    assert.equal((await run('b', ['ls'], '', env)).code, 0)
  })

  it('keeps a token in the keyring of GNOME until it signs out', async (t) => {
    const session = findProgram('dbus-run-session')
    if (session === undefined || findProgram('gnome-keyring-daemon') === undefined) {
      return t.skip('gnome-keyring is not installed')
    }
    const user = await server.signUp()
    await user.createLibrary('Kept')
    const { token = '' } = user
    const home = path.join(folder, 'gnome')
    await mkdir(home, { mode: 0o700 })
    // A session bus of its own, which ends with the script, and takes the keyring with it.
    const script = `set -e
printf secret | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1
printf %s "$TOKEN" | "$@" login "$URL" --token --store os
grep -c "$TOKEN" client.json || true
secret-tool lookup service carrel url "$URL"; echo
"$@" ls
"$@" logout
secret-tool lookup service carrel url "$URL" || echo gone
`
    const env = { ...process.env, ...environment, URL: server.url, TOKEN: token }
    const own = { HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: home, CARREL_CLIENT_FOLDER: home }
    const args = ['--', 'sh', '-c', script, 'sh', process.execPath, ...program]
    const { stdout } = await exec(session, args, { cwd: home, env: { ...env, ...own }, timeout: 60_000 })
    const [signedIn = '', ...rest] = stdout.trim().split('\n')
    assert.match(signedIn, /The token is in the key store of the operating system\.$/)
    assert.deepEqual(rest, ['0', token, 'Kept:', `Signed out at ${server.url}.`, 'gone'])
  })

  it('refuses a token that the server does not know', async () => {
    const refused = await run('c', ['login', server.url, '--token'], 'f'.repeat(40))
    assert.equal(refused.code, 4)
    assert.ok(!refused.stderr.includes('f'.repeat(40)))
  })
})

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const exec = promisify(execFile)
const SECRET = 'davSecret-1'
const TIME = 1_700_000_000

describe('real WebDAV clients', { timeout: 120_000 }, () => {
  let server: TestServer
  let user: Client
  let folder = ''
  before(async () => {
    server = await startServer()
    user = await server.signUp({ email: 'dav@example.org' })
    await user.put('/api/v2.1/webdav-secret/', { form: { secret: SECRET } })
    await user.createLibrary('Team files')
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-dav-clients-'))
    await mkdir(path.join(folder, 'source/deep/er'), { recursive: true })
    await writeFile(path.join(folder, 'source/empty.txt'), '')
    await writeFile(path.join(folder, 'source/größe – 大 😀 & %.txt'), 'unicode')
    await writeFile(path.join(folder, 'source/deep/er/large.bin'), randomBytes(5_000_000))
    await utimes(path.join(folder, 'source/deep/er/large.bin'), TIME, TIME)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it('rclone makes a round trip: copies, checks, times, moves, deletes', async (t) => {
    const program = findProgram('rclone')
    if (program === undefined) return t.skip('rclone is not installed')
    const { stdout: pass } = await exec(program, ['obscure', SECRET])
    const config = path.join(folder, 'rclone.conf')
    await writeFile(
      config,
      `[it]\ntype = webdav\nvendor = owncloud\nurl = ${server.url}/dav/\nuser = ${user.email}\npass = ${pass.trim()}\n`,
    )
    const rclone = async (...args: string[]) =>
      (await exec(program, ['--config', config, '--retries', '1', ...args])).stdout
    const source = path.join(folder, 'source')
    await rclone('copy', source, 'it:Team files/up')
    await rclone('check', '--download', source, 'it:Team files/up')
    // Nothing is sent again, so the times are right, too.
    assert.equal(await rclone('copy', '-v', '--dry-run', source, 'it:Team files/up'), '')
    await rclone('copy', 'it:Team files/up', path.join(folder, 'back'))
    const back = path.join(folder, 'back/deep/er/large.bin')
    assert.deepEqual(await readFile(back), await readFile(path.join(source, 'deep/er/large.bin')))
    assert.equal((await stat(back)).mtimeMs / 1000, TIME)
    await rclone('moveto', 'it:Team files/up/deep', 'it:Team files/moved')
    assert.deepEqual((await rclone('lsf', '-R', 'it:Team files/moved')).trim().split('\n').sort(), [
      'er/',
      'er/large.bin',
    ])
    await rclone('purge', 'it:Team files/up')
    assert.equal((await rclone('lsf', 'it:Team files')).trim(), 'moved/')
    return undefined
  })

  it('cadaver stores, lists, locks, copies and fetches', async (t) => {
    const program = findProgram('cadaver')
    if (program === undefined) return t.skip('cadaver is not installed')
    const home = path.join(folder, 'cadaver')
    await mkdir(home)
    await writeFile(
      path.join(home, '.netrc'),
      `machine ${new URL(server.url).hostname} login ${user.email} password ${SECRET}\n`,
      { mode: 0o600 },
    )
    await writeFile(path.join(home, 'a.txt'), 'from cadaver')
    const child = spawn(program, [`${server.url}/dav/Team%20files/`], {
      cwd: home,
      env: { ...process.env, HOME: home },
    })
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    child.stderr.on('data', (text) => (said += text))
    child.stdin.end(
      ['mkcol c', 'cd c', 'put a.txt', 'lock a.txt', 'put a.txt', 'unlock a.txt', 'copy a.txt b.txt']
        .concat(['propset b.txt color red', 'propget b.txt color', 'get b.txt back.txt', 'ls', 'quit'])
        .join('\n'),
    )
    await once(child, 'close')
    assert.equal(await readFile(path.join(home, 'back.txt'), 'utf8'), 'from cadaver', said)
    assert.doesNotMatch(said, /failed/, said)
    assert.match(said, /a\.txt.*\n.*b\.txt/, said)
    return undefined
  })
})

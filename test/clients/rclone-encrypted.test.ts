import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { createEncrypted, readAsClient } from '../support/encrypted.ts'
import { ADMIN, startServer } from '../support/server.ts'

const exec = promisify(execFile)
const program = findProgram('rclone')
// It sends a password unescaped and some signs as others: one with &, + or / would arrive as another.
const SECRET = 'pässword? a=b 100'

it('rclone works in an encrypted library with its password, and not without', async (t) => {
  if (program === undefined) return t.skip('rclone is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rclone-encrypted-'))
  await using server = await startServer()
  const admin = await server.admin()
  const library = await createEncrypted(admin, 2, SECRET)
  const obscured = async (text: string) => (await exec(program, ['obscure', text])).stdout.trim()
  const config = path.join(folder, 'rclone.conf')
  const account = `type = seafile\nurl = ${server.url}\nuser = ${ADMIN.email}\npass = ${await obscured(ADMIN.password)}\n`
  const remote = `${account}library = Version 2\n`
  await writeFile(
    config,
    `[it]\n${remote}library_key = ${await obscured(SECRET)}\n[wrong]\n${remote}library_key = ${await obscured('x')}\n`,
  )
  const rclone = async (...args: string[]) => {
    const options = { encoding: 'buffer' as const, maxBuffer: 2 ** 26 }
    const { stdout } = await exec(program, ['--config', config, '--retries', '1', ...args], options)
    return stdout
  }
  try {
    const source = path.join(folder, 'source')
    await mkdir(path.join(source, 'deep'), { recursive: true })
    const large = randomBytes(20_000_001)
    await writeFile(path.join(source, 'deep/large.bin'), large)
    await writeFile(path.join(source, 'small.txt'), 'hello\n')
    await writeFile(path.join(source, 'empty'), '')

    await assert.rejects(rclone('copy', source, 'wrong:up'), /wrong|password|decrypt/i)
    await rclone('copy', source, 'it:up')
    await rclone('check', '--download', source, 'it:up')
    assert.ok((await readAsClient(admin, library, '/up/deep/large.bin')).equals(large))
    const part = await rclone('cat', '--offset', '9999990', '--count', '20', 'it:up/deep/large.bin')
    assert.ok(part.equals(large.subarray(9_999_990, 10_000_010)))
    await rclone('moveto', 'it:up/small.txt', 'it:renamed.txt')
    assert.equal(String(await rclone('cat', 'it:renamed.txt')), 'hello\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

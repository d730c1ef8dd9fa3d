import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { ADMIN, startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const exec = promisify(execFile)
const program = findProgram('rclone')

it('rclone gives out a public link, and the same one again', async (t) => {
  if (program === undefined) return t.skip('rclone is not installed')
  await using server = await startServer()
  const admin = await server.admin()
  const library = await admin.createLibrary('Library')
  await uploadFile(admin, library, '/docs/a b.txt', 'hello')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rclone-'))
  try {
    const { stdout: password } = await exec(program, ['obscure', ADMIN.password])
    const config = path.join(folder, 'rclone.conf')
    await writeFile(
      config,
      `[it]\ntype = seafile\nurl = ${server.url}\nuser = ${ADMIN.email}\npass = ${password.trim()}\n`,
    )
    const link = async (where: string) => {
      const { stdout } = await exec(program, ['--config', config, 'link', `it:${where}`])
      return stdout.trim()
    }
    const file = await link('Library/docs/a b.txt')
    assert.match(file, /\/f\/[0-9a-f]{20}\/$/)
    assert.equal(await (await fetch(`${file}?dl=1`)).text(), 'hello')
    assert.equal(await link('Library/docs/a b.txt'), file)
    assert.match(await link('Library/docs'), /\/d\/[0-9a-f]{20}\/$/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

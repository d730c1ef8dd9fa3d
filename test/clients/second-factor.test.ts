import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { SeafClient } from '../support/seaf-client.ts'
import { addApp } from '../support/second-factors.ts'
import { startServer } from '../support/server.ts'

const PASSWORD = 'a long password'

it('a real client signs in with a code, once, and not without', async (t) => {
  const program = findProgram('seaf-cli')
  if (program === undefined) return t.skip('seaf-cli is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-second-factor-'))
  t.after(() => rm(folder, { recursive: true }))
  await using server = await startServer()
  const ann = await server.signUp({ password: PASSWORD })
  await ann.createLibrary('Notes')
  const { recoveryCodes } = await addApp(ann)
  await using client = await SeafClient.start(program, path.join(folder, 'a'), {
    url: server.url,
    email: ann.email,
    password: PASSWORD,
  })
  const account = ['-s', server.url, '-u', ann.email, '-p', PASSWORD]
  const [code = ''] = recoveryCodes
  await assert.rejects(client.run('list-remote', ...account))
  assert.match(await client.run('list-remote', ...account, '-a', code), /Notes/)
  await assert.rejects(client.run('list-remote', ...account, '-a', code))
})

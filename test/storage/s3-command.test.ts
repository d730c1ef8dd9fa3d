import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { s3SkipReason } from '../support/s3.ts'
import { ADMIN } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const skip = s3SkipReason('ceph') ?? false

it('npm run s3 starts a service for nodes, and stops it with its data', { skip }, async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-s3-command-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, [path.join(import.meta.dirname, '../../bin/s3.ts')], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const settings: Record<string, string> = {}
  for await (const line of createInterface(child.stdout)) {
    for (const [, name = '', value = ''] of line.matchAll(/([A-Z0-9_]+)='?([^\s']+)'?/g))
      settings[name] = value
    if (line.startsWith('Stop it')) break
  }
  {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-s3-command-data-'))
    t.after(() => rm(data, { recursive: true, force: true }))
    await using server = await spawnServer(data, settings)
    const user = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await user.createLibrary('Tried')
    const bytes = Buffer.alloc(3_000_000, 'a block of some size')
    await uploadFile(user, library, '/large.bin', bytes)
    assert.ok((await download(user, library, '/large.bin')).equals(bytes))
    assert.deepEqual(await readdir(path.join(data, 'blocks')).catch(() => []), [])
  }
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  assert.deepEqual(await readdir(folder), [])
})

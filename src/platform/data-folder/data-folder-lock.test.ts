import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { DataFolderInUseError, lockDataFolder } from './data-folder-lock.ts'

describe('the lock of a data folder', () => {
  it('refuses a second owner until it is released, and names the first', async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-lock-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const first = await lockDataFolder(folder, '127.0.0.1:0')
    // Repeated, because an attempt must not release the lock of its own process.
    for (let n = 0; n < 3; n++) {
      await assert.rejects(lockDataFolder(folder, '127.0.0.1:0'), DataFolderInUseError)
    }
    await first.setAddress('http://127.0.0.1:8123')
    await assert.rejects(lockDataFolder(folder, '127.0.0.1:0'), (error: Error) => {
      assert.match(error.message, new RegExp(`process id ${process.pid} on .* at http://127.0.0.1:8123`))
      return true
    })
    assert.equal(statSync(path.join(folder, 'server.lock')).mode & 0o777, 0o600)
    await first[Symbol.asyncDispose]()
    await using second = await lockDataFolder(folder, '127.0.0.1:0')
    await second.setAddress('http://127.0.0.1:8124')
  })

  it('ignores what an earlier server left, whatever it is', async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-lock-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(path.join(folder, 'server.lock'), '')
    writeFileSync(path.join(folder, 'server.json'), '{"pid":1')
    await using lock = await lockDataFolder(folder, '127.0.0.1:0')
    writeFileSync(path.join(folder, 'server.json'), '{"pid":1')
    await assert.rejects(lockDataFolder(folder, 'x'), /in use by a server that is just starting/)
    await lock.setAddress('http://127.0.0.1:1')
  })
})

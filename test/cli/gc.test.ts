import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { carrel, serve } from '../support/command.ts'

describe('carrel gc', { timeout: 300_000 }, () => {
  it('collects beside a running server, and counts only in a dry run', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    try {
      const without = await carrel(['gc', '--data', data])
      assert.deepEqual([without.code, /There is no data of Carrel/.test(without.stderr)], [1, true])
      await using server = await serve(['--data', data])
      const unknown = await carrel(['gc', '--data', data, '--library', 'nonsense'])
      assert.deepEqual([unknown.code, /not the id of a library/.test(unknown.stderr)], [2, true])
      for (const options of [[], ['--dry-run']]) {
        const done = await carrel(['gc', '--json', '--data', data, ...options])
        assert.equal(done.code, 0, done.stderr)
        const report = JSON.parse(done.stdout) as { dryRun: boolean; freedBytes: number }
        assert.deepEqual([report.dryRun, report.freedBytes], [options.length > 0, 0])
      }
      const printed = await carrel(['gc', '--data', data])
      assert.match(printed.stdout, /^Deleted: 0 commits, 0 objects/m)
      assert.equal((await server.stop()).code, 0)
      assert.equal((await carrel(['gc', '--data', data])).code, 0)
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

describe('carrel gc --compact', { timeout: 300_000 }, () => {
  let folder = ''
  let data = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-'))
    data = path.join(folder, 'data')
  })
  after(() => rm(folder, { recursive: true }))

  const compact = () => carrel(['gc', '--compact', '--json', '--data', data])
  const vacuum = async () => {
    const { stdout } = await carrel(['doctor', '--json', '--data', data, '--port', '0'])
    const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; remedy?: string }[] }
    return checks.find(({ check }) => check === 'vacuum')
  }

  it('is refused while the server runs, and converts files of earlier versions when it is stopped', async () => {
    {
      await using server = await serve(['--data', data])
      const refused = await compact()
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, /in use: stop the server/)
      assert.equal((await server.stop()).code, 0)
    }
    assert.equal((await vacuum())?.status, 'ok')
    // As an earlier version created it.
    const file = path.join(data, 'carrel.db')
    const old = new DatabaseSync(file)
    old.exec('pragma journal_mode = delete; pragma auto_vacuum = none; vacuum; pragma journal_mode = wal')
    old.close()
    const found = await vacuum()
    assert.equal(found?.status, 'warn')
    assert.match(found?.remedy ?? '', /carrel gc --compact/)
    const done = await compact()
    assert.equal(done.code, 0, done.stderr)
    const { files } = JSON.parse(done.stdout) as { files: { file: string; bytesAfter: number }[] }
    assert.equal(files[0]?.file, file)
    assert.equal((await vacuum())?.status, 'ok')
    await using server = await serve(['--data', data])
    assert.equal((await server.stop()).code, 0)
  })
})

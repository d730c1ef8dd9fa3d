import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { startPostgres } from '../../../test/support/postgres.ts'
import { readConfig } from '../../base/config/index.ts'
import { createLogger } from '../../base/logging.ts'
import { startServer } from '../server/server.ts'
import { findFolderProblem, problemOfFileSystem, reportProblems } from './storage-safety.ts'

const TMPFS = 0x01021994
const silent = createLogger('silent', { pretty: false })

describe('the file system of the data folder', () => {
  it('is recognized by its number, and SQLite on a network file system is unsafe', () => {
    const kinds = (type: number) => [
      problemOfFileSystem(type, '/data', 'sqlite')?.kind,
      problemOfFileSystem(type, '/data', 'postgres')?.kind,
    ]
    for (const network of [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997]) {
      assert.deepEqual(kinds(network), ['unsafe', 'doubtful'])
    }
    for (const other of [0x65735546, TMPFS, 0x794c7630])
      assert.deepEqual(kinds(other), ['doubtful', 'doubtful'])
    for (const local of [0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1]) {
      assert.deepEqual(kinds(local), [undefined, undefined])
    }
  })

  it('is found for a real tmpfs, also if the folder does not exist yet', async (t) => {
    if (process.platform !== 'linux' || statfsSync('/dev/shm').type !== TMPFS) return t.skip('no tmpfs here')
    const folder = mkdtempSync('/dev/shm/carrel-test-')
    t.after(() => rmSync(folder, { recursive: true }))
    for (const place of [folder, path.join(folder, 'not/yet')]) {
      assert.match((await findFolderProblem(place, 'sqlite'))?.message ?? '', /is on tmpfs, which is memory/)
    }
  })

  it('stops the start if it is unsafe and not allowed', () => {
    const nfs = problemOfFileSystem(0x6969, '/data', 'sqlite') ?? assert.fail()
    assert.throws(() => reportProblems([nfs], false, silent), {
      name: 'StartError',
      message:
        '/data is on NFS, where SQLite can damage its file: move the data folder to a local disk, or use PostgreSQL, or set CARREL_UNSAFE_STORAGE to allow.',
    })
    reportProblems([nfs], true, silent)
  })
})

describe('PostgreSQL with fsync off', () => {
  it('is refused at start unless it is allowed', async (t) => {
    await using postgres = await startPostgres({ fsync: false })
    const url = await postgres.createDatabase()
    const data = mkdtempSync(path.join(os.tmpdir(), 'carrel-storage-'))
    t.after(() => rmSync(data, { recursive: true }))
    const start = (unsafe: string) =>
      startServer({
        config: readConfig({
          env: { CARREL_DATA: data, CARREL_PORT: '0', CARREL_DATABASE: url, CARREL_UNSAFE_STORAGE: unsafe },
        }),
        logger: silent,
        onFatal: (error) => assert.fail(error),
      })
    await assert.rejects(start('refuse'), {
      name: 'StartError',
      message:
        /^PostgreSQL runs with fsync=off, .*: set fsync to on in postgresql\.conf and reload it, or set CARREL_UNSAFE/,
    })
    await using server = await start('allow')
    assert.equal(server.services.db.dialect, 'postgres')
  })
})

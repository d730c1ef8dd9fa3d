import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { findManifest, openRepository } from '../../src/maintenance/backup/index.ts'
import { manifestName, writeManifest } from '../../src/maintenance/backup/manifest.ts'
import { packName } from '../../src/maintenance/backup/repository.ts'
import { carrel } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

async function outcomes(target: string, folder: string) {
  const verified = await carrel(['backup', 'verify', target, '--read-data', '--json'])
  const restored = await carrel(['restore', target, '--json', '--data', path.join(folder, 'restored')])
  return {
    verified: { code: verified.code, ...JSON.parse(verified.stdout || '{}') },
    restored: { code: restored.code, ...JSON.parse(restored.stdout || '{}') },
  }
}

async function loseRow(
  server: TestServer,
  table: 'fs_object' | 'commit_object',
  where: string,
): Promise<string> {
  const { db } = server.running.services
  const sql = `select id from ${table} where ${where}`
  const row = await db.get<{ id: Uint8Array }>(sql)
  assert.ok(row !== undefined)
  await db.write((tx) => tx.run(`delete from ${table} where id = ?`, row.id))
  return Buffer.from(row.id).toString('hex')
}

describe('a snapshot that lacks what its trees reach', () => {
  const lost = {
    'a file object': ['fs_object', 'kind = 1'],
    'a folder object': [
      'fs_object',
      'kind = 3 and not exists (select 1 from library where root = fs_object.id)',
    ],
    'a commit of the history': ['commit_object', 'seq = 2'],
  } as const
  for (const [what, [table, where]] of Object.entries(lost)) {
    it(`is never called complete: ${what}`, async () => {
      await using folder = await temporaryFolder()
      const target = path.join(folder.path, 'target')
      await using server = await startServer()
      const ann = await server.signUp()
      const library = await ann.createLibrary('Papers')
      await uploadFile(ann, library, '/folder/a.bin', randomBytes(200_000))
      await uploadFile(ann, library, '/folder/b.txt', 'b')
      const id = await loseRow(server, table, where)
      const made = await carrel(['backup', target, '--json', ...flagsOf(server)])
      assert.equal(made.code, 3, made.stderr)
      const { gaps } = JSON.parse(made.stdout)
      assert.deepEqual(
        gaps.map((gap: { library: string; id: string }) => [gap.library, gap.id]),
        [[library, table === 'commit_object' ? '2' : id]],
      )
      const { verified, restored } = await outcomes(target, folder.path)
      assert.deepEqual([verified.code, verified.problems], [3, []])
      assert.equal(verified.damagedAtSource.length, 1)
      assert.deepEqual([restored.code, restored.missing.length], [3, 1])
    })
  }

  it('is found in a backup of an earlier version, which took lost blocks for garbage', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    await using server = await startServer()
    const ann = await server.signUp()
    const library = await ann.createLibrary('Papers')
    await uploadFile(ann, library, '/a.bin', randomBytes(2_000_000))
    assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
    const repository = await openRepository(target, { passphraseFile: undefined })
    const { lock: _lock, gaps: _gaps, ...manifest } = await findManifest(repository, 'latest')
    const pack = [...repository.index.packs()].find(({ blobs }) => blobs[0]?.[0] === 'block')
    const block = pack?.blobs[0]?.[1] ?? assert.fail('no pack has the block')
    await rm(path.join(target, packName(pack?.id ?? '')))
    await rm(path.join(target, manifestName(manifest.id)))
    await writeManifest(repository, { ...manifest, collected: [block] })
    const { verified, restored } = await outcomes(target, folder.path)
    assert.equal(verified.code, 1)
    assert.match(verified.problems.join(), new RegExp(`lacks the block ${block}`))
    assert.deepEqual([restored.code, restored.missing], [3, [`the block ${block}`]])
    const one = await carrel(['restore', target, '--json', '--library', library, ...flagsOf(server)])
    assert.deepEqual([one.code, JSON.parse(one.stdout).libraries[0].missing], [3, [`the block ${block}`]])
  })
})

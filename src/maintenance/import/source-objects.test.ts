import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { SeafileServer } from '../../../test/support/seafile-layout.ts'
import {
  type BlockId,
  type DirId,
  EMPTY_ID,
  type FileId,
  fileId,
  InvalidObject,
  type LibraryId,
} from '../../base/objects/index.ts'
import { ImportError } from './problems.ts'
import { SeafileLayout } from './seafile-layout.ts'
import { openObjectThreads, SourceObjects } from './source-objects.ts'

/** A library of a Seafile server whose objects are read. */
async function setUp(version: 0 | 1) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-source-objects-'))
  const opened = new AsyncDisposableStack()
  opened.defer(() => rmSync(folder, { recursive: true }))
  const server = new SeafileServer(folder)
  const library = await server.addLibrary({ name: 'Library', owner: 'ann@example.org', version })
  const threads = opened.use(openObjectThreads())
  const layout = await SeafileLayout.open(server.data)
  const objects = new SourceObjects(threads, layout, { id: library.id as LibraryId, version })
  return {
    library,
    objects,
    fileOf: (id: string) => server.fileOf('fs', version, library.id, id),
    writeFile: async (file: { blockIds: readonly BlockId[]; size: number }) =>
      (await library.writeFileObject(file.blockIds, file.size)) as FileId,
    /** Writes an object of version 1 with this JSON. */
    writeJson(json: string): FileId {
      const id = hash('sha1', json)
      server.put('fs', 1, library.id, id, () => deflateSync(json))
      return id as FileId
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const blockOf = (number: number) => number.toString(16).padStart(40, '0') as BlockId

for (const version of [0, 1] as const) {
  describe(`the objects of a source of version ${version}`, () => {
    it('are files in the order asked for, without those that are lost', async () => {
      await using test = await setUp(version)
      const files = Array.from({ length: 120 }, (_, index) => ({
        blockIds: [blockOf(index), blockOf(index + 1)],
        size: 1000 + index,
      }))
      const ids = await Promise.all(files.map((file) => test.writeFile(file)))
      const [missing, damaged] = [ids[3] ?? '', ids[70] ?? '']
      unlinkSync(test.fileOf(missing))
      writeFileSync(test.fileOf(damaged), version === 0 ? Buffer.alloc(40, 1) : deflateSync('{}'))
      const read = await test.objects.readFiles(ids)
      assert.deepEqual([...read.keys()], ids)
      for (const [index, id] of ids.entries()) {
        const found = read.get(id)
        if (id === missing) assert.deepEqual(found, { lost: 'is missing' })
        else if (id === damaged) assert.ok(found && 'lost' in found && /hash|not a file/.test(found.lost))
        else {
          assert.ok(found && 'file' in found)
          assert.deepEqual(found.file, files[index])
          assert.equal(found.id, version === 0 ? fileId(found.file) : id)
          assert.equal(found.asReceived, undefined)
        }
      }
    })

    it('are dirs, read ahead or not', async () => {
      await using test = await setUp(version)
      const dirs = await Promise.all(
        ['a', 'b', 'c'].map(async (name) => {
          const id = await test.writeFile({ blockIds: [blockOf(1)], size: 5 })
          const entries = [{ name: Buffer.from(name), mode: 33188, id, size: 5 }]
          return (await test.library.writeDir(entries)) as DirId
        }),
      )
      const [first, second, third] = dirs as [DirId, DirId, DirId]
      const missing = 'ab'.repeat(20) as DirId
      test.objects.readAhead([first, second, first, missing])
      test.objects.drop(second)
      for (const [id, name] of [
        [first, 'a'],
        [second, 'b'],
        [third, 'c'],
        [first, 'a'],
      ] as const) {
        const { entries } = await test.objects.readDir(id)
        assert.deepEqual(
          entries.map((entry) => entry.name),
          [name],
        )
      }
      await assert.rejects(test.objects.readDir(missing), new InvalidObject('is missing'))
    })
  })
}

describe('an object of a source', () => {
  it('is returned as it is stored if its JSON is not canonical', async () => {
    await using test = await setUp(1)
    const json = `{"type":1,"version":1,"size":7,"block_ids":["${blockOf(1)}"]}`
    const id = test.writeJson(json)
    const found = (await test.objects.readFiles([id])).get(id)
    assert.ok(found && 'file' in found)
    assert.deepEqual(found.asReceived, deflateSync(json))
    assert.deepEqual(found.file, { blockIds: [blockOf(1)], size: 7 })
  })

  it('is the empty file if it has no bytes', async () => {
    await using test = await setUp(1)
    const id = test.writeJson('{"block_ids": [], "size": 0, "type": 1, "version": 1}')
    const found = (await test.objects.readFiles([id])).get(id)
    assert.ok(found && 'file' in found)
    assert.equal(found.id, EMPTY_ID)
  })

  it('is read when it is wanted if it is too long to be read ahead', async () => {
    await using test = await setUp(1)
    const id = await test.writeFile({ blockIds: [blockOf(1)], size: 5 })
    const entries = Array.from({ length: 3000 }, (_, index) => ({
      name: Buffer.from(`a file with a name ${index}`),
      mode: 33188,
      id,
      size: 5,
    }))
    const dir = (await test.library.writeDir(entries)) as DirId
    test.objects.readAhead([dir])
    assert.equal((await test.objects.readDir(dir)).entries.length, 3000)
  })

  it('ends the import if the system cannot read it', async () => {
    await using test = await setUp(1)
    const id = 'cd'.repeat(20)
    mkdirSync(test.fileOf(id), { recursive: true })
    await assert.rejects(test.objects.readFiles([id as FileId]), ImportError)
    await assert.rejects(test.objects.readDir(id as DirId), ImportError)
  })
})

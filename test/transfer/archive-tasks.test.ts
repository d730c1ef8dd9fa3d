import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import type { FileId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { Semaphore } from '../../src/base/scheduling/fair-semaphore.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { Sealing } from '../../src/platform/secret/index.ts'
import { isPassing } from '../../src/programs/server/storage-faults.ts'
import { ArchiveFile } from '../../src/surfaces/transfer/archive-file.ts'
import { Archives, type FoundArchive } from '../../src/surfaces/transfer/archive-tasks.ts'
import {
  archiveFiles,
  fetchArchive,
  holdContent,
  progressOf,
  putSynced,
  startArchive,
  waitForArchive,
} from '../support/archives.ts'
import type { Client } from '../support/client.ts'
import { at } from '../support/core.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openLibrary, storeFile } from '../support/stored-files.ts'
import { unzip } from '../support/zip-reader.ts'

describe('archives with a limit', () => {
  let server: TestServer
  let client: Client
  let library: string
  before(async () => {
    server = await startServer({ env: { CARREL_MAX_ARCHIVE_MB: '1' } })
    client = await server.signUp()
    library = await client.createLibrary()
  })
  after(() => server[Symbol.asyncDispose]())

  it('succeed at exactly the limit', async () => {
    await storeFile(server, client, library, '/most', randomBytes(1_000_000))
    assert.equal((await waitForArchive(client, await startArchive(client, library, '/', ['most']))).zipped, 1)
  })

  it('fail above the limit, and report it on every poll', async () => {
    await storeFile(server, client, library, '/one', randomBytes(1))
    const token = await startArchive(client, library, '/', ['most', 'one'])
    const failed = { zipped: 0, total: 1, failed: 1, failed_reason: 'size too large', canceled: 0 }
    assert.deepEqual(await waitForArchive(client, token), failed)
    assert.deepEqual(await progressOf(client, token), failed)
    const response = await fetchArchive(server, token)
    assert.deepEqual([response.status, (await response.text()).trimEnd()], [400, 'Zip task is not finished'])
  })

  it('enforce the limit for synced trees that state smaller sizes', async () => {
    const before = await archiveFiles(server)
    const id = await storeFile(server, client, library, '/more', randomBytes(1_000_001))
    await putSynced(server, client, library, [{ id, name: 'small', size: 1 }])
    const token = await startArchive(client, library, '/', ['small'])
    assert.equal((await waitForArchive(client, token)).failed_reason, 'size too large')
    assert.deepEqual(await archiveFiles(server), before)
  })
})

describe('archives', () => {
  let server: TestServer
  let client: Client
  let library: string
  let folder: string
  before(async () => {
    server = await startServer()
    client = await server.signUp()
    library = await client.createLibrary()
    await contentOf(server, client, library).addFolder('/dir')
    await storeFile(server, client, library, '/dir/a.bin', randomBytes(3 * 2 ** 20))
    await storeFile(server, client, library, '/dir/b.txt', Buffer.from('b'))
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-archives-'))
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  /** The archive of a ticket, after it is packed. */
  async function packed(archives: Archives, ticket: string): Promise<FoundArchive> {
    await (await archives.find(ticket))?.packing
    const found = await archives.find(ticket)
    assert.ok(found !== undefined)
    return found
  }

  /** A separate instance over the server's core, with a folder of its own. */
  function ownArchives(t: TestContext, directory: string) {
    // It is on the node of the server, whose heartbeat would take up what the instance of the server does not pack.
    t.mock.method(server.running.services.archives, 'maintain', async () => {})
    const errors: unknown[] = []
    const archives = new Archives({
      ...server.running.services,
      lifeSeconds: 3600,
      limit: undefined,
      directory,
      sealing: new Sealing([Buffer.alloc(32)], 'test'),
      isPassing,
      onError: (error) => errors.push(error),
    })
    t.after(() => archives[Symbol.asyncDispose]())
    const start = async () => {
      const opened = await openLibrary(server, client, library)
      const dir = await opened.tree.find(at('/dir'))
      assert.ok(dir !== undefined)
      return archives.start(opened, { roots: [dir], name: 'dir.zip' })
    }
    return { archives, errors, start }
  }

  it('fail with a reason when the disk is full, without leftovers', async (t) => {
    const { archives, errors, start } = ownArchives(t, path.join(folder, 'full'))
    const handle = await open(path.join(folder, 'probe'), 'w')
    await handle.close()
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    t.mock.method(Object.getPrototypeOf(handle), 'write', () => Promise.reject(full))
    const { failure, zipped, total } = (await packed(archives, await start())).progress
    assert.deepEqual([failure, total], ['internal error', 2])
    assert.notEqual(zipped, total)
    assert.deepEqual(errors, [full])
    assert.deepEqual(await readdir(path.join(folder, 'full')), [])
  })

  it('fail when their folder cannot be created', async (t) => {
    await writeFile(path.join(folder, 'file'), '')
    const { archives, errors, start } = ownArchives(t, path.join(folder, 'file'))
    assert.equal((await packed(archives, await start())).progress.failure, 'internal error')
    assert.equal(errors.length, 1)
  })

  for (const [what, size] of [
    ['a long', 3 * 2 ** 20],
    ['a short', 1],
  ] as const) {
    it(`fail when ${what} file cannot be read, rather than leave it out`, async (t) => {
      const { archives, errors, start } = ownArchives(t, path.join(folder, 'damaged'))
      const { content } = storesOf(server.running.services.core)
      const read = content.read.bind(content)
      const readWhole = content.readWhole.bind(content)
      t.mock.method(content, 'read', async function* (...args: Parameters<typeof read>) {
        yield* read(...args)
        if (args[1].size === size) throw new Error('damaged')
      })
      t.mock.method(content, 'readWhole', async (...args: Parameters<typeof readWhole>) => {
        if (args[1].size === size) throw new Error('damaged')
        return readWhole(...args)
      })
      assert.equal((await packed(archives, await start())).progress.failure, 'internal error')
      assert.match(String(errors), /damaged/)
      assert.deepEqual(await readdir(path.join(folder, 'damaged')), [])
    })
  }

  it('leave no files when the server stops, and unfinished ones wait for another node', async (t) => {
    const directory = path.join(folder, 'closing')
    const { archives, errors, start } = ownArchives(t, directory)
    const finished = await start()
    assert.ok((await packed(archives, finished)).finished)
    assert.equal((await readdir(directory)).length, 1)
    const held = holdContent(t, server)
    const tickets = [await start(), await start(), await start()]
    const closing = archives[Symbol.asyncDispose]()
    held.open()
    await closing
    assert.deepEqual(await readdir(directory), [])
    assert.deepEqual(errors, [])
    assert.equal(await archives.find(finished), undefined)
    for (const ticket of tickets) assert.deepEqual((await archives.find(ticket))?.progress.zipped, 0)
  })

  it('yield to other requests while empty folders are packed', async (t) => {
    const many = await client.createLibrary('Many')
    const opened = await openLibrary(server, client, many)
    await opened.editable(ROOT).commit(async (tree) => {
      for (let n = 0; n < 8_000; n++) {
        const entry = { id: '0'.repeat(40) as FileId, name: `empty ${n}`, mtime: 0, size: 0, modifier: '' }
        await tree.put(ROOT, fileDirent(entry))
      }
      return { description: 'Added', result: undefined }
    })
    const { archives } = ownArchives(t, path.join(folder, 'many'))
    const head = await openLibrary(server, client, many)
    const roots = (await head.tree.getDir(ROOT)).dir.entries
    const ticket = await archives.start(head, { roots, name: 'many.zip' })
    let turns = 0
    const count = setInterval(() => turns++, 1)
    await new Promise((resolve) => setImmediate(resolve))
    const { progress } = await packed(archives, ticket)
    clearInterval(count)
    assert.equal(progress.zipped, 8_000)
    assert.ok(turns > 3, `the event loop turned ${turns} times`)
  })

  it('make the names inside a synced folder safe and unique', async (t) => {
    const synced = await client.createLibrary('Synced')
    const id = (await storeFile(server, client, synced, '/x', Buffer.from('x'))) as FileId
    await contentOf(server, client, synced).addFolder('/dir')
    const names = ['a_b', 'a\\b', 'a\nb', '..\\up', 'C:evil', 'plain', 'tab\t']
    await (await openLibrary(server, client, synced)).editable(ROOT).commit(async (tree) => {
      for (const name of names)
        await tree.put(at('/dir'), fileDirent({ id, name, mtime: 0, size: 1, modifier: '' }))
      return { description: 'Added', result: undefined }
    })
    const { archives } = ownArchives(t, path.join(folder, 'synced'))
    const head = await openLibrary(server, client, synced)
    const dir = await head.tree.find(at('/dir'))
    assert.ok(dir !== undefined)
    const { finished } = await packed(archives, await archives.start(head, { roots: [dir], name: 'dir.zip' }))
    const bytes = await Array.fromAsync(finished?.read({ start: 0, end: finished.size }) ?? [], (chunk) =>
      Buffer.from(chunk),
    )
    const files = unzip(Buffer.concat(bytes))
    assert.deepEqual(
      [...files.keys()].sort(),
      ['.._up', 'C_evil', 'a_b', 'a_b (1)', 'a_b (2)', 'plain', 'tab_'].map((name) => `dir/${name}`),
    )
    for (const text of files.values()) assert.deepEqual(text, Buffer.from('x'))
  })

  it('close the file when a client disconnects', async () => {
    const token = await startArchive(client, library, '/', ['dir'])
    await waitForArchive(client, token)
    const openArchives = async () => {
      const descriptors = await readdir('/proc/self/fd')
      const targets = await Promise.all(
        descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
      )
      return targets.filter((target) => target.startsWith(path.join(server.data, 'archives')))
    }
    await new Promise<void>((resolve, reject) => {
      const request = http.get(`${server.url}/seafhttp/zip/${token}`, (response) => {
        response.once('data', () => {
          response.destroy()
          resolve()
        })
      })
      request.on('error', reject)
    })
    const deadline = Date.now() + 60_000
    while ((await openArchives()).length > 0) {
      assert.ok(Date.now() < deadline, 'a file is still open')
      await progressOf(client, token)
    }
  })
})

describe('archives and a restart', () => {
  it('are removed by a restart, files and tickets', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-restart-'))
    try {
      let token = ''
      {
        await using server = await startServer({ data })
        const client = await server.signUp()
        const library = await client.createLibrary()
        await storeFile(server, client, library, '/a', Buffer.from('a'))
        token = await startArchive(client, library, '/', ['a'])
        await waitForArchive(client, token)
        assert.equal((await archiveFiles(server)).length, 1)
      }
      // As a killed process would have left it.
      await mkdir(path.join(data, 'archives'), { recursive: true })
      await writeFile(path.join(data, 'archives', 'left.zip'), 'left')
      await using server = await startServer({ data })
      assert.deepEqual(await archiveFiles(server), [])
      const reply = await server.anonymous.get('/api/v2.1/query-zip-progress/', { token })
      assert.deepEqual([reply.status, reply.body], [404, { error_msg: 'progress not found.' }])
      const response = await fetchArchive(server, token)
      assert.deepEqual([response.status, (await response.text()).trimEnd()], [403, 'Access token not found'])
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

describe('the file of an archive', () => {
  it('contains the appended and patched bytes, wherever its buffers end', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-file-'))
    try {
      const expected = randomBytes(3 * 2 ** 20 + 12_345)
      const file = new ArchiveFile(path.join(folder, 'a'))
      for (let from = 0; from < expected.length; from += 700_001)
        await file.append(expected.subarray(from, from + 700_001))
      const megabyte = 2 ** 20
      for (const position of [
        0,
        megabyte - 10,
        2 * megabyte - 1,
        3 * megabyte - 19,
        3 * megabyte,
        expected.length - 20,
      ]) {
        const patch = randomBytes(20)
        patch.copy(expected, position)
        await file.patch(position, patch)
      }
      assert.ok(Buffer.concat(await Array.fromAsync(file.read())).equals(expected))
      await file.close()
      assert.ok((await readFile(path.join(folder, 'a'))).equals(expected))
      await file[Symbol.asyncDispose]()
      assert.deepEqual(await readdir(folder), [])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is not created before there is much to write', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-file-'))
    try {
      await using file = new ArchiveFile(path.join(folder, 'a'))
      await file.append(Buffer.from('a few bytes'))
      assert.deepEqual(await readdir(folder), [])
      assert.equal(String(Buffer.concat(await Array.fromAsync(file.read()))), 'a few bytes')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('semaphore', () => {
  it('runs as many as it has slots, in FIFO order, also after failures', async () => {
    const semaphore = new Semaphore(2)
    const started: number[] = []
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const runs = gates.map(({ promise }, n) =>
      semaphore.run(() => {
        started.push(n)
        return promise
      }),
    )
    const settled = Promise.allSettled(runs)
    assert.deepEqual(started, [0, 1])
    gates[1]?.reject(new Error('failed'))
    await assert.rejects(runs[1] ?? Promise.resolve())
    await Promise.resolve()
    assert.deepEqual(started, [0, 1, 2])
    for (const { resolve } of gates) resolve()
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(started, [0, 1, 2, 3, 4])
  })
})

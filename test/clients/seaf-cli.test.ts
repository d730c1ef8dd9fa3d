import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { appendFile, chmod, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient, sha1 } from '../support/sync-client.ts'

const program = findProgram('seaf-cli')

/** Every entry below a folder with its size; far cheaper than reading it all. */
function outlineOf(root: string): Record<string, number> {
  const found: [string, number][] = []
  // Without promises, which would take most of the time for a thousand files.
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const full = path.join(entry.parentPath, entry.name)
    const about = entry.isFile() ? statSync(full, { throwIfNoEntry: false }) : undefined
    found.push([path.relative(root, full), about?.size ?? -1])
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}

it('two real clients sync: clone, many files, a large one, changes on both sides, a restart, a deletion', async (t) => {
  if (program === undefined) return t.skip('seaf-cli is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  const data = path.join(folder, 'data')
  let server: ChildServer = await spawnServer(data)
  const { url } = server
  const { port } = new URL(url)
  const clients: SeafClient[] = []
  try {
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    for (const name of ['a', 'b']) {
      clients.push(await SeafClient.start(program, path.join(folder, name), { url, ...ADMIN }))
    }
    const [a, b] = clients as [SeafClient, SeafClient]
    const library = await a.create('Notes')
    const [left, right] = [path.join(folder, 'a/Notes'), path.join(folder, 'b/Notes')]
    await mkdir(left)
    const sync = await SyncClient.link(client, library)
    /** Both folders and the server hold the same; gives what that is. Bytes are read only once sizes agree. */
    const same = async (what: string, check: (names: Record<string, number>) => void) => {
      let whole: Record<string, string> = {}
      await until(what, clients, async () => {
        const ours = outlineOf(left)
        check(ours)
        assertSame(outlineOf(right), ours)
        whole = await treeOf(left)
        assertSame(await treeOf(right), whole)
        assertSame(await serverTree(sync), withoutBits(whole))
      })
      return whole
    }

    // An empty library is cloned; then it fills.
    await a.join(library, left)
    await b.clone(library, path.dirname(right))
    await until('an empty clone', clients, async () => assert.deepEqual(await treeOf(right), {}))

    await t.test('1,000 files, 100 MB, empty and odd ones', async () => {
      for (let n = 0; n < 20; n++) {
        await mkdir(path.join(left, `folder ${n}`))
        for (let k = 0; k < 50; k++)
          await writeFile(path.join(left, `folder ${n}/file ${k}.txt`), `${n} ${k}`)
      }
      await writeFile(path.join(left, 'large.bin'), randomBytes(100_000_000))
      await writeFile(path.join(left, 'empty.txt'), '')
      await mkdir(path.join(left, 'no files here'))
      await writeFile(path.join(left, 'größe – 大きさ 😀.md'), '# unicode\n')
      await writeFile(path.join(left, 'run.sh'), '#!/bin/sh\n')
      await chmod(path.join(left, 'run.sh'), 0o755)
      await same('everything', (names) => assert.equal(Object.keys(names).length, 1000 + 20 + 5))
      assert.match((await treeOf(right))['run.sh'] ?? '', / x$/)
    })

    await t.test('a folder is renamed, files are deleted and changed on the other side', async () => {
      await rename(path.join(right, 'folder 1'), path.join(right, 'renamed folder'))
      await rm(path.join(right, 'folder 2'), { recursive: true })
      await appendFile(path.join(right, 'folder 3/file 0.txt'), ' and more')
      const tree = await same('the changes', (names) => {
        assert.ok('renamed folder/file 0.txt' in names && !('folder 1' in names) && !('folder 2' in names))
        assert.equal(names['folder 3/file 0.txt'], '3 0 and more'.length)
      })
      assert.equal(tree['folder 3/file 0.txt'], sha1('3 0 and more'))
    })

    await t.test('what the web API changes arrives, too', async () => {
      const form = { operation: 'rename', newname: 'by the web' }
      const reply = await client.post(`/api/v2.1/repos/${library}/dir/?p=/folder 4`, { form })
      assert.equal(reply.status, 200, reply.text)
      await same('the rename', (names) => assert.ok('by the web/file 0.txt' in names))
    })

    await t.test(
      'the server is killed during an upload, both sides change, and all of it is kept',
      async () => {
        const before = await sync.head()
        await writeFile(path.join(left, 'during.bin'), randomBytes(40_000_000))
        await until('the upload begins', clients, async () => {
          const coming = await readdir(path.join(data, 'blocks/tmp'))
          assert.ok(coming.length > 0 || (await sync.head()) !== before)
        })
        await server.kill()
        // Once, with equal times, both clients said they were in sync with different files; it was never seen again and
        // is not explained, so the times differ.
        await writeAt(path.join(left, 'both.txt'), 'from the left', 1_700_000_000)
        await writeAt(path.join(right, 'both.txt'), 'from the right', 1_700_000_100)
        await writeFile(path.join(left, 'folder 5/left.txt'), 'left')
        await writeFile(path.join(right, 'folder 5/right.txt'), 'right')
        server = await spawnServer(data, { CARREL_PORT: port })
        const isAside = (name: string) => /^both \(SFConflict .*\)\.txt$/.test(name)
        const tree = await same('both', (names) => {
          for (const name of ['during.bin', 'both.txt', 'folder 5/left.txt', 'folder 5/right.txt']) {
            assert.ok(name in names, name)
          }
          assert.equal(Object.keys(names).filter(isAside).length, 1)
        })
        const aside = Object.keys(tree).find(isAside) ?? ''
        assert.match(aside, /^both \(SFConflict admin@example\.org \d{4}(?:-\d\d){5}\)\.txt$/)
        const both = new Set([tree['both.txt'], tree[aside]])
        assert.deepEqual(both, new Set([sha1('from the left'), sha1('from the right')]))
      },
    )

    await t.test('a library that is deleted is forgotten, and its files stay', async () => {
      const reply = await client.delete(`/api2/repos/${library}/`)
      assert.equal(reply.status, 200)
      const files = await treeOf(left)
      for (const one of [a, b]) {
        await until('the library is forgotten', clients, async () => {
          assert.ok(!(await one.run('list')).includes(library))
        })
      }
      assertSame(await treeOf(left), files)
      assertSame(await treeOf(right), files)
    })
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

async function writeAt(file: string, text: string, mtime: number): Promise<void> {
  const before = `${file}.tmp~`
  await writeFile(before, text)
  await utimes(before, mtime, mtime)
  await rename(before, file)
}

/** Says only where two trees differ: they are large. */
function assertSame<T>(actual: Record<string, T>, expected: Record<string, T>): void {
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  const different = [...names].filter((name) => actual[name] !== expected[name])
  assert.deepEqual(different.slice(0, 20), [])
}

/** As the server has it, every object and block checked against its id. */
async function serverTree(sync: SyncClient): Promise<Record<string, string>> {
  const found: [string, string][] = []
  for (const [name, bytes] of await sync.clone()) {
    found.push([name.slice(1), bytes === null ? 'folder' : sha1(bytes)])
  }
  return Object.fromEntries(found.sort(([x], [y]) => (x < y ? -1 : 1)))
}

function withoutBits(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, value.replace(/ x$/, '')]))
}

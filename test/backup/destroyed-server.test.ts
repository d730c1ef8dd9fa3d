import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { Connection } from '../../src/platform/database/sqlite/connection.ts'
import { Client } from '../support/client.ts'
import { carrel, type Outcome, serve } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { seededRandom } from '../support/random.ts'
import { startServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'
import { uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

// Damages a server at random and brings it back by the commands of docs/backup.md, which are read from there.

const MANUAL = path.join(import.meta.dirname, '../../docs/backup.md')
const ACCOUNT = { email: 'ann@example.org', password: 'a long password' }

/** Tables whose rows `carrel repair` can restore from a backup or from other rows. */
const REPAIRABLE = ['fs_object', 'small_block', 'library_block', 'file_edit', 'first_seen', 'library_usage']

/** The code blocks of the section on a damaged server: the repair, the restore, and the start of the new server. */
async function documented(places: Record<string, string>): Promise<string[][][]> {
  const section = /^## A damaged server\n([\s\S]*?)^## /m.exec(await readFile(MANUAL, 'utf8'))?.[1] ?? ''
  const blocks = [...section.matchAll(/^```[a-z ]*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
  assert.equal(blocks.length, 3)
  return blocks.map((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [name, ...words] = line.replace(/#.*/, '').trim().split(/\s+/)
        assert.equal(name, 'carrel')
        return words.map((word) => places[word] ?? word)
      }),
  )
}

interface Sample {
  readonly data: string
  readonly target: string
  /** What was acknowledged before the backup. */
  readonly before: ReadonlyMap<string, { library: string; name: string; bytes: Buffer }>
  readonly after: { readonly library: string; readonly name: string; readonly bytes: Buffer }
}

/** A server with libraries, a backup of it, and another file that is not in the backup. */
async function createSample(folder: string): Promise<Sample> {
  const data = path.join(folder, 'data')
  const target = path.join(folder, 'target')
  await using server = await startServer({ data })
  const ann = await server.signUp(ACCOUNT)
  const before = new Map<string, { library: string; name: string; bytes: Buffer }>()
  for (const title of ['Papers', 'Photos']) {
    const library = await ann.createLibrary(title)
    for (let number = 0; number < 40; number++) {
      const bytes = randomBytes(number % 8 === 0 ? 150_000 : 3000)
      const name = `/folder-${number % 3}/file-${number}.bin`
      await uploadFile(ann, library, name, bytes)
      before.set(library + name, { library, name, bytes })
    }
  }
  const made = await carrel(['backup', target, '--data', data])
  assert.equal(made.code, 0, made.stderr)
  const library = await ann.createLibrary('Later')
  const after = { library, name: '/later.bin', bytes: randomBytes(100_000) }
  await uploadFile(ann, after.library, after.name, after.bytes)
  return { data, target, before, after }
}

/** Deletes, cuts or overwrites a part of the block files that are in the backup. */
async function damageBlocks({ data, after }: Sample, random: () => number, share: number): Promise<number> {
  const root = path.join(data, 'blocks')
  let damaged = 0
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const id = path.basename(entry.parentPath) + entry.name
    if (!entry.isFile() || !/^[0-9a-f]{40}$/.test(id) || random() > share) continue
    const file = path.join(entry.parentPath, entry.name)
    if ((await readFile(file)).equals(after.bytes)) continue
    damaged += 1
    const kind = Math.floor(random() * 3)
    if (kind === 0) await rm(file)
    else if (kind === 1) await truncate(file, 1000)
    else await writeFile(file, randomBytes(150_000))
  }
  return damaged
}

/** Deletes a part of the rows of some tables, except those of the library that is not in the backup. */
function damageRows(
  { data, after }: Sample,
  random: () => number,
  tables: readonly string[],
  share: number,
): number {
  const connection = new Connection(path.join(data, 'carrel.db'), 5000)
  connection.exec('pragma foreign_keys = off')
  let deleted = 0
  for (const table of tables) {
    const columns = connection.all('select name from pragma_table_info(?)', [table])
    const isOfLibrary = columns.some(({ name }) => name === 'library_key')
    const spared = isOfLibrary
      ? `where library_key <> (select key from library where id = '${after.library}')`
      : ''
    const ids = connection.all(`select rowid as id from "${table}" ${spared}`, [])
    for (const { id } of ids) {
      if (random() < share) deleted += connection.run(`delete from "${table}" where rowid = ?`, [Number(id)])
    }
  }
  connection.close()
  return deleted
}

async function expectFiles(
  data: string,
  files: Iterable<{ library: string; name: string; bytes: Buffer }>,
): Promise<void> {
  await using server = await startServer({ data })
  const ann = await Client.signIn(server.url, ACCOUNT.email, ACCOUNT.password)
  for (const { library, name, bytes } of files)
    assert.deepEqual(await download(ann, library, name), bytes, name)
}

function said({ code, stdout, stderr }: Outcome): string {
  return `${code}: ${stderr}${stdout.slice(-3000)}`
}

for (let round = 0; round < rounds(1, 2); round++) {
  const seed = randomInt(2 ** 31)

  it(`lost blocks and rows come back from a backup by the documented repair (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    await using folder = await temporaryFolder()
    const sample = await createSample(folder.path)
    const [repair = []] = await documented({ '/srv/carrel': sample.data, '/mnt/backup': sample.target })
    const [check = [], mend = [], again = []] = repair
    assert.ok((await damageBlocks(sample, random, 0.5)) > 0)
    assert.ok(damageRows(sample, random, REPAIRABLE, 0.3) > 0)
    const found = await carrel(check)
    assert.equal(found.code, 1, said(found))
    const mended = await carrel(mend)
    assert.equal(mended.code, 0, said(mended))
    const clean = await carrel(again)
    assert.equal(clean.code, 0, said(clean))
    await expectFiles(sample.data, [...sample.before.values(), sample.after])
  })

  it(`a server with rows of every kind deleted is restored by the documented commands (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    await using folder = await temporaryFolder()
    const sample = await createSample(folder.path)
    const restored = path.join(folder.path, 'restored')
    const places = { '/srv/carrel': sample.data, '/mnt/backup': sample.target, '/srv/replacement': restored }
    const [[check = []] = [], [verify = [], restore = [], recheck = []] = [], [start = []] = []] =
      await documented(places)
    await damageBlocks(sample, random, 0.5)
    damageRows(sample, random, ['commit_object', 'account', ...REPAIRABLE], 0.5)
    assert.notEqual((await carrel(check)).code, 0)
    for (const command of [verify, restore, recheck]) {
      const done = await carrel(command)
      assert.equal(done.code, 0, said(done))
    }
    assert.equal(start[0], 'serve')
    {
      await using serving = await serve(start.slice(1))
      assert.equal((await fetch(`${serving.url}/readyz`)).status, 200)
    }
    await expectFiles(restored, sample.before.values())
  })
}

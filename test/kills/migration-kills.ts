import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { environment, program } from '../support/command.ts'
import { seededRandom } from '../support/random.ts'

const FIXTURES = path.join(import.meta.dirname, '../fixtures/earlier-data')
/** Longest time from spawn to kill. A start with migrations takes about as long. */
const MAX_MS = 1500
const KILLS_PER_FOLDER = 3

/** Kills servers while they migrate data folders of earlier versions. Then the folder must open with all its data. */
export async function killMigrations({ count, seed }: { count: number; seed: number }): Promise<number> {
  const random = seededRandom(seed)
  const fixtures = await readdir(FIXTURES)
  let kills = 0
  while (kills < count) {
    const fixture = fixtures[Math.floor(random() * fixtures.length)] ?? assert.fail('there are no fixtures')
    const data = await unpack(path.join(FIXTURES, fixture))
    try {
      for (let again = 0; again < KILLS_PER_FOLDER && kills < count; again += 1, kills += 1) {
        await startAndKill(data, random() * MAX_MS)
      }
      await verify(data, fixture)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  }
  return kills
}

async function startAndKill(data: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [...program, 'serve'], {
    stdio: 'ignore',
    env: { ...environment, PATH: process.env['PATH'] ?? '', CARREL_DATA: data, CARREL_PORT: '0' },
  })
  const exited = once(child, 'exit')
  await delay(afterMs)
  child.kill('SIGKILL')
  await exited
}

async function verify(data: string, fixture: string): Promise<void> {
  const { library, tokens } = JSON.parse(readFileSync(path.join(data, 'manifest.json'), 'utf8'))
  await using server = await spawnServer(data, {
    CARREL_SECRET: 'a secret for the fixture',
    CARREL_SESSION_IDLE_DAYS: '0',
  })
  const client = new Client(server.url, tokens.ann)
  const listed = await client.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1 })
  assert.equal(listed.status, 200, `${fixture}: ${listed.text}`)
  const files = listed.body.dirent_list.filter((entry: { type: string }) => entry.type === 'file')
  assert.ok(files.length > 0, fixture)
  for (const { parent_dir: parent, name, size } of files) {
    const link = await client.get(`/api2/repos/${library}/file/`, {
      p: `${parent.replace(/\/$/, '')}/${name}`,
    })
    assert.equal(link.status, 200, `${fixture}: ${link.text}`)
    const bytes = await (await fetch(link.body)).arrayBuffer()
    assert.equal(bytes.byteLength, size, `${fixture}: ${name}`)
  }
  assert.equal(await server.stop(), 0)
}

async function unpack(from: string): Promise<string> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-migration-kills-'))
  cpSync(path.join(from, 'manifest.json'), path.join(data, 'manifest.json'))
  for (const file of globSync('**/*.gz', { cwd: from })) {
    const to = path.join(data, file.slice(0, -'.gz'.length))
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, gunzipSync(readFileSync(path.join(from, file))))
  }
  return data
}

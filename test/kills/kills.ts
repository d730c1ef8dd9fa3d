import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrelProcess, environment, program } from '../support/command.ts'
import { seededRandom } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { createWriters, type Writer } from './writers.ts'

// Most answers of a round before a kill, and the longest time after the last of them. Counted in answers, so that a slow machine kills
// in the same states.
const MAX_ANSWERS = 60
const MAX_DELAY_MS = 30
// Shares of the rounds in which a backup or a garbage collection runs, and is killed with the server.
const BACKUP_SHARE = 0.2
const COLLECTION_SHARE = 0.2
const GRACE = { CARREL_GC_GRACE_SECONDS: '1' }
// A fresh folder now and then, so that verifying what has gathered does not take most of the time.
const KILLS_PER_FOLDER = 100

export interface KillOptions {
  readonly count: number
  readonly seed: number
  readonly onProgress?: (counts: KillCounts) => void
}

export interface KillCounts {
  kills: number
  /** Acknowledged writes by kind. */
  readonly acknowledged: Map<string, number>
  /** Writes that were cut off, by kind. */
  readonly cutOff: Map<string, number>
  /** Backups and garbage collections that were killed, and servers that were restored from the backups. */
  backupsKilled: number
  collectionsKilled: number
  restored: number
}

/** Kills a server at random moments while clients write in every way. Throws if something acknowledged is lost. */
export async function killRepeatedly({ count, seed, onProgress }: KillOptions): Promise<KillCounts> {
  const random = seededRandom(seed)
  const counts: KillCounts = {
    kills: 0,
    acknowledged: new Map(),
    cutOff: new Map(),
    backupsKilled: 0,
    collectionsKilled: 0,
    restored: 0,
  }
  while (counts.kills < count) {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-kills-'))
    try {
      const kills = Math.min(KILLS_PER_FOLDER, count - counts.kills)
      await killOneFolder(folder, kills, random, counts, onProgress)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return counts
}

async function killOneFolder(
  folder: string,
  count: number,
  random: () => number,
  counts: KillCounts,
  onProgress?: (counts: KillCounts) => void,
): Promise<void> {
  const [data, target] = [path.join(folder, 'data'), path.join(folder, 'backup')]
  let writers: readonly Writer[] | undefined
  for (let kills = 0; kills <= count; kills += 1) {
    await using server = await spawnServer(data, GRACE)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    writers ??= await createWriters(client, random)
    for (const writer of writers) await writer.verify(client)
    assert.deepEqual(await readdir(path.join(data, 'blocks', 'tmp')), [], 'blocks that were never kept')
    if (kills === count) {
      assert.equal(await server.stop(), 0)
      break
    }
    const choice = random()
    const backup = choice < BACKUP_SHARE ? startCommand(['backup', target, '--data', data]) : undefined
    const isCollecting = choice > 1 - COLLECTION_SHARE
    const collection = isCollecting ? startCommand(['gc', '--data', data]) : undefined
    // A command takes longer to start than most rounds last.
    const most = backup === undefined && collection === undefined ? MAX_ANSWERS : 3 * MAX_ANSWERS
    const moment = { answers: Math.floor(random() ** 2 * most), thenMs: random() * MAX_DELAY_MS }
    await writeUntilKilled(server, client, writers, moment, counts)
    counts.kills += 1
    if (await backup?.kill()) counts.backupsKilled += 1
    if (await collection?.kill()) counts.collectionsKilled += 1
    onProgress?.(counts)
  }
  await verifyRestored(folder, writers ?? [])
  counts.restored += 1
}

/** A command of the operator beside the running server. */
function startCommand(args: readonly string[]) {
  const child = spawn(process.execPath, [...program, ...args], {
    stdio: 'ignore',
    env: { ...environment, PATH: process.env['PATH'] ?? '', ...GRACE },
  })
  const exited = once(child, 'exit')
  return {
    /** False if it was already complete. */
    async kill(): Promise<boolean> {
      const isRunning = child.exitCode === null && child.kill('SIGKILL')
      await exited
      return isRunning
    },
  }
}

/** Killed backups leave a target that the next one completes. A server restored from it has everything acknowledged. */
async function verifyRestored(folder: string, writers: readonly Writer[]): Promise<void> {
  const [data, target, restored] = ['data', 'backup', 'restored'].map((name) => path.join(folder, name))
  for (const args of [
    ['backup', target, '--data', data],
    ['backup', 'verify', target, '--read-data'],
    ['restore', target, '--data', restored],
  ]) {
    const { code, stderr, stdout } = await carrelProcess(args.map(String))
    assert.equal(code, 0, `carrel ${args.join(' ')}: ${stdout}${stderr}`)
  }
  await using server = await spawnServer(String(restored))
  const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
  for (const writer of writers) await writer.verify(client, { isRestored: true })
}

async function writeUntilKilled(
  server: ChildServer,
  client: Client,
  writers: readonly Writer[],
  { answers, thenMs }: { answers: number; thenMs: number },
  { acknowledged, cutOff }: KillCounts,
): Promise<void> {
  const killed = new AbortController()
  let left = answers
  const enough = Promise.withResolvers<void>()
  if (left === 0) enough.resolve()
  const writing = writers.map(async (writer) => {
    while (!killed.signal.aborted) {
      try {
        await writer.write(client)
      } catch (error) {
        // A broken connection is what a kill looks like. Any other failure is the server's.
        if (!killed.signal.aborted || error instanceof assert.AssertionError) throw error
        add(cutOff, writer.kind)
        return
      }
      add(acknowledged, writer.kind)
      if (--left === 0) enough.resolve()
    }
  })
  const killing = async () => {
    await enough.promise
    await delay(thenMs)
    killed.abort()
    await server.kill()
  }
  await Promise.all([killing(), ...writing])
}

function add(to: Map<string, number>, kind: string): void {
  to.set(kind, (to.get(kind) ?? 0) + 1)
}

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnServer } from '../support/child-server.ts'
import { prepareLibraries, runMixedLoad } from './mixed-load.ts'

const MB = 1_000_000
/** What the program has loaded and compiled by then, and the threads that stay. Most of the rest would be kept by malloc. */
const MOST_GROWTH = 130 * MB
/** The server releases memory once it has been idle for a minute. What the indexes have left to do comes before. */
const DEADLINE_MS = 8 * 60_000

it('a server at rest returns the memory that a load took', { timeout: 20 * 60_000 }, async (t) => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-rest-'))
  try {
    const prepared = await prepareLibraries(data)
    await using server = await spawnServer(data)
    const memory = () => anonymousBytes(server.process.pid)
    const before = await memory()
    await runMixedLoad(server.url, prepared)
    const loaded = await memory()
    const deadline = performance.now() + DEADLINE_MS
    let atRest = loaded
    while (atRest - before > MOST_GROWTH && performance.now() < deadline) {
      await delay(1000)
      atRest = await memory()
    }
    const text = [before, loaded, atRest].map((bytes) => Math.round(bytes / MB)).join(', ')
    t.diagnostic(`MB before the load, after it, and at rest: ${text}`)
    assert.ok(loaded - before > 2 * MOST_GROWTH, `the load takes too little to test anything: ${text}`)
    assert.ok(atRest - before <= MOST_GROWTH, text)
    assert.equal(await server.stop(), 0)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/** Resident memory that is not backed by files. Linux only. */
async function anonymousBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return Number(kib ?? assert.fail('the kernel shows no memory')) * 1024
}

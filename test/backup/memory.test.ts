import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import type { Levels } from './memory.fixture.ts'
import { temporaryFolder } from './support.ts'

const FEW = 1000
const MANY = 13_000
/** A Set or Map of ids takes more than 80. */
const MAX_BYTES_PER_FILE = 30
/** Without the second, code that has not run for some collections would be dropped while others are measured. */
const FLAGS = ['--expose-gc', '--no-flush-bytecode']

it('backup, verify and restore keep nothing in memory for each file', async (t) => {
  await using folder = await temporaryFolder()
  const fixture = path.join(import.meta.dirname, 'memory.fixture.ts')
  // The first two compile the code and fill the caches.
  const sizes = [2 * FEW, FEW, FEW, MANY].map(String)
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, fixture, folder.path, ...sizes])
  const levels = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Levels)
  const [few, many] = levels.slice(-2) as [Levels, Levels]
  const perFile = Object.entries(many).map(([work, bytes]) => [
    work,
    (bytes - few[work as keyof Levels]) / (MANY - FEW),
  ])
  const found = `bytes per file ${JSON.stringify(perFile)}; growth by the number of files ${JSON.stringify(levels)}`
  t.diagnostic(found)
  assert.ok(
    perFile.every(([, bytes]) => Number(bytes) < MAX_BYTES_PER_FILE),
    found,
  )
})

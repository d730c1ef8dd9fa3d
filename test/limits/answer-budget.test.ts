import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { Report } from './budget/run.ts'

const PROGRAM = path.join(import.meta.dirname, 'budget/run.ts')

describe('every route, with its largest body and the largest stored state', () => {
  it('answers within its budget, and yields to the event loop', async (t) => {
    // As in production: without the checks of cached rows and buffers, which take time of each turn.
    const env = {
      ...process.env,
      CARREL_TEST_FREEZE_ROWS: '',
      CARREL_TEST_POISON: '',
      NODE_TEST_CONTEXT: undefined,
    }
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], {
      env,
      maxBuffer: 2 ** 24,
      signal: t.signal,
    })
    const { routes, calls, longestTurns, surprises } = JSON.parse(stdout) as Report
    t.diagnostic(`${calls} calls of ${routes} routes; the longest turns: ${longestTurns}`)
    assert.ok(surprises.length === 0, surprises.join('\n'))
  })
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { ADMIN, startServer } from '../support/server.ts'

const program = findProgram('litmus')

/** Runs suites of litmus against a new library, and returns its report. */
async function litmus(suites: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-litmus-'))
  await using server = await startServer()
  try {
    const admin = await server.admin()
    await admin.createLibrary('Litmus')
    const args = ['-k', `${server.url}/dav/Litmus/`, ADMIN.email, ADMIN.password]
    const env = { ...process.env, TESTS: suites }
    const run = promisify(execFile)(program ?? '', args, { cwd: folder, env, maxBuffer: 2 ** 24 })
    // It fails with a failed test, whose line says more than the status.
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

it('passes litmus completely: basic, copymove, props, locks, http', { timeout: 120_000 }, async (t) => {
  if (program === undefined) return t.skip('litmus is not installed')
  const report = await litmus('basic copymove props locks http')
  assert.equal(
    report.match(/^<- summary for .*: of \d+ tests run: \d+ passed, 0 failed\. 100\.0%$/gm)?.length,
    5,
    report,
  )
  assert.doesNotMatch(report, /FAIL|WARNING|SKIPPED/, report)
  return undefined
})

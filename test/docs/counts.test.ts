import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { endings } from '../api/matrix/endings.ts'
import { viewEndings } from '../api/matrix/view-revocation.ts'
import { SAFEGUARDS } from '../mutation/safeguards.ts'
import { SECURITY_SAFEGUARDS } from '../mutation/security-safeguards.ts'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

describe('docs/security.md', () => {
  it('has the counts of the code', () => {
    const page = read('docs/security.md')
    const fuzzers = globSync('test/fuzz/*.test.ts', { cwd: root })
      .map((file) => read(file).match(/await fuzz\(/g)?.length ?? 0)
      .reduce((sum, count) => sum + count, 0)
    const wanted = [
      `${endings.length} ways to end one, and ${viewEndings.length} for shared folders and files`,
      `ends the permission in ${endings.length} ways`,
      `${fuzzers} fuzz targets`,
      `${SECURITY_SAFEGUARDS.length} of all ${SAFEGUARDS.length} safeguards`,
    ]
    assert.deepEqual(
      wanted.filter((text) => !page.includes(text)),
      [],
    )
  })
})

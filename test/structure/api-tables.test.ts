import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { callsTable, PERMISSIONS_FILE, permissionsPage, withCalls } from '../../bin/api-tables.ts'
import { COMPATIBILITY_FILE } from '../../bin/compatibility.ts'
import { type DescribedCall, describedCalls } from '../../bin/described-calls.ts'
import { compatibleCalls } from '../../bin/openapi.ts'
import { table } from '../api/matrix/table.ts'

const call: DescribedCall = {
  method: 'GET',
  path: '/api2/repos/',
  summary: 'Lists libraries.',
  credential: 'user',
  scope: 'none',
  limit: 'user',
  bodyLimit: undefined,
  compatibility: { result: 'supported' },
}

describe('the tables of the API', () => {
  it('have the permissions of the role matrix', async () => {
    const page = permissionsPage(await describedCalls(), table)
    assert.equal(await readFile(PERMISSIONS_FILE, 'utf8'), page, 'run node bin/api-tables.ts --write')
  })

  it('compare each call of the web API with the original server once', async () => {
    const page = await readFile(COMPATIBILITY_FILE, 'utf8')
    const calls = callsTable(await describedCalls(), await compatibleCalls())
    assert.equal(page, withCalls(page, calls), 'run node bin/api-tables.ts --write')
  })

  it('cannot be made of a call that the role matrix does not try', () => {
    assert.throws(() => permissionsPage([call], {}), /lacks GET \/api2\/repos\/$/)
  })

  const contradictions: [what: string, calls: DescribedCall[], known: Parameters<typeof callsTable>[1]][] = [
    ['without a result', [{ ...call, compatibility: undefined }], {}],
    ['that is listed as omitted', [{ ...call, compatibility: { result: 'omitted' } }], {}],
    ['that is listed, but not served', [], { 'GET /api2/repos/': { result: 'supported' } }],
    ['that is omitted without a reason', [], { 'GET /api2/repos/': { result: 'omitted' } }],
  ]
  for (const [what, calls, known] of contradictions) {
    it(`cannot be made of a call ${what}`, () => {
      assert.throws(() => callsTable(calls, known), /GET \/api2\/repos\//)
    })
  }
})

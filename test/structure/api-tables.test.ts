import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callsTable, permissionsPage } from '../../bin/api-tables.ts'
import type { DescribedCall } from '../../bin/described-calls.ts'

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
  it('cannot be made of a call that the role matrix does not try', () => {
    assert.throws(() => permissionsPage([call], {}), /lacks GET \/api2\/repos\/$/)
  })

  const contradictions: [what: string, calls: DescribedCall[], known: Parameters<typeof callsTable>[1]][] = [
    ['without a result', [{ ...call, compatibility: undefined }], {}],
    ['that is listed as omitted', [call], { 'GET /api2/repos/': 'Not needed.' }],
    ['that is omitted without a reason', [], { 'GET /api2/repos/': '' }],
  ]
  for (const [what, calls, known] of contradictions) {
    it(`cannot be made of a call ${what}`, () => {
      assert.throws(() => callsTable(calls, known), /GET \/api2\/repos\//)
    })
  }
})

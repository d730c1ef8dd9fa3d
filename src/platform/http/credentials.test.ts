import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../responses/refusal.ts'
import { readApiToken } from './credentials.ts'

const missing = 'Authentication credentials were not provided.'
const empty = 'Invalid token header. No credentials provided.'
const spaces = 'Invalid token header. Token string should not contain spaces.'

describe('an Authorization header', () => {
  for (const header of [
    'Token abc',
    'token abc',
    'TOKEN abc',
    'Bearer abc',
    'bearer  abc',
    ' Token abc ',
    'Token\tabc',
  ]) {
    it(`gives the token of ${JSON.stringify(header)}`, () => assert.equal(readApiToken(header), 'abc'))
  }

  const refused: [header: string | undefined, status: number, detail: string][] = [
    [undefined, 403, missing],
    ['', 403, missing],
    ['abc', 403, missing],
    ['Basic abc', 403, missing],
    ['Tokenabc', 403, missing],
    ['Token', 401, empty],
    ['Bearer ', 401, empty],
    ['Token a b', 401, spaces],
    ['Bearer a b c', 401, spaces],
  ]
  for (const [header, status, detail] of refused) {
    it(`is refused with ${status} as ${JSON.stringify(header)}`, () => {
      assert.throws(
        () => readApiToken(header),
        (error) => {
          assert(error instanceof Refusal)
          assert.deepEqual([error.status, error.body], [status, { detail }])
          return true
        },
      )
    })
  }
})

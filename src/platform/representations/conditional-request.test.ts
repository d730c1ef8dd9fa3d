import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, it } from 'node:test'
import { httpDate } from '../http/http-date.ts'
import { judge, rangeApplies, type Validators, type Verdict } from './conditional-request.ts'

const TIME = 784_111_777
const source: Validators = { etag: 'abc', lastModified: TIME }
const before = httpDate(TIME - 1)
const then = httpDate(TIME)
const after = httpDate(TIME + 1)

describe('the conditions of a request', () => {
  const cases: [headers: IncomingHttpHeaders, verdict: Verdict, source?: Validators][] = [
    [{}, 'proceed'],
    [{ 'if-none-match': '"abc"' }, 'not-modified'],
    [{ 'if-none-match': 'abc' }, 'not-modified'],
    [{ 'if-none-match': 'W/"abc"' }, 'not-modified'],
    [{ 'if-none-match': '"x", "abc"' }, 'not-modified'],
    [{ 'if-none-match': '"x",W/"abc"' }, 'not-modified'],
    [{ 'if-none-match': 'x, abc' }, 'not-modified'],
    [{ 'if-none-match': '*' }, 'not-modified'],
    [{ 'if-none-match': '"x"' }, 'proceed'],
    [{ 'if-none-match': '"ab"' }, 'proceed'],
    [{ 'if-none-match': '"x, abc"' }, 'proceed'],
    [{ 'if-none-match': '' }, 'proceed'],
    [{ 'if-none-match': '"abc"' }, 'proceed', {}],
    [{ 'if-none-match': '"x"', 'if-modified-since': after }, 'proceed'],
    [{ 'if-modified-since': then }, 'not-modified'],
    [{ 'if-modified-since': after }, 'not-modified'],
    [{ 'if-modified-since': before }, 'proceed'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed'],
    [{ 'if-modified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, 'not-modified'],
    [{ 'if-modified-since': 'Sun Nov  6 08:49:37 1994' }, 'not-modified'],
    [{ 'if-modified-since': then }, 'proceed', { etag: 'abc' }],
    [{ 'if-match': '"abc"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': 'W/"abc"' }, 'precondition-failed'],
    [{ 'if-match': '"x"' }, 'precondition-failed'],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"' }, 'not-modified'],
    [{ 'if-unmodified-since': before }, 'precondition-failed'],
    [{ 'if-unmodified-since': then }, 'proceed'],
    [{ 'if-unmodified-since': 'yesterday' }, 'proceed'],
    [{ 'if-match': '"abc"', 'if-unmodified-since': before }, 'proceed'],
  ]
  for (const [headers, verdict, about = source] of cases) {
    it(`${JSON.stringify(headers)} come to ${verdict}`, () => assert.equal(judge(headers, about), verdict))
  }
})

describe('If-Range', () => {
  const cases: [header: string | undefined, applies: boolean][] = [
    [undefined, true],
    ['"abc"', true],
    ['abc', true],
    ['W/"abc"', false],
    ['"x"', false],
    [then, true],
    [before, false],
    [after, false],
    ['', false],
  ]
  for (const [header, applies] of cases) {
    it(`${header} ${applies ? 'lets a range be' : 'asks for everything'}`, () => {
      assert.equal(rangeApplies(header === undefined ? {} : { 'if-range': header }, source), applies)
    })
  }
})

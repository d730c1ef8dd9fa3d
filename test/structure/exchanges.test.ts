import assert from 'node:assert/strict'
import { it } from 'node:test'
import { differencesOf, type ObservedExchange } from '../support/exchanges.ts'

const limit: ObservedExchange = {
  method: 'PUT',
  url: new URL('http://localhost/api2/repos/00000000-0000-4000-8000-000000000000/history-limit/'),
  body: { keep_days: 7 },
  status: 200,
  contentType: 'application/json',
  text: '{"keep_days": 7}',
}

/** Has a media type for each file. */
const download: Partial<ObservedExchange> = {
  method: 'GET',
  url: new URL('http://localhost/seafhttp/files/ticket/a.png'),
  body: undefined,
  text: undefined,
}

/** Has an error of its own. */
const changes: Partial<ObservedExchange> = {
  method: 'GET',
  url: new URL('http://localhost/api2/repo_history_changes/00000000-0000-4000-8000-000000000000/'),
  body: undefined,
  status: 400,
}

const differences: [what: string, change: Partial<ObservedExchange>, difference: RegExp | undefined][] = [
  ['nothing about an exchange as described', {}, undefined],
  ['an undescribed field by name', { text: '{"keep_days": 7, "keep_hours": 1}' }, /keep_hours/],
  ['a missing field by name', { text: '{}' }, /keep_days/],
  ['a field of another type by name', { text: '{"keep_days": "7"}' }, /keep_days/],
  ['an undescribed status', { status: 418 }, /418: the status is not described/],
  ['another media type', { contentType: 'text/html', text: '<p>' }, /the type text\/html is not described/],
  ['a missing field of a request', { body: {} }, /the body lacks keep_days/],
  [
    'nothing about a malformed request that was rejected',
    { body: {}, status: 400, text: '{"error_msg": "x"}' },
    undefined,
  ],
  ['an error of another form', { status: 400, text: '{"error": "x"}' }, /error/],
  ['nothing about any type of a file', { ...download, contentType: 'image/png' }, undefined],
  ['nothing about an error of a form of its own', { ...changes, text: '{"err": "x"}' }, undefined],
  ['nothing about a usual error beside it', { ...changes, text: '{"error_msg": "x"}' }, undefined],
  ['a third form of an error', { ...changes, text: '{"error": "x"}' }, /error/],
]
for (const [what, change, difference] of differences) {
  it(`reports ${what}`, async () => {
    const found = await differencesOf({ ...limit, ...change })
    if (difference === undefined) assert.deepEqual(found, [])
    else assert.match(found.join('\n'), difference)
  })
}

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RequestWaits } from '../request-waits.ts'
import { rowKey } from '../row-key.ts'
import { RequestScopes } from './request-scope.ts'
import { Statement } from './statements.ts'

const statement = new Statement('select * from item where id = ?')
const query = { sql: statement.text, tables: ['item'] }
const readOf = (id: number) => ({ statement, values: [id], query, key: rowKey([id]) })

/** Handles a request that reads some rows, and returns the ids that are prefetched with its first read. */
function request(scopes: RequestScopes, key: string, ids: readonly number[]): unknown[] {
  const prefetched = scopes.run(() => ids.map((id) => scopes.noteRead(readOf(id))), key)
  assert.deepEqual(prefetched.slice(1).flat(), [])
  return (prefetched[0] ?? []).flatMap(({ values }) => values)
}

describe('requests that are alike', () => {
  it('prefetch what the last two have both read, and no row that only the last one has read', () => {
    const scopes = new RequestScopes(new RequestWaits())
    assert.deepEqual(request(scopes, 'upload', [1, 2, 100]), [])
    assert.deepEqual(request(scopes, 'upload', [1, 2, 101]), [])
    assert.deepEqual(request(scopes, 'upload', [1, 2, 102]), [1, 2])
    assert.deepEqual(request(scopes, 'upload', [1, 3, 102]), [1, 2])
    assert.deepEqual(request(scopes, 'upload', [1, 3]), [1, 102])
    assert.deepEqual(request(scopes, 'listing', [1, 3]), [])
  })
})

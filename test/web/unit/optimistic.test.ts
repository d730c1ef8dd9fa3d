import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { patchQuery } from '../../../web/src/api/optimistic.ts'

const queryKey = ['switches']

describe('an optimistic update', () => {
  it('is not overwritten by a fetch that was in flight', async () => {
    const queries = new QueryClient()
    queries.setQueryData(queryKey, ['off'])
    const response = Promise.withResolvers<string[]>()
    const observer = new QueryObserver<string[]>(queries, { queryKey, queryFn: () => response.promise })
    const stop = observer.subscribe(() => {})
    const fetched = observer.refetch()
    patchQuery<string[]>(queries, queryKey, () => ['on'])
    assert.deepEqual(queries.getQueryData(queryKey), ['on'])
    response.resolve(['off'])
    await fetched
    assert.deepEqual(queries.getQueryData(queryKey), ['on'])
    stop()
  })

  it('leaves a first fetch alone', async () => {
    const queries = new QueryClient()
    const response = Promise.withResolvers<string[]>()
    const fetched = queries.fetchQuery({ queryKey, queryFn: () => response.promise })
    patchQuery<string[]>(queries, queryKey, () => ['on'])
    response.resolve(['off'])
    assert.deepEqual(await fetched, ['off'])
  })
})
